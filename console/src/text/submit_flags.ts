// A training input as flags of `gcloud ai-platform jobs submit training`, and what is left for --config. Pure. What gcloud
// refuses as a flag is left; what it takes from flags alone (packageUris, enableWebAccess) never is.
import type { ReplicaConfigJson, TrainingInputJson } from "proto/ml/v1/ml_pb";
import { num } from "./format.ts";
import { word } from "./shell.ts";

export interface SubmitFlags {
  readonly flags: readonly string[];
  /** The program's own arguments, behind "--". */
  readonly args: readonly string[];
  /** What has no flag. */
  readonly rest: TrainingInputJson;
  /** They fit into --labels. */
  readonly labelsAreFlags: boolean;
}

type Input = { -readonly [Key in keyof TrainingInputJson]: TrainingInputJson[Key] };

const DEFAULT_REGION = "us-central1"; // gcloud wants one; the server takes any
const ACCELERATORS = /^(NVIDIA_TESLA_(A100|K80|P100|P4|T4|V100)|TPU_V2|TPU_V2_POD|TPU_V3|TPU_V3_POD|TPU_V4_POD)$/;
const TIERS = /^(BASIC|STANDARD_1|PREMIUM_1|BASIC_GPU|BASIC_TPU|CUSTOM)$/;
const ACCOUNT = /^[^@\s]+@[^@\s]+$/;
const LABEL_KEY = /^[a-z][a-z0-9_-]{0,62}$/;
const LABEL_VALUE = /^[a-z0-9_-]{0,63}$/;

const ROLES = [
  ["master", "masterType", null, "masterConfig"],
  ["worker", "workerType", "workerCount", "workerConfig"],
  ["parameter-server", "parameterServerType", "parameterServerCount", "parameterServerConfig"],
] as const;

export function submitFlags(input: TrainingInputJson, labels: Record<string, string> | undefined): SubmitFlags {
  const rest: Input = { ...input };
  const flags: string[] = [];
  const add = (name: string, value: string) => flags.push(word(`--${name}=${value}`));
  const take = (name: string, field: keyof TrainingInputJson, fits: (value: string) => boolean = () => true) => {
    const value = rest[field];
    if (typeof value !== "string" || value === "" || value.startsWith("-") || !fits(value)) return;
    add(name, value);
    delete rest[field];
  };
  add("region", input.region || DEFAULT_REGION);
  delete rest.region;
  take("module-name", "pythonModule");
  if (input.packageUris?.length) add("packages", joined(input.packageUris));
  delete rest.packageUris;
  take("job-dir", "jobDir", (value) => /^gs:\/\/[^/\s]+(\/.*)?$/.test(value));
  takeTier(rest, add);
  if (!input.masterConfig?.imageUri) take("runtime-version", "runtimeVersion");
  take("python-version", "pythonVersion");
  take("service-account", "serviceAccount", (value) => ACCOUNT.test(value));
  if (input.useChiefInTfConfig !== undefined) add("use-chief-in-tf-config", String(input.useChiefInTfConfig));
  delete rest.useChiefInTfConfig;
  for (const role of ROLES) takeRole(role, rest, add);
  if (input.enableWebAccess) flags.push("--enable-web-access");
  delete rest.enableWebAccess;
  const pairs = Object.entries(labels ?? {});
  const labelsAreFlags = pairs.length > 0 && pairs.every(([key, value]) => LABEL_KEY.test(key) && LABEL_VALUE.test(value));
  if (labelsAreFlags) add("labels", pairs.map(([key, value]) => `${key}=${value}`).join());
  const args = input.args ?? [];
  delete rest.args;
  return { flags, args, rest, labelsAreFlags };
}

type Add = (name: string, value: string) => void;

/** As a flag CUSTOM wants the master's machine to be a flag, too. */
function takeTier(rest: Input, add: Add): void {
  const tier = rest.scaleTier;
  if (tier === undefined || !TIERS.test(tier) || (tier === "CUSTOM" && !rest.masterType)) return;
  add("scale-tier", tier.toLowerCase().replaceAll("_", "-"));
  delete rest.scaleTier;
}

function takeRole([role, type, count, config]: (typeof ROLES)[number], rest: Input, add: Add): void {
  const machine = rest[type];
  const replicas = count === null ? 1 : num(rest[count]);
  const own: { -readonly [Key in keyof ReplicaConfigJson]: ReplicaConfigJson[Key] } = { ...rest[config] };
  if (machine && replicas > 0) {
    add(`${role}-machine-type`, machine);
    delete rest[type];
    if (count !== null) {
      add(`${role}-count`, String(replicas));
      delete rest[count];
    }
  }
  const accelerators = own.acceleratorConfig;
  if (accelerators?.type && ACCELERATORS.test(accelerators.type) && num(accelerators.count) > 0) {
    add(`${role}-accelerator`, `type=${accelerators.type.toLowerCase().replaceAll("_", "-")},count=${num(accelerators.count)}`);
    delete own.acceleratorConfig;
  }
  if (own.imageUri) {
    add(`${role}-image-uri`, own.imageUri);
    delete own.imageUri;
  }
  if (Object.keys(own).length === 0) delete rest[config];
  else rest[config] = own;
}

/** gcloud's lists: another separator is announced by ^. */
function joined(values: readonly string[]): string {
  if (values.every((value) => !value.includes(",")) && !values[0]?.startsWith("^")) return values.join();
  const separator = [";", "|", "#", "~", "\u0001"].find((one) => values.every((value) => !value.includes(one))) ?? ";";
  return `^${separator}^${values.join(separator)}`;
}
