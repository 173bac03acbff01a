import type { ScalarList_ItemJson } from "proto/control/v1/curves_pb";
import { useMemo, useRef } from "preact/hooks";
import type { CurveChoices } from "../state/curve_choices.ts";
import { type CurvePoints, useCurves } from "../state/curves.ts";
import { useInView } from "../state/in_view.ts";
import type { Curve } from "../text/chart_view.ts";
import { nameKey, NO_COLUMNS, xsOf } from "../text/curves.ts";
import type { Look } from "../text/looks.ts";
import { smooth } from "../text/smoothing.ts";
import { runLabel } from "../text/tags.ts";
import { Chart } from "./Chart.tsx";
import { Failure } from "./Notices.tsx";
import { Text } from "./Text.tsx";

interface Props {
  readonly project: string;
  readonly tag: string;
  /** One for each run. */
  readonly items: readonly ScalarList_ItemJson[];
  /** How many jobs are on the page: names of runs have the job's name if there are more than one. */
  readonly jobs: number;
  readonly choices: CurveChoices;
}

/** Lines behind smoothed ones: not where there are many. */
const RAW_MAX = 12;

/** One tag of some runs. Its points are fetched when it comes into view. */
export function TagChart({ project, tag, items, jobs, choices }: Props) {
  const element = useRef<HTMLElement>(null);
  const inView = useInView(element);
  const points = useCurves(project, items, choices.x, choices.range, inView);
  const curves = useMemo(
    () => curvesOf(items, points, jobs, choices),
    [items, points.columns, points.starts, jobs, choices.x, choices.smooth, choices.looks],
  );
  return (
    <section class="panel tag" ref={element}>
      <div class="head spread">
        <h3><Text value={tag} longest={120} /></h3>
        <span class="soft">
          {points.thinned && <span title={THINNED}>thinned</span>}
          {points.loading && points.columns.size === 0 && "loading…"}
        </span>
      </div>
      <div class="body">
        {points.error && <Failure error={points.error} />}
        <Chart label={tag} curves={curves} x={CHART_X[choices.x]}
               logX={choices.logX && choices.x !== "wall"} logY={choices.logY} range={choices.range} onRange={choices.onRange}
               hidden={choices.hidden} onToggle={choices.onToggle} sync={`curves ${choices.x}`} />
      </div>
    </section>
  );
}

const THINNED = "Each curve keeps its extremes. Drag across the chart: what you zoom to is fetched in detail.";
const CHART_X = { step: "number", time: "seconds", wall: "time" } as const;
const PLAIN: Look = { color: 0, dash: 0 };

function curvesOf(items: readonly ScalarList_ItemJson[], { columns, starts }: CurvePoints, jobs: number,
                  { x, smooth: weight, looks }: CurveChoices): Curve[] {
  return items.map(({ name = {} }) => {
    const own = columns.get(nameKey(name)) ?? NO_COLUMNS;
    const key = runLabel(name, jobs);
    const xs = xsOf(own, x, starts.get(nameKey(name)));
    const common = { key, name: key, ...(looks.get(key) ?? PLAIN), xs };
    if (weight <= 0) return { ...common, ys: own.values };
    return { ...common, ys: smooth(own.values, weight), ...(items.length <= RAW_MAX ? { raw: own.values } : {}) };
  });
}
