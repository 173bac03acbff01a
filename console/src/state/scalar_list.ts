import type { ScalarListJson } from "proto/control/v1/curves_pb";
import { useEffect } from "preact/hooks";
import { paths } from "../api/paths.ts";
import { type Resource, useJson } from "../api/use.ts";
import { useEvery } from "./every.ts";
import { hasEnded, type JobFacts } from "./job.ts";

/** An answer says that the server has not read all files yet. */
export type Reading<T> = T & { readonly reading?: boolean };

const LIVE_MS = 5000;
/** A long list is asked for less often. */
const LONG_LIST = 2000;
const LONG_LIST_MS = 30_000;
const READING_MS = 1000;

/** Which curves a job has and how long they are, up to date while it runs. */
export function useScalarList(project: string, job: string, facts: JobFacts): Resource<Reading<ScalarListJson>> {
  const list = useJson<Reading<ScalarListJson>>(paths.scalars(project, job));
  useEffect(() => {
    if (facts.changes > 0) list.reload();
  }, [facts.changes]);
  const running = facts.job.data !== undefined && !hasEnded(facts.job.data);
  const long = (list.data?.items?.length ?? 0) > LONG_LIST;
  useEvery(list.data?.reading ? READING_MS : running ? (long ? LONG_LIST_MS : LIVE_MS) : null, list.reload);
  return list;
}
