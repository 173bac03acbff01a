// Where trials come from: the ml API's jobs, and its studies. Pure.
import type { JobStatusJson } from "proto/control/v1/status_pb";
import type { TuningInsightJson } from "proto/control/v1/tuning_insight_pb";
import type { HyperparameterOutputJson, JobJson, ParameterSpecJson } from "proto/ml/v1/ml_pb";
import type { StudyConfig_ParameterSpecJson, StudyJson, TrialJson } from "proto/ml/v1/study_pb";
import { num, time } from "./format.ts";
import type { Parameter, Trial, TrialPoint, Tuning } from "./trials.ts";

const byId = (one: Trial, other: Trial) => Number(one.id) - Number(other.id);

const SCALES: Readonly<Record<string, Parameter["scale"]>> = { UNIT_LOG_SCALE: "log", UNIT_REVERSE_LOG_SCALE: "reverseLog" };

/** The trials of a tuning job: what the ml API has, and what this server knows beyond it. */
export function tuningOfJob(job: JobJson, status: JobStatusJson | undefined, insight: TuningInsightJson | undefined): Tuning {
  const spec = job.trainingInput?.hyperparameters;
  const known = new Map((status?.trials ?? []).map((trial) => [trial.output?.trialId ?? "", trial]));
  const stopped = new Map((insight?.stopped ?? []).map(({ trialId, reason }) => [trialId ?? "", reason ?? ""]));
  const outputs = job.trainingOutput?.trials ?? [];
  const all = new Map<string, HyperparameterOutputJson>();
  for (const { output } of known.values()) if (output) all.set(output.trialId ?? "", output);
  for (const output of outputs) all.set(output.trialId ?? "", { ...all.get(output.trialId ?? ""), ...output });
  const trials = [...all.values()].map((output): Trial => {
    const id = output.trialId ?? "";
    const own = known.get(id);
    return {
      id,
      state: output.state ?? "QUEUED",
      values: output.hyperparameters ?? {},
      metric: output.finalMetric === undefined ? undefined : Number(output.finalMetric.objectiveValue ?? 0),
      step: output.finalMetric === undefined ? undefined : num(output.finalMetric.trainingStep),
      start: output.startTime,
      end: output.endTime,
      stoppedEarly: output.isTrialStoppedEarly ?? false,
      reason: own?.reason || stopped.get(id) || "",
      points: pointsOf(own?.report as ReportJson | undefined),
    };
  });
  return {
    metric: spec?.hyperparameterMetricTag || job.trainingOutput?.hyperparameterMetricTag || "training/hptuning/metric",
    maximize: spec?.goal !== "MINIMIZE",
    parameters: (spec?.params ?? []).map(parameterOfJob),
    trials: trials.sort(byId),
  };
}

/** replica.v1.MetricReport. */
interface ReportJson {
  readonly measurements?: readonly MeasurementJson[];
}

interface MeasurementJson {
  readonly step?: string | number;
  readonly value?: number | string;
  readonly time?: string;
}

function pointsOf(report: ReportJson | undefined): TrialPoint[] {
  return (report?.measurements ?? []).map(({ step, value, time: at }) => {
    const ms = time(at);
    return { step: num(step), value: Number(value ?? 0), at: ms === undefined ? undefined : ms / 1000 };
  });
}

function parameterOfJob(spec: ParameterSpecJson): Parameter {
  const discrete = (spec.discreteValues ?? []).map(Number);
  const words = spec.type === "CATEGORICAL";
  const ends = spec.type === "DISCRETE" ? discrete : [Number(spec.minValue ?? 0), Number(spec.maxValue ?? 0)];
  return {
    name: spec.parameterName ?? "",
    bounds: words ? undefined : { min: Math.min(...ends), max: Math.max(...ends) },
    choices: words ? (spec.categoricalValues ?? []) : discrete.map(String),
    scale: SCALES[spec.scaleType ?? ""] ?? "linear",
  };
}

/** The trials of a study. Of several metrics the first one counts. */
export function tuningOfStudy(study: StudyJson, trials: readonly TrialJson[], insight: TuningInsightJson | undefined): Tuning {
  const config = study.studyConfig ?? {};
  const metric = config.metrics?.[0];
  const stopped = new Map((insight?.stopped ?? []).map(({ trialId, reason }) => [trialId ?? "", reason ?? ""]));
  const parameters = new Map<string, Parameter>();
  for (const spec of config.parameters ?? []) addWithChildren(spec, parameters);
  return {
    metric: metric?.metric ?? "",
    maximize: metric?.goal !== "MINIMIZE",
    parameters: [...parameters.values()],
    trials: trials.map((trial) => studyTrial(trial, metric?.metric ?? "", stopped)).sort(byId),
  };
}

function addWithChildren(spec: StudyConfig_ParameterSpecJson, all: Map<string, Parameter>): void {
  const discrete = (spec.discreteValueSpec?.values ?? []).map(Number);
  const numbers = spec.doubleValueSpec ?? spec.integerValueSpec;
  const ends = numbers ? [Number(numbers.minValue ?? 0), Number(numbers.maxValue ?? 0)] : discrete;
  const name = spec.parameter ?? "";
  const before = all.get(name); // a sibling of the same name
  const bounds = ends.length === 0 ? undefined : { min: Math.min(...ends), max: Math.max(...ends) };
  all.set(name, {
    name,
    bounds: bounds && before?.bounds
      ? { min: Math.min(bounds.min, before.bounds.min), max: Math.max(bounds.max, before.bounds.max) } : bounds,
    choices: [...new Set([...(before?.choices ?? []), ...(spec.categoricalValueSpec?.values ?? discrete.map(String))])],
    scale: SCALES[spec.scaleType ?? ""] ?? "linear",
  });
  for (const child of spec.childParameterSpecs ?? []) addWithChildren(child, all);
}

function studyTrial(trial: TrialJson, metric: string, stopped: ReadonlyMap<string, string>): Trial {
  const id = trial.name?.split("/").at(-1) ?? "";
  const valueOf = (measurement: TrialJson["finalMeasurement"]) => {
    const found = measurement?.metrics?.find((one) => one.metric === metric)?.value;
    return found === undefined ? undefined : Number(found);
  };
  const start = time(trial.startTime);
  return {
    id,
    state: trial.trialInfeasible ? "INFEASIBLE" : (trial.state ?? "STATE_UNSPECIFIED"),
    values: Object.fromEntries((trial.parameters ?? []).map((one) =>
      [one.parameter ?? "", String(one.floatValue ?? one.intValue ?? one.stringValue ?? "")])),
    metric: valueOf(trial.finalMeasurement),
    step: trial.finalMeasurement === undefined ? undefined : num(trial.finalMeasurement.stepCount),
    start: trial.startTime,
    end: trial.endTime,
    stoppedEarly: stopped.has(id) || trial.state === "STOPPING",
    reason: trial.infeasibleReason || stopped.get(id) || "",
    points: (trial.measurements ?? []).flatMap((one) => {
      const value = valueOf(one);
      if (value === undefined) return [];
      const passed = Number.parseFloat(one.elapsedTime ?? "");
      const at = start === undefined || Number.isNaN(passed) ? undefined : start / 1000 + passed;
      return [{ step: num(one.stepCount), value, at }];
    }),
  };
}
