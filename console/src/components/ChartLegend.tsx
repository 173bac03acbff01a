import { useMemo, useRef } from "preact/hooks";
import { type ChartView, type Curve, indexAt, summary } from "../text/chart_view.ts";
import { DASHES } from "../text/looks.ts";
import { Text } from "./Text.tsx";

interface Props {
  readonly view: ChartView;
  /** All curves, also those that are hidden. */
  readonly curves: readonly Curve[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
  /** Where the cursor is; null: nowhere, last values are shown. */
  readonly x: number | null;
  readonly highlighted: string | null;
  readonly onHighlight: (key: string | null) => void;
}

/** Which line is what, its value at the cursor, and a click that hides it. */
export function ChartLegend({ view, curves, hidden, onToggle, x, highlighted, onHighlight }: Props) {
  const last = useMemo(() => new Map(curves.map((curve) => [curve.key, summary(view, curve).last])), [curves, view.format]);
  const value = (curve: Curve) => {
    if (x === null) return last.get(curve.key) ?? "";
    const at = indexAt(curve, x);
    return at < 0 ? "–" : view.format(curve.ys[at] ?? Number.NaN);
  };
  return (
    <ul class={`legend${curves.length > 8 ? " many" : ""}`} aria-label="Curves"
        {...(curves.length > 8 ? { tabIndex: 0 } : {})}>
      {curves.map((curve) => {
        const off = hidden.has(curve.key);
        return (
          <Row key={curve.key} curve={curve} off={off} value={off ? "hidden" : value(curve)} marked={curve.key === highlighted}
               onToggle={onToggle} onHighlight={onHighlight} />
        );
      })}
    </ul>
  );
}

interface RowProps {
  readonly curve: Curve;
  readonly off: boolean;
  readonly value: string;
  readonly marked: boolean;
  readonly onToggle: (key: string) => void;
  readonly onHighlight: (key: string | null) => void;
}

/** Made anew only where something of it has changed. */
function Row({ curve, off, value, marked, ...rest }: RowProps) {
  const act = useRef(rest);
  act.current = rest;
  return useMemo(() => (
    <li>
      <button type="button" class={marked ? "highlighted" : ""} aria-pressed={!off}
              title={off ? "Show this curve" : "Hide this curve"} onClick={() => act.current.onToggle(curve.key)}
              onMouseEnter={() => act.current.onHighlight(curve.key)} onMouseLeave={() => act.current.onHighlight(null)}
              onFocus={() => act.current.onHighlight(curve.key)} onBlur={() => act.current.onHighlight(null)}>
        <Swatch curve={curve} />
        <Text value={curve.name} longest={80} class="name" />
        <span class="value">{value}</span>
      </button>
    </li>
  ), [curve, off, value, marked]);
}

function Swatch({ curve }: { readonly curve: Curve }) {
  return (
    <svg width="32" height="10" aria-hidden="true" style={{ color: `var(--line-${curve.color})` }}>
      {curve.kind === "points"
        ? <circle cx="16" cy="5" r="3.5" fill="currentColor" />
        : <line x1="0" y1="5" x2="32" y2="5" stroke="currentColor" stroke-width="2.5"
                stroke-dasharray={DASHES[curve.dash ?? 0]?.join(" ")} />}
    </svg>
  );
}
