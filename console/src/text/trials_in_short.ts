// A tuning job's trials in short. Pure.
import type { HyperparameterOutputJson, JobJson } from "proto/ml/v1/ml_pb";

export interface TrialsInShort {
  readonly counts: readonly (readonly [state: string, trials: number])[];
  readonly ended: number;
  readonly wanted: number;
  /** undefined: none has a final metric yet. */
  readonly best: HyperparameterOutputJson | undefined;
}

const ENDED = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);
const ORDER = ["RUNNING", "PREPARING", "QUEUED", "SUCCEEDED", "FAILED", "CANCELLING", "CANCELLED"];

export function trialsInShort(job: JobJson): TrialsInShort {
  const trials = job.trainingOutput?.trials ?? [];
  const spec = job.trainingInput?.hyperparameters;
  const sign = spec?.goal === "MINIMIZE" ? -1 : 1;
  let best: HyperparameterOutputJson | undefined;
  for (const trial of trials) {
    const value = valueOf(trial);
    if (value !== undefined && (best === undefined || sign * value > sign * (valueOf(best) ?? 0))) best = trial;
  }
  const counts = ORDER.map((state) => [state, trials.filter((trial) => trial.state === state).length] as const).filter(
    ([, count]) => count > 0,
  );
  return { counts, ended: trials.filter((trial) => ENDED.has(trial.state ?? "")).length, wanted: spec?.maxTrials ?? 1, best };
}

/** Its final metric; undefined: it has none, or none that can be compared. */
export function valueOf(trial: HyperparameterOutputJson): number | undefined {
  if (trial.finalMetric === undefined) return undefined;
  const value = Number(trial.finalMetric.objectiveValue ?? 0);
  return Number.isNaN(value) ? undefined : value;
}
