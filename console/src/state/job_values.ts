// The values that the jobs in a list have reported. The list's own rows have one value at most.
import type { ScalarListJson } from "proto/control/v1/curves_pb";
import type { JobRowJson } from "proto/control/v1/job_rows_pb";
import { useEffect, useState } from "preact/hooks";
import { getJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { lastValues } from "../text/compare.ts";
import type { OwnValues } from "../text/job_order.ts";

/** Each job is a request of its own, and files to be read. */
const AT_ONCE = 3;
const AGAIN_MS = 10_000;

interface Known {
  readonly values: ReadonlyMap<`m:${string}`, number>;
  /** ms since 1970; Infinity: the job has ended, and all of it was read. */
  readonly until: number;
}

/** Of all projects, by "PROJECT/JOB": who comes back finds it. */
const known = new Map<string, Known>();

async function ask(project: string, job: JobRowJson, signal: AbortSignal): Promise<void> {
  const id = job.jobId ?? "";
  const again = Date.now() + AGAIN_MS;
  try {
    const list = await getJson<ScalarListJson>(paths.scalars(project, id), signal);
    const isFinal = job.endTime !== undefined && !list.reading;
    known.set(`${project}/${id}`, { values: lastValues(list.items ?? []), until: isFinal ? Infinity : again });
  } catch {
    if (!signal.aborted) known.set(`${project}/${id}`, { values: new Map(), until: again });
  }
}

/** The last value of each curve of the first `most` jobs, by job id. */
export function useJobValues(project: string, jobs: readonly JobRowJson[], most: number): OwnValues {
  const [values, setValues] = useState<OwnValues>(new Map());
  useEffect(() => {
    if (most === 0) return;
    const looked = jobs.slice(0, most);
    const abort = new AbortController();
    const tell = () => setValues(new Map(looked.map(({ jobId = "" }) => [jobId, known.get(`${project}/${jobId}`)?.values ?? new Map()])));
    const waiting = looked.filter(({ jobId = "" }) => (known.get(`${project}/${jobId}`)?.until ?? 0) < Date.now());
    const work = async () => {
      for (let job = waiting.shift(); job !== undefined && !abort.signal.aborted; job = waiting.shift()) await ask(project, job, abort.signal);
    };
    tell();
    void Promise.all(Array.from({ length: AT_ONCE }, work)).then(() => !abort.signal.aborted && tell());
    return () => abort.abort();
  }, [project, jobs, most]);
  return values;
}
