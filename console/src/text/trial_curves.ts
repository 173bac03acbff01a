// Trials' reports as curves. Pure.
import type { Curve } from "./chart_view.ts";
import { trialLook } from "./looks.ts";
import type { Trial } from "./trials.ts";

export type TrialAxis = "step" | "time";

/** Of more lines dashes say nothing, and take long to draw. */
const DASHED_MAX = 60;

/** A curve for each trial that reported something. `time` counts seconds from its first report. */
export function trialCurves(trials: readonly Trial[], axis: TrialAxis): Curve[] {
  const reported = trials.filter((trial) => trial.points.length > 0);
  return reported.map((trial) => {
    const start = trial.points[0]?.at ?? 0;
    const xs = trial.points.map((point) => (axis === "step" ? point.step : (point.at ?? start) - start));
    const { color, dash } = trialLook(trial.id);
    const ys = trial.points.map((point) => point.value);
    return { key: trial.id, name: `trial ${trial.id}`, color, dash: reported.length <= DASHED_MAX ? dash : 0, xs, ys };
  });
}
