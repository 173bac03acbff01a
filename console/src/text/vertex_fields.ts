// Resources of Vertex AI as people write them. Pure.
import type { Json } from "./yaml.ts";

/** An object of JSON. */
export type Fields = { readonly [key: string]: Json | undefined };

/** 64-bit numbers, which the API's JSON has as texts; people write numbers. */
const NUMBERS = new Set([
  "replicaCount", "acceleratorCount", "bootDiskSizeGb", "minValue", "maxValue", "defaultValue", "maxStepCount", "minStepCount",
  "minMeasurementCount", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount",
]);
/** Maps whose keys somebody chose. */
const FREE = new Set(["labels"]);

export function isFields(value: Json | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object there; an empty one if there is none. */
export function fieldsOf(value: Json | undefined): Fields {
  return isFields(value) ? value : {};
}

/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Json[]).map(fieldsOf) : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** With numbers as numbers. */
export function readable(value: Json, key = ""): Json {
  if (typeof value === "string") return NUMBERS.has(key) && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => readable(item, key));
  return isFields(value) ? withNames(value, (name) => name, readable) : value;
}

/** "workerPoolSpecs" -> "worker_pool_specs", as Python programs have it. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** With the names that Python programs have, in all its parts. */
export function inSnakeCase(value: Json, key = ""): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => inSnakeCase(item, key));
  return isFields(value) ? withNames(value, FREE.has(key) ? (name) => name : snake, inSnakeCase) : value;
}

function withNames(fields: Fields, name: (key: string) => string, of: (value: Json, key: string) => Json): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [name(key), one === undefined ? one : of(one, key)]));
}

/** Those of the names that the object has. */
export function chosen(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

/** The names in the object that are not among those. */
export function others(fields: Fields, names: readonly string[]): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined && !names.includes(name));
}

const TUNING = ["studySpec", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount", "trialJobSpec", "encryptionSpec"];

/** What gcloud's --config takes of a custom job, or of a tuning job. */
export function configOf(resource: Fields): Fields {
  return fieldsOf(readable(resource["trialJobSpec"] === undefined ? fieldsOf(resource["jobSpec"]) : chosen(resource, TUNING)));
}
