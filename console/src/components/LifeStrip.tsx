import { useNow } from "../state/now.ts";
import { duration, exact } from "../text/format.ts";
import { lifeInWords, type Phase, PHASE_WORDS } from "../text/life.ts";
import { cut, visible } from "../text/plain.ts";
import "./LifeStrip.css";

/** A phase gets its name inside if it has at least this share of the strip. */
const NAMED = 0.12;

/** A job's phases beside each other, as wide as they are long; what went wrong is a tick in them. */
export function LifeStrip({ phases }: { readonly phases: readonly Phase[] }) {
  const now = useNow();
  const lengths = phases.map(({ from, to }) => Math.max((to ?? now) - from, 1));
  const whole = lengths.reduce((sum, one) => sum + one, 0);
  const words = lifeInWords(phases, now);
  return (
    <div class="stack" style={{ gap: "4px" }}>
      <div class="life-strip" role="img" aria-label={words}>
        {phases.map(({ kind, from, to, marks }, at) => {
          const length = lengths[at] ?? 1;
          const title = `${PHASE_WORDS[kind]}, ${duration(length)}, from ${exact(from)}${to === undefined ? " on" : ""}`;
          const named = length / whole >= NAMED;
          return (
            <span
              key={`${kind}${from}`}
              class={`${kind}${to === undefined ? " open" : ""}${named ? "" : " small"}`}
              title={title}
              style={{ flex: `${length} 1 0` }}
            >
              {named && `${PHASE_WORDS[kind]} ${duration(length)}`}
              {marks.map((mark, count) => (
                <i key={count} title={visible(cut(mark.text, 300))} style={{ left: `${((mark.at - from) / length) * 100}%` }} />
              ))}
            </span>
          );
        })}
      </div>
      <p class="life-words soft">{words}</p>
    </div>
  );
}
