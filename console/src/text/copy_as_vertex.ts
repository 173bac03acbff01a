// A job that was submitted by Vertex AI as commands and programs that submit it again. Pure.
import type { Copied, CopyTarget } from "./copy_as.ts";
import { commandLines, hereDocument, word } from "./shell.ts";
import { configOf, type Fields, fieldsOf, objectsOf, textOf } from "./vertex_fields.ts";
import { vertexPython } from "./vertex_python.ts";
import { type Json, toYaml } from "./yaml.ts";

const ENV = 'eval "$(trainyard env)"';

/**
 * @param resource  the custom job or the tuning job as GET answers it
 * @param location  its region
 */
export function vertexCopies(resource: Fields, location: string, target: CopyTarget): Copied[] {
  const before = target.authentication ? ENV : "";
  return [
    ...(isForGcloud(resource) ? [{ name: "gcloud ai", before: ENV, text: asGcloud(resource, location, target) }] : []),
    { name: "Vertex SDK", before, text: vertexPython(resource, { ...target, location }) },
  ];
}

/** What was asked for, as gcloud's --config takes it. */
export function vertexYaml(resource: Fields): string {
  return toYaml(configOf(resource) as Json);
}

/** gcloud refuses a config.yaml with a pool of a custom job that is left empty. */
function isForGcloud(resource: Fields): boolean {
  const pools = objectsOf(configOf(resource)["workerPoolSpecs"]);
  return pools.every((pool) => pool["containerSpec"] !== undefined || pool["pythonPackageSpec"] !== undefined);
}

function asGcloud(resource: Fields, location: string, { project }: CopyTarget): string {
  const isTuning = resource["trialJobSpec"] !== undefined;
  const name = textOf(resource["displayName"]);
  const file = `${name.replace(/[^A-Za-z0-9_.-]/g, "_").replace(/^[-.]/, "_")}.yaml`;
  const labels = Object.entries(fieldsOf(resource["labels"])).map(([key, value]) => `${key}=${textOf(value)}`);
  const key = isTuning ? "" : textOf(fieldsOf(resource["encryptionSpec"])["kmsKeyName"]); // that of a tuning job is in its file
  const { mark, body } = hereDocument(vertexYaml(resource));
  const command = commandLines([
    `gcloud ai ${isTuning ? "hp-tuning-jobs" : "custom-jobs"} create`,
    word(`--project=${project}`),
    word(`--region=${location}`),
    word(`--display-name=${name}`),
    ...(labels.length > 0 ? [word(`--labels=${labels.join()}`)] : []),
    ...(key === "" ? [] : [word(`--kms-key=${key}`)]),
    `--config=${word(file)}`,
  ]);
  return `cat > ${word(file)} ${mark}\n${body}\n${command}`;
}
