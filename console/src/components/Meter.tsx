import "./Meter.css";

interface Props {
  readonly label: string;
  /** 0 to 1; undefined: how much is not known, but it goes on. */
  readonly share: number | undefined;
  /** Its end is no good news: no room is left. */
  readonly scarce?: boolean;
}

/** How much of something. What it says stands beside it in words. */
export function Meter({ label, share, scarce = false }: Props) {
  if (share === undefined)
    return (
      <span class="meter unknown" role="progressbar" aria-label={label}>
        <span />
      </span>
    );
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span
      class={`meter${scarce && percent >= 90 ? " full" : ""}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}
