import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { go } from "../router.ts";
import { useKeys } from "../state/keys.ts";
import { number, shortNumbers } from "../text/format.ts";
import { cut, visible } from "../text/plain.ts";
import { trialCurves } from "../text/trial_curves.ts";
import { bestOf, outcome, type Trial, type Tuning, valueText } from "../text/trials.ts";
import { Chart } from "./Chart.tsx";
import { Link } from "./Link.tsx";
import { Empty } from "./Notices.tsx";
import { StateChip } from "./StateChip.tsx";
import { Text } from "./Text.tsx";
import { Elapsed, Time } from "./Time.tsx";

interface Props {
  readonly tuning: Tuning;
  readonly trial: string;
  /** All trials' page, and a trial's own. */
  readonly all: string;
  readonly to: (trial: string) => string;
  /** Where else to look. */
  readonly children?: ComponentChildren;
}

/** One trial: its values beside the best trial's, its curve, why it ended. Keys: j k for its neighbours. */
export function TrialView({ tuning, trial: id, all, to, children }: Props) {
  const at = tuning.trials.findIndex((trial) => trial.id === id);
  const trial = tuning.trials[at];
  const best = useMemo(() => bestOf(tuning), [tuning]);
  const step = (by: number) => {
    const next = tuning.trials[at + by];
    if (at >= 0 && next !== undefined) go(to(next.id), { replace: true });
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  if (trial === undefined) {
    return <Empty title="There is no such trial."><Link to={all}>All trials</Link></Empty>;
  }
  const [before, after] = [tuning.trials[at - 1], tuning.trials[at + 1]];
  return (
    <>
      <div class="spread">
        <div class="row">
          <h2>Trial <Text value={trial.id} longest={40} /></h2>
          <StateChip state={outcome(trial)} />
          {trial.id === best?.id && <strong>★ best</strong>}
          {trial.start && (
            <span class="soft">began <Time at={trial.start} />, took <Elapsed from={trial.start} to={trial.end} /></span>
          )}
        </div>
        <div class="row">
          {children}
          <Link to={all}>All trials</Link>
          {before && <Link to={to(before.id)}>← {before.id}</Link>}
          {after && <Link to={to(after.id)}>{after.id} →</Link>}
        </div>
      </div>
      {(trial.reason !== "" || trial.stoppedEarly) && (
        <p class="notice empty"><Text value={shortNumbers(trial.reason) || "Stopped early."} longest={2000} /></p>
      )}
      <div class="tuning-grid">
        <Reports tuning={tuning} trial={trial} best={best} />
        <section class="panel" aria-label="Values">
          <div class="head"><h2>Values</h2></div>
          <div class="body"><Values tuning={tuning} trial={trial} best={best} /></div>
        </section>
      </div>
    </>
  );
}

interface OneProps {
  readonly tuning: Tuning;
  readonly trial: Trial;
  readonly best: Trial | undefined;
}

function Reports({ tuning, trial, best }: OneProps) {
  const both = best && best.id !== trial.id ? [trial, best] : [trial];
  const curves = useMemo(
    () => trialCurves(both, "step").map((curve) =>
      (curve.key === trial.id ? { ...curve, dash: 0 } : { ...curve, name: `${curve.name} (best)`, dash: 1 })),
    [trial, best],
  );
  return (
    <section class="panel" aria-label="Reports">
      <div class="head"><h2><Text value={tuning.metric} longest={80} /></h2></div>
      <div class="body">
        {trial.points.length === 0
          ? <p class="soft">The trial has reported no measurement{trial.metric === undefined ? "" : " on its way"}.</p>
          : <Chart label={`${tuning.metric} of trial ${trial.id}`} curves={curves} x="number" height={280} />}
      </div>
    </section>
  );
}

function Values({ tuning, trial, best }: OneProps) {
  const other = best && best.id !== trial.id ? best : undefined;
  const names = [...new Set([...tuning.parameters.map((parameter) => parameter.name), ...Object.keys(trial.values)])];
  const shown = (value: number | undefined) => (value === undefined ? "–" : number(value));
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th><th scope="col">Trial {trial.id}</th>
          {other && <th scope="col">Best: trial {other.id}</th>}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row"><Text value={tuning.metric} longest={60} /></th>
          <td><strong>{shown(trial.metric)}</strong></td>
          {other && <td>{shown(other.metric)}</td>}
        </tr>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row"><Text value={name} longest={60} /></th>
            <td title={visible(cut(trial.values[name] ?? "", 200))}>
              <Text value={valueText(trial.values[name])} longest={200} />
            </td>
            {other && <td><Text value={valueText(other.values[name])} longest={200} /></td>}
          </tr>
        ))}
        {trial.step !== undefined && (
          <tr><th scope="row">step</th><td>{number(trial.step)}</td>{other && <td>{shown(other.step)}</td>}</tr>
        )}
      </tbody>
    </table>
  );
}
