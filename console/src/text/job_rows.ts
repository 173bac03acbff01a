// How a list of jobs changes. Pure.
import type { JobChangesJson, JobRowJson } from "proto/control/v1/job_rows_pb";

export interface Rows {
  readonly jobs: readonly JobRowJson[];
  /** New jobs that are not shown yet, newest first: rows do not move under the pointer. */
  readonly waiting: readonly JobRowJson[];
}

/** Rows change in place; new jobs wait, or go to the top if the reader is there. */
export function afterChanges(rows: Rows, changes: JobChangesJson, atTop: boolean): Rows {
  let jobs = rows.jobs;
  let waiting = rows.waiting;
  for (const { jobId, job } of changes.changes ?? []) {
    const at = jobs.findIndex((row) => row.jobId === jobId);
    if (at >= 0) {
      jobs = job ? jobs.with(at, job) : jobs.toSpliced(at, 1);
    } else if (job && isNew(job, jobs[0])) {
      waiting = [job, ...waiting.filter((row) => row.jobId !== jobId)];
    } else if (!job) {
      waiting = waiting.filter((row) => row.jobId !== jobId);
    }
  }
  const changed = { jobs, waiting };
  return atTop ? shown(changed) : changed;
}

function isNew(job: JobRowJson, newest: JobRowJson | undefined): boolean {
  return newest === undefined || (job.createTime ?? "") >= (newest.createTime ?? "");
}

/** With what waits at the top. */
export function shown(rows: Rows): Rows {
  if (rows.waiting.length === 0) return rows;
  const byTime = rows.waiting.toSorted((one, other) => ((one.createTime ?? "") < (other.createTime ?? "") ? 1 : -1));
  return { jobs: [...byTime, ...rows.jobs], waiting: [] };
}
