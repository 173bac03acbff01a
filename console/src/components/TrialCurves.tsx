import { useMemo } from "preact/hooks";
import { setQuery, usePlace } from "../router.ts";
import { cut } from "../text/plain.ts";
import { type TrialAxis, trialCurves } from "../text/trial_curves.ts";
import type { Trial } from "../text/trials.ts";
import { Chart } from "./Chart.tsx";

interface Props {
  readonly trials: readonly Trial[];
  readonly metric: string;
}

/** More lines than this have no legend: the table of trials is one. */
const LEGEND_MAX = 60;

/** What each trial reported on its way. */
export function TrialCurves({ trials, metric }: Props) {
  const axis: TrialAxis = usePlace().query.get("x") === "time" ? "time" : "step";
  const curves = useMemo(() => trialCurves(trials, axis), [trials, axis]);
  return (
    <section class="panel" aria-label="Curves of the trials">
      <div class="head spread">
        <h2>Curves of the trials</h2>
        <label class="soft">
          along{" "}
          <select class="field" value={axis}
                  onChange={(event) => setQuery({ x: event.currentTarget.value === "time" ? "time" : null })}>
            <option value="step">step</option>
            <option value="time">time</option>
          </select>
        </label>
      </div>
      <div class="body">
        {curves.length === 0
          ? <p class="soft">No trial has reported a measurement yet.</p>
          : <Chart label={`${cut(metric, 80)} of each trial`} curves={curves} height={300}
                   x={axis === "step" ? "number" : "seconds"} legend={curves.length <= LEGEND_MAX} />}
      </div>
    </section>
  );
}
