// Jobs side by side: what they were given and what came out. Pure.
import type { ScalarList_ItemJson } from "proto/control/v1/curves_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { duration, number, shortNumbers, time } from "./format.ts";
import { runOf } from "./tags.ts";

export interface CompareRow {
  readonly name: string;
  /** One for each job; undefined: it has none. */
  readonly values: readonly (string | undefined)[];
  /** Not the same for all. */
  readonly differs: boolean;
}

export interface CompareGroup {
  readonly title: string;
  readonly rows: readonly CompareRow[];
}

/** The flags among a program's arguments: --a=1, --a 1, --a; what is no flag keeps its place as a name. */
export function flagsOf(args: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  const add = (name: string, value: string) => flags.set(name, flags.has(name) ? `${flags.get(name)}, ${value}` : value);
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const next = args[at + 1];
    const sign = arg.indexOf("=");
    if (!/^--?[A-Za-z]/.test(arg)) add(`argument ${at + 1}`, arg);
    else if (sign > 0) add(arg.slice(0, sign), arg.slice(sign + 1));
    else if (next !== undefined && !/^--?[A-Za-z]/.test(next)) {
      add(arg, next);
      at += 1;
    } else add(arg, "yes");
  }
  return flags;
}

/** What a job's program was given, as columns of a table: names without dashes. */
export function parametersOf(job: JobJson): ReadonlyMap<`p:${string}`, string> {
  const flags = [...flagsOf(job.trainingInput?.args ?? [])];
  return new Map(flags.filter(([name]) => name.startsWith("-")).map(([name, value]) => [`p:${name.replace(/^-+/, "")}`, value]));
}

/** A message's fields, with the path of each. */
export function flat(value: unknown, path = "", all = new Map<string, string>()): Map<string, string> {
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== "object")) all.set(path, value.join(", "));
    else value.forEach((one, at) => flat(one, `${path}[${at}]`, all));
  } else if (typeof value === "object" && value !== null) {
    for (const [name, one] of Object.entries(value)) flat(one, path === "" ? name : `${path}.${name}`, all);
  } else if (value !== undefined) all.set(path, String(value));
  return all;
}

function rowsOf(columns: readonly ReadonlyMap<string, string>[]): CompareRow[] {
  const names = new Set(columns.flatMap((column) => [...column.keys()]));
  return [...names].map((name) => {
    const values = columns.map((column) => column.get(name));
    return { name, values, differs: new Set(values).size > 1 };
  });
}

/** Jobs and their curves as rows; a job that is not known yet has nothing. */
export function compared(jobs: readonly (JobJson | undefined)[], curves: readonly (readonly ScalarList_ItemJson[])[],
                         now: number): readonly CompareGroup[] {
  const results = jobs.map((job) => new Map(Object.entries(resultOf(job, now))));
  const labels = jobs.map((job) => new Map(Object.entries(job?.labels ?? {})));
  const flags = jobs.map((job) => flagsOf(job?.trainingInput?.args ?? []));
  const inputs = jobs.map((job) => {
    const { args: _, ...rest } = job?.trainingInput ?? {};
    return flat(rest);
  });
  const finals = curves.map((items) => new Map(items.map((item) => [finalName(item), number(Number(item.lastValue ?? 0))])));
  return [
    { title: "Result", rows: rowsOf(results) },
    { title: "Last values", rows: rowsOf(finals).sort((one, other) => byName(one.name, other.name)) },
    { title: "Arguments", rows: rowsOf(flags) },
    { title: "Input", rows: rowsOf(inputs) },
    { title: "Labels", rows: rowsOf(labels) },
  ].filter((group) => group.rows.length > 0);
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

/** The last values of a job's own curves, as columns of a table; those of trials are the trials'. */
export function lastValues(items: readonly ScalarList_ItemJson[]): ReadonlyMap<`m:${string}`, number> {
  const own = items.filter(({ name }) => !name?.trialId);
  return new Map(own.map((item) => [`m:${finalName(item)}`, Number(item.lastValue ?? 0)]));
}

function finalName({ name = {} }: ScalarList_ItemJson): string {
  const run = runOf(name);
  return run === "" ? (name.tag ?? "") : `${name.tag ?? ""} (${run})`;
}

function resultOf(job: JobJson | undefined, now: number): Record<string, string> {
  if (job === undefined) return {};
  const start = time(job.startTime);
  const result: Record<string, string> = { state: (job.state ?? "").toLowerCase() };
  if (start !== undefined) result["elapsed"] = duration((time(job.endTime) ?? now) - start);
  if (job.trainingOutput?.consumedMLUnits !== undefined) result["ML units"] = number(Number(job.trainingOutput.consumedMLUnits));
  if (job.errorMessage) result["error"] = shortNumbers(job.errorMessage);
  return result;
}
