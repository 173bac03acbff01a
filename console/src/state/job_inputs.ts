// The parameters and arguments of the jobs in a list, which the list's own rows do not have.
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { parametersOf } from "../text/compare.ts";
import type { OwnValues } from "../text/job_order.ts";

const PAGE_SIZE = 100;
const FIELDS = "jobs(jobId,trainingInput/args),nextPageToken";

interface Inputs {
  readonly key: string;
  readonly known: OwnValues;
  /** Of the page behind what is known; undefined: there is none. */
  readonly next: string | undefined;
}

/** Parameters of a project's jobs that match a filter, for as many rows as there are; asks for nothing unless wanted. */
export function useJobInputs(project: string, filter: string, jobs: readonly { readonly jobId?: string }[], wanted: boolean): OwnValues {
  const key = `${project} ${filter}`;
  const [state, setState] = useState<Inputs>({ key, known: new Map(), next: "" });
  const own = state.key === key ? state : { key, known: new Map() as OwnValues, next: "" };
  const newest = useRef<string>(undefined);
  const first = jobs[0]?.jobId;
  useEffect(() => {
    if (!wanted || jobs.length === 0) return;
    const isNew = first !== undefined && !own.known.has(first) && newest.current !== first && own.next !== "";
    const pageToken = isNew ? "" : own.next;
    const lacks = jobs.some(({ jobId = "" }) => !own.known.has(jobId));
    if (!lacks || pageToken === undefined) return;
    newest.current = first;
    const abort = new AbortController();
    const query = { filter, pageSize: PAGE_SIZE, pageToken, fields: FIELDS };
    getJson<{ jobs?: JobJson[]; nextPageToken?: string }>(withQuery(paths.jobs(project), query), abort.signal).then(
      (page) => {
        const found = (page.jobs ?? []).map((job) => [job.jobId ?? "", parametersOf(job)] as const);
        setState({ key, known: new Map([...own.known, ...found]), next: isNew ? own.next : page.nextPageToken || undefined });
      },
      () => undefined, // the list beside it says what is wrong
    );
    return () => abort.abort();
  }, [key, wanted, jobs.length, first, own.known]);
  return own.known;
}
