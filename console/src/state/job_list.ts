import type { JobChangesJson, JobRowsJson, JobSummaryJson } from "proto/control/v1/job_rows_pb";
import { useEffect, useRef } from "preact/hooks";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { useLive } from "../live/use.ts";
import type { Liveness } from "../live/watch_stream.ts";
import { withoutTerm } from "../text/job_filter.ts";
import { afterChanges, type Rows, shown } from "../text/job_rows.ts";
import { useAtMostEvery } from "./every.ts";
import { type Kept, type Page, type Paged, usePages } from "./pages.ts";

const PAGE_SIZE = 100;
/** With a filter only the server can say whether a changed job is in the list. It is asked this often at most. */
const ASK_AGAIN_MS = 1000;
const COUNT_AGAIN_MS = 3000;

export interface JobList extends Omit<Paged<unknown>, "data" | "change"> {
  readonly jobs: Rows["jobs"];
  readonly waiting: number;
  readonly showWaiting: () => void;
  readonly summary: JobSummaryJson | undefined;
  readonly liveness: Liveness | undefined;
}

/** With the token of the first page: changes are heard of from there on. */
interface Listed extends Rows {
  readonly token: string | undefined;
}

interface JobPage extends Page {
  readonly jobs: Rows["jobs"];
  /** Of a first page; later ones have none. */
  readonly token: string | undefined;
}

const NONE: Listed = { jobs: [], waiting: [], token: undefined };

/** The list that was shown last: who comes back finds it as it was, and hears what has changed since. */
let kept: (Kept<Listed> & { readonly key: string }) | undefined;

/** A project's jobs that match a filter, page by page, with what changes. */
export function useJobList(project: string, filter: string): JobList {
  const path = paths.jobRows(project);
  const key = `${path} ${filter}`;
  const list = usePages<Listed, JobPage>({
    key,
    none: NONE,
    ask: async (pageToken, signal) => {
      const page = await getJson<JobRowsJson>(withQuery(path, { filter, pageSize: PAGE_SIZE, pageToken }), signal);
      return { jobs: page.jobs ?? [], next: page.nextPageToken || null, token: page.resumeToken || undefined };
    },
    joined: (rows, page) => ({ ...rows, jobs: [...rows.jobs, ...page.jobs], token: rows.token ?? page.token ?? "" }),
    lengthOf: (rows) => rows.jobs.length,
    kept: (wanted) => (kept?.key === wanted ? kept : undefined),
  });
  const { data: rows, next, change, begun, ...paged } = list;
  // Of all states, so that one can go from one to another.
  const summary = useJson<JobSummaryJson>(withQuery(paths.summarize(project), { filter: withoutTerm(filter, "state") }));
  const countAgain = useAtMostEvery(COUNT_AGAIN_MS, summary.reload);
  const shownList = useRef("");
  shownList.current = key;
  useEffect(() => {
    if (begun) kept = { key, data: rows, next };
  }, [begun, rows, next]);

  const take = (changes: JobChangesJson) => change((old) => ({ ...old, ...afterChanges(old, changes, isAtTop()) }));
  const again = useAtMostEvery(ASK_AGAIN_MS, () => {
    const asked = shownList.current;
    getJson<JobRowsJson>(withQuery(path, { filter, pageSize: PAGE_SIZE })).then(
      (page) => {
        if (shownList.current !== asked) return;
        take({ changes: (page.jobs ?? []).map((job) => ({ jobId: job.jobId ?? "", job })) });
      },
      () => shownList.current === asked && paged.reload(), // that says what is wrong
    );
  });
  const changed = (changes: JobChangesJson) => {
    countAgain();
    if (filter === "") return take(changes);
    const known = new Set(rows.jobs.map((row) => row.jobId));
    const own = (changes.changes ?? []).filter((one) => known.has(one.jobId ?? ""));
    take({ changes: own });
    if (own.length < (changes.changes ?? []).length) again();
  };
  const liveness = useLive(project, { token: rows.token, changed, missed: paged.reload });
  return {
    ...paged,
    begun,
    jobs: rows.jobs,
    waiting: rows.waiting.length,
    showWaiting: () => {
      change((old) => ({ ...old, ...shown(old) }));
      scrollTo(0, 0);
    },
    summary: summary.data,
    liveness,
  };
}

function isAtTop(): boolean {
  return scrollY < 8;
}
