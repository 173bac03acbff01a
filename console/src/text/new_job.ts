// What the form of a new job knows. Pure.
import type { Json } from "./yaml.ts";
import { toYaml } from "./yaml.ts";
import { type Path, textAt, toJson, treeAt, withField } from "./yaml_edit.ts";
import { parseYaml, type Tree } from "./yaml_tree.ts";

export type ProgramKind = "package" | "container" | "algorithm";

export const ALGORITHM_IMAGES = "gcr.io/cloud-ml-algos/";
/** Below ALGORITHM_IMAGES: docs/algorithms.md. */
export const ALGORITHMS = [
  "linear_learner_cpu",
  "linear_learner_gpu",
  "wide_deep_learner_cpu",
  "wide_deep_learner_gpu",
  "tab_net",
  "boosted_trees",
  "xgboost_dist",
  "image_classification",
  "image_object_detection",
] as const;

export const SCALE_TIERS = ["BASIC", "STANDARD_1", "PREMIUM_1", "BASIC_GPU", "BASIC_TPU", "CUSTOM"] as const;
export const ACCELERATORS = [
  "NVIDIA_TESLA_K80",
  "NVIDIA_TESLA_P100",
  "NVIDIA_TESLA_V100",
  "NVIDIA_TESLA_P4",
  "NVIDIA_TESLA_T4",
  "NVIDIA_TESLA_A100",
  "NVIDIA_A100_80GB",
  "NVIDIA_L4",
  "NVIDIA_H100_80GB",
  "NVIDIA_H100_MEGA_80GB",
  "NVIDIA_H200_141GB",
  "NVIDIA_B200",
  "NVIDIA_GB200",
  "NVIDIA_RTX_PRO_6000",
] as const;
/** Those of Vertex AI with GPUs, and its most usual ones without: data/cluster/vertex_machine_types.json has all. */
const VERTEX_MACHINE_TYPES = [
  ...["e2", "n2", "n2d", "c2d"].flatMap((family) => [4, 8, 16, 32].map((cpus) => `${family}-standard-${cpus}`)),
  ...[4, 8, 12, 16, 24, 32, 48, 96].map((cpus) => `g2-standard-${cpus}`),
  ...["a2-highgpu", "a2-ultragpu", "a3-highgpu"].flatMap((family) => [1, 2, 4, 8].map((gpus) => `${family}-${gpus}g`)),
  ...["a2-megagpu-16g", "a3-megagpu-8g", "a3-ultragpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g"],
  ...[48, 96, 192, 384].map((cpus) => `g4-standard-${cpus}`),
];
export const MACHINE_TYPES = [
  ...["standard", "highmem", "highcpu"].flatMap((kind) => [2, 4, 8, 16, 32, 64, 96].map((cpus) => `n1-${kind}-${cpus}`)),
  "standard",
  "large_model",
  "complex_model_s",
  "complex_model_m",
  "complex_model_l",
  "standard_gpu",
  "complex_model_m_gpu",
  ...VERTEX_MACHINE_TYPES,
].filter((name) => !["n1-standard-2", "n1-highcpu-2", "n1-highcpu-4"].includes(name));

export function kindOf(tree: Tree): ProgramKind | undefined {
  const image = textAt(tree, ["trainingInput", "masterConfig", "imageUri"]);
  if (image.startsWith(ALGORITHM_IMAGES)) return "algorithm";
  if (image !== "" || treeAt(tree, ["trainingInput", "masterConfig", "imageUri"])) return "container";
  return treeAt(tree, ["trainingInput", "packageUris"]) || treeAt(tree, ["trainingInput", "pythonModule"])
    ? "package"
    : undefined;
}

const IMAGE = ["trainingInput", "masterConfig", "imageUri"];
const PACKAGES = ["trainingInput", "packageUris"];
const MODULE = ["trainingInput", "pythonModule"];
const RUNTIME = ["trainingInput", "runtimeVersion"];
const FIRST_ALGORITHM = `${ALGORITHM_IMAGES}${ALGORITHMS[0]}:latest`;
const FIRST_MODULE = "trainer.task";

/** What the kinds of programs have that not all have. */
const OWN: Readonly<Record<ProgramKind, readonly (readonly string[])[]>> = {
  package: [PACKAGES, MODULE, RUNTIME],
  container: [IMAGE],
  algorithm: [IMAGE],
};
const ALL_OWN = [...OWN.package, IMAGE];

export interface Field {
  readonly path: readonly string[];
  readonly value: Json;
}

/** What a job of this text would lose as another kind of program. */
export function lostBy(text: string, kind: ProgramKind): Field[] {
  const tree = parseYaml(text);
  const imageStays = kindOf(tree) === kind;
  return ALL_OWN
    .filter((path) => !OWN[kind].includes(path) || (path === IMAGE && !imageStays)) // an algorithm's image is no container's
    .flatMap((path) => {
      const found = treeAt(tree, path);
      return found === undefined ? [] : [{ path, value: toJson(found) ?? "" }];
    });
}

/** Those that somebody wrote: not empty, and not what a new job or a kind begins with. */
export function written(fields: readonly Field[]): Field[] {
  const given = new Set(["", "[]", "{}", FIRST_MODULE, FIRST_ALGORITHM]);
  return fields.filter(({ value }) => !given.has(typeof value === "string" ? value : JSON.stringify(value)));
}

/**
 * The text for another kind of program: what that kind does not have is taken away.
 * @param before  what the text had when it was of that kind: it comes back
 */
export function withKind(text: string, kind: ProgramKind, before: readonly Field[] = []): string {
  const bare = lostBy(text, kind).reduce((rest, { path }) => withField(rest, path, undefined), text);
  const isThere = (path: Path, at: string) => treeAt(parseYaml(at), path) !== undefined;
  const full = before.reduce((rest, { path, value }) => (isThere(path, rest) ? rest : withField(rest, path, value)), bare);
  if (kind === "package" || isThere(IMAGE, full)) return full;
  return withField(full, IMAGE, kind === "algorithm" ? FIRST_ALGORITHM : "");
}

/** "job_20261123_160512" */
export function freshId(now: Date, name = "job"): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${name}_${date}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

export function emptyJob(now: Date): string {
  return toYaml({
    jobId: freshId(now),
    trainingInput: { region: "us-central1", scaleTier: "BASIC", pythonModule: FIRST_MODULE, packageUris: [] },
  });
}

const TUNING: Json = {
  goal: "MAXIMIZE",
  hyperparameterMetricTag: "accuracy",
  maxTrials: 10,
  maxParallelTrials: 2,
  params: [
    { parameterName: "learning_rate", type: "DOUBLE", minValue: 0.0001, maxValue: 0.1, scaleType: "UNIT_LOG_SCALE" },
    { parameterName: "units", type: "DISCRETE", discreteValues: [32, 64, 128] },
  ],
};

export function withTuning(text: string): string {
  return withField(text, ["trainingInput", "hyperparameters"], TUNING);
}

/** "team=vision" in lines, as labels; a line without a value is a label without one. */
export function labelsOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines
      .map((line) => [line.replace(/=.*$/, "").trim(), /=(.*)$/.exec(line)?.[1]?.trim() ?? ""] as const)
      .filter(([key]) => key !== ""),
  );
}

/** A draft with a secret's value is kept nowhere. */
export function mayBeKept(text: string): boolean {
  return !/\bsecret["']?\s*:\s*["']?(true|yes|on)\b/i.test(text);
}
