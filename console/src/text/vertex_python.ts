// A job of Vertex AI as a program with Google's SDK that submits it again. Pure.
import { num } from "./format.ts";
import { toPython } from "./python.ts";
import { type Fields, fieldsOf, inSnakeCase, objectsOf, others, readable, snake, textOf } from "./vertex_fields.ts";
import type { Json } from "./yaml.ts";

export interface SdkTarget {
  readonly project: string;
  readonly location: string;
  /** "http://127.0.0.1:8470", without a slash at its end. */
  readonly origin: string;
  readonly authentication: boolean;
}

/** An argument of a call, and its value as Python has it; undefined: it is left out. */
type Argument = readonly [name: string, value: string | undefined];

/** The program. What the SDK has no argument for is named in a comment: it is all that would be missing. */
export function vertexPython(resource: Fields, target: SdkTarget): string {
  const isTuning = resource["trialJobSpec"] !== undefined;
  const spec = fieldsOf(readable(fieldsOf(resource[isTuning ? "trialJobSpec" : "jobSpec"])));
  const job = call("aiplatform.CustomJob", [
    ["display_name", json(isTuning ? `${textOf(resource["displayName"])}-trial` : resource["displayName"])],
    ["worker_pool_specs", json(inSnakeCase(spec["workerPoolSpecs"] ?? []))],
    ["base_output_dir", json(fieldsOf(spec["baseOutputDirectory"])["outputUriPrefix"])],
    ["persistent_resource_id", json(spec["persistentResourceId"])],
    ...(isTuning ? [] : ownArguments(resource)),
  ]);
  const { run, missing } = runOf(spec, isTuning);
  const lines = isTuning
    ? [`trial = ${job}`, `job = ${tuning(resource)}`, call("job.run", run)]
    : [`job = ${job}`, call("job.run", run)];
  const all = [...missing, ...(isTuning ? missingOf(fieldsOf(resource["studySpec"])) : [])].map(snake);
  const note = all.length === 0 ? "" : `# The SDK has no argument for these: ${all.join(", ")}\n`;
  return `${imports(isTuning, target)}\n\n${init(spec, target)}\n${note}${lines.join("\n")}`;
}

function imports(isTuning: boolean, { authentication }: SdkTarget): string {
  return [
    ...(authentication ? [] : ["from google.auth.credentials import AnonymousCredentials"]),
    "from google.cloud import aiplatform",
    ...(isTuning ? ["from google.cloud.aiplatform import hyperparameter_tuning as hpt"] : []),
  ].join("\n");
}

function init(spec: Fields, { project, location, origin, authentication }: SdkTarget): string {
  return call("aiplatform.init", [
    ["project", json(project)],
    ["location", json(location)],
    ["staging_bucket", json(bucketOf(spec))],
    ["credentials", authentication ? undefined : "AnonymousCredentials()"],
    ["api_transport", json("rest")],
    ["api_endpoint", json(`${origin}/aiplatform`)],
  ]);
}

/** The SDK wants one, even if nothing is put there. */
function bucketOf(spec: Fields): string {
  const packages = objectsOf(spec["workerPoolSpecs"]).flatMap((pool) => fieldsOf(pool["pythonPackageSpec"])["packageUris"] ?? []);
  const uris = [fieldsOf(spec["baseOutputDirectory"])["outputUriPrefix"], ...(packages as readonly Json[])].map(textOf);
  return uris.map((uri) => /^gs:\/\/[^/]+/.exec(uri)?.[0]).find((bucket) => bucket !== undefined) ?? "gs://BUCKET";
}

/** Of whatever the class is. */
function ownArguments(resource: Fields): Argument[] {
  return [
    ["labels", json(resource["labels"])],
    ["encryption_spec_key_name", json(fieldsOf(resource["encryptionSpec"])["kmsKeyName"])],
  ];
}

/** As they are in the spec, and as arguments of run(). */
const SAME = ["serviceAccount", "network", "enableWebAccess", "tensorboard"];
const OF_CUSTOM_JOBS = ["experiment", "experimentRun"];
const SCHEDULING = ["timeout", "restartJobOnWorkerRestart", "disableRetries", "strategy", "maxWaitDuration"];
const ELSEWHERE = ["workerPoolSpecs", "baseOutputDirectory", "persistentResourceId", "scheduling"];

function runOf(spec: Fields, isTuning: boolean): { readonly run: readonly Argument[]; readonly missing: readonly string[] } {
  const scheduling = fieldsOf(spec["scheduling"]);
  const same = isTuning ? SAME : [...SAME, ...OF_CUSTOM_JOBS];
  const run: Argument[] = [
    ...same.map((name): Argument => [snake(name), json(spec[name])]),
    ["timeout", json(seconds(scheduling["timeout"]))],
    ["restart_job_on_worker_restart", json(scheduling["restartJobOnWorkerRestart"])],
    ["disable_retries", json(scheduling["disableRetries"])],
    ["scheduling_strategy", json(scheduling["strategy"])],
    ["max_wait_duration", json(seconds(scheduling["maxWaitDuration"]))],
  ];
  return { run, missing: [...others(spec, [...same, ...ELSEWHERE]), ...others(scheduling, SCHEDULING)] };
}

function seconds(length: Json | undefined): number | undefined {
  const value = /^(\d+(?:\.\d+)?)s$/.exec(textOf(length))?.[1];
  return value === undefined ? undefined : Math.ceil(Number(value));
}

