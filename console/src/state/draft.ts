import type { JobRowsJson } from "proto/control/v1/job_rows_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { useEffect, useState } from "preact/hooks";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useAnswer } from "../api/use.ts";
import { cloneOf, nextId, stemOf } from "../text/clone.ts";
import { jobToYaml } from "../text/job_yaml.ts";
import { emptyJob, mayBeKept } from "../text/new_job.ts";

export interface Draft {
  /** undefined: the job that it is made of is not there yet. */
  readonly text: string | undefined;
  readonly set: (text: string) => void;
  /** Forgets it, and begins anew. */
  readonly reset: () => void;
  /** It is not as it was at first. */
  readonly changed: boolean;
  readonly source: Resource<string>;
}

/**
 * The YAML of a new job, empty or made of another job's; what was typed is still there after a reload.
 * @param shells  a clone allows shells, whether or not the other job does
 */
export function useDraft(project: string, from: string, shells: boolean): Draft {
  const key = `trainyard.draft.${project}/${from}${shells ? " with shells" : ""}`;
  const source = useAnswer<string>(key, async (signal) => {
    if (from === "") return emptyJob(new Date());
    const [job, jobId] = await Promise.all([getJson<JobJson>(paths.job(project, from), signal), freeId(project, from, signal)]);
    const clone = cloneOf(job, jobId);
    return jobToYaml(shells ? { ...clone, trainingInput: { ...clone.trainingInput, enableWebAccess: true } } : clone);
  });
  const [typed, setTyped] = useState(() => ({ key, text: read(key) }));
  useEffect(() => setTyped({ key, text: read(key) }), [key]);
  const own = typed.key === key ? typed.text : null;
  const set = (text: string) => {
    setTyped({ key, text });
    write(key, mayBeKept(text) ? text : null);
  };
  const reset = () => {
    setTyped({ key, text: null });
    write(key, null);
  };
  return { text: own ?? source.data, set, reset, changed: own !== null && own !== source.data, source };
}

/** The jobs of a name are looked through for this many pages. */
const PAGES_MAX = 10;

/** The next id that no job has. The check of the job names one that is taken after all. */
export async function freeId(project: string, from: string, signal?: AbortSignal): Promise<string> {
  const taken = new Set<string>();
  if (!/^\w+$/.test(from)) return nextId(from);
  const query = { filter: `jobId:${stemOf(from)}`, pageSize: 100 };
  let pageToken: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const rows: JobRowsJson = await getJson(withQuery(paths.jobRows(project), { ...query, pageToken }), signal);
    for (const { jobId = "" } of rows.jobs ?? []) taken.add(jobId);
    pageToken = rows.nextPageToken;
    if (!pageToken) break;
  }
  return nextId(from, taken);
}

function read(key: string): string | null {
  return sessionStorage.getItem(key);
}

function write(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // It is too long to be kept, or nothing may be: then it is gone after a reload.
  }
}
