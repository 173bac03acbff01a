import { useMemo, useRef } from "preact/hooks";
import { useWidth } from "../state/width.ts";
import { count } from "../text/format.ts";
import type { Brush, Brushes, ParameterAxis } from "../text/parameter_axis.ts";
import type { Trial } from "../text/trials.ts";
import { BrushAxis } from "./BrushAxis.tsx";
import "./ParallelAxes.css";

interface Props {
  readonly axes: readonly ParameterAxis[];
  readonly trials: readonly Trial[];
  /** Those within the brushes. */
  readonly shown: ReadonlySet<string>;
  readonly best: string | undefined;
  readonly brushes: Brushes;
  readonly onBrush: (key: string, brush: Brush | null) => void;
  readonly onOpen: (trial: string) => void;
}

const HEIGHT = 260;
const EDGE = 46;
/** Axes are not nearer to each other: where there is no room they scroll. */
const AXIS_PX = 44;

/** Each trial as a line across its parameters to its result. Parts of axes can be chosen, by pointer or keys. */
export function ParallelAxes({ axes, trials, shown, best, brushes, onBrush, onOpen }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const width = Math.max(useWidth(element), 2 * EDGE + AXIS_PX * (axes.length - 1));
  const left = (at: number) => EDGE + (axes.length < 2 ? 0 : (at * (width - 2 * EDGE)) / (axes.length - 1));
  const lines = useMemo(
    () => trials.map((trial) => ({ id: trial.id, path: pathOf(trial, axes, left), good: axes.at(-1)?.of(trial) })),
    [trials, axes, width],
  );
  const ordered = useMemo(() => lines.toSorted((one, other) => rank(one.id) - rank(other.id)), [lines, shown, best]);
  function rank(id: string): number {
    return id === best ? 2 : shown.has(id) ? 1 : 0;
  }
  return (
    <div class="parallel-scroll" ref={element}>
      <div class="parallel" role="group" aria-label="Parameters and results of the trials, side by side"
           style={{ "--line-opacity": Math.max(0.15, Math.min(0.75, 40 / shown.size)).toFixed(2), width: `${width}px` }}>
        <svg width={width} height={HEIGHT} role="img"
             aria-label={`${count(shown.size, "trial")} of ${trials.length} within what is chosen`}>
          {ordered.map(({ id, path, good }) => (
            <path key={id} d={path} class={id === best ? "best" : shown.has(id) ? "" : "off"}
                  style={{ "--good-share": `${Math.round((good ?? 0) * 100)}%` }} onClick={() => onOpen(id)}>
              <title>{`Trial ${id}`}</title>
            </path>
          ))}
        </svg>
        {axes.map((axis, at) => (
          <BrushAxis key={axis.key} axis={axis} left={left(at)} height={HEIGHT} last={at === axes.length - 1}
                     room={(width - 2 * EDGE) / Math.max(1, axes.length - 1)}
                     brush={brushes.get(axis.key)} onBrush={(brush) => onBrush(axis.key, brush)} />
        ))}
      </div>
    </div>
  );
}

/** A line that leaves out axes where the trial is not. */
function pathOf(trial: Trial, axes: readonly ParameterAxis[], left: (at: number) => number): string {
  let path = "";
  for (const [index, axis] of axes.entries()) {
    const at = axis.of(trial);
    if (at !== undefined) path += `${path === "" ? "M" : "L"}${left(index).toFixed(1)} ${((1 - at) * HEIGHT).toFixed(1)}`;
  }
  return path;
}
