import { useMemo, useRef } from "preact/hooks";
import { useWidth } from "../state/width.ts";
import type { ParameterAxis } from "../text/parameter_axis.ts";
import type { Trial } from "../text/trials.ts";
import { cut, visible } from "../text/plain.ts";
import "./TrialScatter.css";

interface Props {
  readonly x: ParameterAxis;
  readonly y: ParameterAxis;
  /** Says how strong a point's colour is. */
  readonly metric: ParameterAxis;
  readonly trials: readonly Trial[];
  readonly shown: ReadonlySet<string>;
  readonly best: string | undefined;
  readonly onOpen: (trial: string) => void;
}

const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 40;
const TOP = 12;
const RIGHT = 20;

/** Trials by two parameters, or a parameter and the metric; the better, the stronger. */
export function TrialScatter({ x, y, metric, trials, shown, best, onOpen }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const px = (at: number) => LEFT + at * (width - LEFT - RIGHT);
  const py = (at: number) => HEIGHT - BOTTOM - at * (HEIGHT - BOTTOM - TOP);
  const dots = useMemo(() => trials.flatMap((trial) => {
    const [left, up] = [x.of(trial), y.of(trial)];
    return left === undefined || up === undefined ? [] : [{ trial, left, up, good: metric.of(trial) }];
  }), [trials, x, y, metric]);
  const word = (text: string, longest = 12) => visible(cut(text, longest));
  return (
    <div class="scatter" ref={element}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="img"
             aria-label={`${dots.length} trials by ${word(x.name, 80)} and ${word(y.name, 80)}`}>
          {x.ticks.map((tick) => (
            <g key={tick.at}>
              <line x1={px(tick.at)} x2={px(tick.at)} y1={TOP} y2={HEIGHT - BOTTOM} />
              <text x={px(tick.at)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{word(tick.text)}</text>
            </g>
          ))}
          {y.ticks.map((tick) => (
            <g key={tick.at}>
              <line x1={LEFT} x2={width - RIGHT} y1={py(tick.at)} y2={py(tick.at)} />
              <text x={LEFT - 6} y={py(tick.at) + 4} text-anchor="end">{word(tick.text)}</text>
            </g>
          ))}
          <text class="name" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">{word(x.name, 60)}</text>
          {dots.map(({ trial, left, up, good }) => (
            <circle key={trial.id} cx={px(left)} cy={py(up)} r={trial.id === best ? 7 : 4.5}
                    class={`${shown.has(trial.id) ? "" : "off"} ${trial.id === best ? "best" : ""} ${good === undefined ? "none" : ""}`}
                    style={{ "--good-share": `${Math.round((good ?? 0) * 100)}%` }} onClick={() => onOpen(trial.id)}>
              <title>{`Trial ${trial.id}: ${word(x.name, 60)} ${word(x.text(left), 60)}, ${word(y.name, 60)} ${word(y.text(up), 60)}`}</title>
            </circle>
          ))}
        </svg>
      )}
    </div>
  );
}