const ALGORITHMS: Readonly<Record<string, string>> = { GRID_SEARCH: "grid", RANDOM_SEARCH: "random" };
const MEASUREMENTS: Readonly<Record<string, string>> = { LAST_MEASUREMENT: "last", BEST_MEASUREMENT: "best" };

function tuning(resource: Fields): string {
  const study = fieldsOf(resource["studySpec"]);
  const metrics = objectsOf(study["metrics"]).map(({ metricId, goal }) => [textOf(metricId), textOf(goal).toLowerCase()]);
  const parameters = objectsOf(study["parameters"]).map((one) => `        ${json(one["parameterId"])}: ${parameter(one)},\n`);
  return call("aiplatform.HyperparameterTuningJob", [
    ["display_name", json(resource["displayName"])],
    ["custom_job", "trial"],
    ["metric_spec", json(Object.fromEntries(metrics) as Fields)],
    ["parameter_spec", `{\n${parameters.join("")}    }`],
    ["max_trial_count", json(num(resource["maxTrialCount"] as string | number | undefined))],
    ["parallel_trial_count", json(num(resource["parallelTrialCount"] as string | number | undefined))],
    ["max_failed_trial_count", json(resource["maxFailedTrialCount"])],
    ["search_algorithm", json(ALGORITHMS[textOf(study["algorithm"])])],
    ["measurement_selection", json(MEASUREMENTS[textOf(study["measurementSelectionType"])] ?? null)],
    ...ownArguments(resource),
  ]);
}

const VALUES = [
  ["doubleValueSpec", "Double", ["minValue", "maxValue"]],
  ["integerValueSpec", "Integer", ["minValue", "maxValue"]],
  ["discreteValueSpec", "Discrete", ["values"]],
  ["categoricalValueSpec", "Categorical", ["values"]],
] as const;

/** The values of its parent for which a parameter is there; whole numbers are texts in the API's JSON. */
const CONDITIONS = ["parentCategoricalValues", "parentDiscreteValues", "parentIntValues"] as const;

function parentValues(one: Fields): string {
  const field = CONDITIONS.find((name) => one[name] !== undefined) ?? CONDITIONS[0];
  const list = fieldsOf(one[field])["values"];
  const values = (Array.isArray(list) ? (list as readonly Json[]) : []).map((value) => (field === "parentIntValues" ? Number(value) : value));
  return `parent_values=[${values.map((value) => toPython(value)).join(", ")}]`;
}

/** conditional_parameter_spec={"momentum": hpt.DoubleParameterSpec(...)}; none, none. */
function conditional(one: Fields): string[] {
  const children = objectsOf(one["conditionalParameterSpecs"]).map((child) => {
    const spec = fieldsOf(child["parameterSpec"]);
    return `${toPython(spec["parameterId"] ?? "")}: ${parameter(spec, [parentValues(child)])}`;
  });
  return children.length === 0 ? [] : [`conditional_parameter_spec={${children.join(", ")}}`];
}

/** hpt.DoubleParameterSpec(min=0.001, max=0.1, scale="log"); the API's JSON leaves zeros out. */
function parameter(one: Fields, condition: readonly string[] = []): string {
  const [field, kind] = VALUES.find(([name]) => one[name] !== undefined) ?? VALUES[0];
  const spec = fieldsOf(readable(fieldsOf(one[field])));
  const scale = /^UNIT_(\w+)_SCALE$/.exec(textOf(one["scaleType"]))?.[1]?.toLowerCase() ?? "unspecified";
  const range = [`min=${toPython(spec["minValue"] ?? 0)}`, `max=${toPython(spec["maxValue"] ?? 0)}`];
  const list = spec["values"];
  const values = [`values=[${(Array.isArray(list) ? (list as readonly Json[]) : []).map((value) => toPython(value)).join(", ")}]`];
  const scaled = kind === "Categorical" ? [] : [`scale=${toPython(scale)}`];
  const own = kind === "Double" || kind === "Integer" ? range : values;
  return `hpt.${kind}ParameterSpec(${[...own, ...scaled, ...conditional(one), ...condition].join(", ")})`;
}

/** The parameter and those that depend on it. */
function withConditional(one: Fields): readonly Fields[] {
  return [one, ...objectsOf(one["conditionalParameterSpecs"]).flatMap((child) => withConditional(fieldsOf(child["parameterSpec"])))];
}

/** What a study has and HyperparameterTuningJob no argument for. */
function missingOf(study: Fields): string[] {
  const parameters = objectsOf(study["parameters"]).flatMap(withConditional);
  const parts: readonly (readonly [readonly Fields[], readonly string[]])[] = [
    [[study], ["metrics", "parameters", "algorithm", "measurementSelectionType"]],
    [objectsOf(study["metrics"]), ["metricId", "goal"]],
    [parameters, ["parameterId", "scaleType", "conditionalParameterSpecs", ...VALUES.map(([field]) => field)]],
    ...VALUES.map(([field, , names]) =>
      [parameters.map((one) => fieldsOf(one[field])), names] as const),
  ];
  return [...new Set(parts.flatMap(([all, names]) => all.flatMap((one) => others(one, names))))];
}

function json(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : toPython(value, 4);
}

/** An argument a line; none, none. */
function call(name: string, all: readonly Argument[]): string {
  const given = all.filter(([, value]) => value !== undefined && value !== '""');
  return given.length === 0 ? `${name}()` : `${name}(\n${given.map(([key, value]) => `    ${key}=${value},\n`).join("")})`;
}
