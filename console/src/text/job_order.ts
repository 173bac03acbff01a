// The table of jobs in another order, and in groups. Pure.
import type { JobRowJson } from "proto/control/v1/job_rows_pb";
import { isOwn, type JobColumn, type OwnColumn } from "./job_columns.ts";
import { time } from "./format.ts";
import { programName } from "./job_words.ts";
import { nameOf, submittedWords } from "./submitted_as.ts";

/** What jobs have in columns of their own, by job id: what their programs were given and what they measured. */
export type OwnValues = ReadonlyMap<string, ReadonlyMap<OwnColumn, string | number>>;

/** Both kinds, and what the rows themselves say. */
export function ownValues(jobs: readonly JobRowJson[], ...all: readonly OwnValues[]): OwnValues {
  return new Map(jobs.map(({ jobId = "", metric }) => {
    const reported: [OwnColumn, number][] = metric?.tag ? [[`m:${metric.tag}`, Number(metric.value ?? 0)]] : [];
    return [jobId, new Map([...reported, ...all.flatMap((one) => [...(one.get(jobId) ?? [])])])];
  }));
}

/** A column of the table, also one of the two that are always there. */
export type SortColumn = JobColumn | "state" | "job";

export interface JobOrder {
  readonly column: SortColumn;
  readonly descending: boolean;
}

/** "-elapsed": a minus is descending; undefined: newest first, as the server lists them. */
export function jobOrderOf(text: string | null): JobOrder | undefined {
  if (!text) return undefined;
  const descending = text.startsWith("-");
  return { column: (descending ? text.slice(1) : text) as SortColumn, descending };
}

/** After a click on a column's head: up, then down, then as the server has them. */
export function nextOrder(column: SortColumn, order: JobOrder | undefined): string | null {
  if (order?.column !== column) return column;
  return order.descending ? null : `-${column}`;
}

/** What a job has in a column, to sort by; undefined: nothing. */
export function sortKey(job: JobRowJson, column: SortColumn, own: OwnValues, now: number): string | number | undefined {
  if (isOwn(column)) {
    const text = own.get(job.jobId ?? "")?.get(column);
    const value = Number(text);
    return text === undefined || text === "" ? undefined : Number.isNaN(value) ? text : value;
  }
  const start = time(job.startTime);
  switch (column) {
    case "state": return job.state;
    case "job": return nameOf(job);
    case "submitted": return submittedWords(job.submittedAs) || undefined;
    case "created": return time(job.createTime);
    case "started": return start;
    case "ended": return time(job.endTime);
    case "elapsed": return start === undefined ? undefined : (time(job.endTime) ?? now) - start;
    case "metric": return job.metric === undefined ? undefined : Number(job.metric.value ?? 0);
    case "trials": return job.tuning ? (job.trials ?? 0) : undefined;
    case "cause": return job.reason || undefined;
    case "what": return programName(job.summary, job.jobId) || undefined;
    case "machines": return job.machines || undefined;
    case "who": return job.creator || undefined;
    case "labels": return Object.entries(job.labels ?? {}).map(([key, value]) => `${key}:${value}`).sort().join() || undefined;
    default: return undefined; // an address may say anything
  }
}

const byWords = new Intl.Collator("en", { numeric: true }).compare;

/** Jobs by a column; those that have nothing there are last, whichever way. Equals stay as they are. */
export function orderedJobs(jobs: readonly JobRowJson[], order: JobOrder | undefined, own: OwnValues, now: number): readonly JobRowJson[] {
  if (order === undefined) return jobs;
  const sign = order.descending ? -1 : 1;
  return jobs
    .map((job) => ({ job, key: sortKey(job, order.column, own, now) }))
    .sort((one, other) => {
      if (one.key === undefined || other.key === undefined) return (one.key === undefined ? 1 : 0) - (other.key === undefined ? 1 : 0);
      if (typeof one.key === "number" && typeof other.key === "number") return sign * (one.key - other.key);
      return sign * byWords(String(one.key), String(other.key));
    })
    .map(({ job }) => job);
}

/** A row of the table: a job, or the head of the jobs of one value of a label. */
export type TableRow =
  | { readonly kind: "job"; readonly job: JobRowJson }
  | { readonly kind: "group"; readonly value: string | undefined; readonly jobs: number };

/** Jobs below the values of a label: groups by name, those without the label last. No label: just the jobs. */
export function groupedRows(jobs: readonly JobRowJson[], label: string): readonly TableRow[] {
  const row = (job: JobRowJson): TableRow => ({ kind: "job", job });
  if (label === "") return jobs.map(row);
  const groups = new Map<string | undefined, JobRowJson[]>();
  for (const job of jobs) {
    const value = job.labels?.[label];
    groups.set(value, [...(groups.get(value) ?? []), job]);
  }
  return [...groups]
    .sort(([one], [other]) => (one === undefined ? 1 : other === undefined ? -1 : byWords(one, other)))
    .flatMap(([value, all]) => [{ kind: "group", value, jobs: all.length } as const, ...all.map(row)]);
}

/** The parameters and values that jobs have: each may be a column. */
export function ownColumns(own: OwnValues): readonly OwnColumn[] {
  return [...new Set([...own.values()].flatMap((one) => [...one.keys()]))];
}
