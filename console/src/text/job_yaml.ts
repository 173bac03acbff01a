// A job's input as the YAML that gcloud's --config takes, and back. Pure.
import type { JobJson } from "proto/ml/v1/ml_pb";
import { type Json, toYaml } from "./yaml.ts";
import { type Path, treeAt } from "./yaml_edit.ts";
import { parseYaml, type Tree, YamlError } from "./yaml_tree.ts";

/** Fields of the API that are numbers; everything else is a text, whatever it looks like: runtimeVersion: 2.10. */
const NUMBERS = new Set([
  "count",
  "workerCount",
  "parameterServerCount",
  "evaluatorCount",
  "maxTrials",
  "maxParallelTrials",
  "maxFailedTrials",
  "minValue",
  "maxValue",
  "discreteValues",
  "priority",
  "bootDiskSizeGb",
]);
const BOOLS = new Set(["enableWebAccess", "useChiefInTfConfig", "enableTrialEarlyStopping", "secret"]);
/** Maps whose keys somebody chose. */
const FREE = new Set(["labels"]);

/** What was asked for, without what the server adds. */
export function inputOf(job: JobJson): Record<string, Json | undefined> {
  const input: Record<string, Json | undefined> = {};
  if (job.jobId) input["jobId"] = job.jobId;
  if (job.labels && Object.keys(job.labels).length > 0) input["labels"] = job.labels;
  if (job.trainingInput) input["trainingInput"] = readable(job.trainingInput as unknown as Json, "");
  return input;
}

export function jobToYaml(job: JobJson): string {
  return toYaml(inputOf(job) as Json);
}

/** 64-bit numbers are texts in the API's JSON; people write numbers. */
function readable(value: Json, key: string): Json {
  if (typeof value === "string") return NUMBERS.has(key) && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => readable(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, one === undefined ? one : readable(one, name)]));
}

/** What a text says. */
export interface ReadJob {
  readonly tree: Tree | undefined;
  readonly job: JobJson;
  /** Why it cannot be read. */
  readonly error: YamlError | undefined;
}

export function readJob(text: string): ReadJob {
  try {
    const tree = parseYaml(text);
    if (tree.kind !== "map") throw new YamlError(0, "A job is a map: jobId: NAME, trainingInput: ...");
    return { tree, job: (jsonOf(tree, "") ?? {}) as unknown as JobJson, error: undefined };
  } catch (error) {
    if (error instanceof YamlError) return { tree: undefined, job: {}, error };
    throw error;
  }
}

function jsonOf(tree: Tree, key: string): Json | undefined {
  if (tree.kind === "list") return tree.items.map((item) => jsonOf(item, key) ?? "");
  if (tree.kind === "map") {
    const names = FREE.has(key) ? "" : undefined;
    return Object.fromEntries(tree.entries.map((entry) => [entry.key, jsonOf(entry.value, names ?? entry.key) ?? names]));
  }
  if (tree.quoted) return tree.text;
  if (/^(|~|null|Null|NULL)$/.test(tree.text)) return undefined;
  if (BOOLS.has(key) && /^(true|false|yes|no|on|off)$/i.test(tree.text)) return /^(true|yes|on)$/i.test(tree.text);
  if (NUMBERS.has(key) && /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(tree.text)) return Number(tree.text);
  return tree.text;
}

/**
 * Where in the tree a violation's field is: "job.training_input.worker_count", "worker_count" and
 * "hyperparameters.params[0].min_value" all have a line; what is not there has its parent's.
 */
export function lineOf(tree: Tree | undefined, field: string): number | undefined {
  const path = pathOf(field);
  if (tree === undefined || path.length === 0) return undefined;
  for (const root of [[], ["trainingInput"], ["trainingInput", "hyperparameters"]] satisfies Path[]) {
    for (let length = path.length; length > 0; length -= 1) {
      const line = keyLine(tree, [...root, ...path.slice(0, length)]);
      if (line !== undefined) return line;
    }
  }
  return path[0] === "jobId" || path[0] === "labels" ? undefined : keyLine(tree, ["trainingInput"]);
}

function keyLine(tree: Tree, path: Path): number | undefined {
  const last = path.at(-1);
  const parent = treeAt(tree, path.slice(0, -1));
  if (typeof last === "number") return treeAt(tree, path)?.line;
  return parent?.kind === "map" ? parent.entries.find((entry) => entry.key === last)?.line : undefined;
}

/** "job.training_input.params[0].min_value" -> ["trainingInput", "params", 0, "minValue"]. */
export function pathOf(field: string): Path {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
  const camel = (step: string) => step.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return (steps[0] === "job" ? steps.slice(1) : steps).map((step) => (/^\d+$/.test(step) ? Number(step) : camel(step)));
}

/** Whether a violation is about the field at this path, about a part of it, or about what it is a part of. */
export function isAbout(field: string, path: readonly string[]): boolean {
  const bare = (steps: Path) => (steps[0] === "trainingInput" ? steps.slice(1) : steps);
  const [named, own] = [bare(pathOf(field)), bare(path)];
  return named.length > 0 && own.length > 0 && named.slice(0, own.length).every((step, at) => own[at] === step);
}
