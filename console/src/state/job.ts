import type { JobStatusJson } from "proto/control/v1/status_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { useEffect, useState } from "preact/hooks";
import { paths } from "../api/paths.ts";
import { type Resource, useJson } from "../api/use.ts";
import { useLive } from "../live/use.ts";
import type { Liveness } from "../live/watch_stream.ts";
import { num } from "../text/format.ts";

/** What a job's pages share. */
export interface JobFacts {
  /** As the ml API has it. */
  readonly job: Resource<JobJson>;
  /** What this server knows beyond it. */
  readonly status: Resource<JobStatusJson>;
  readonly liveness: Liveness | undefined;
  /** Lines of its log as last heard; undefined: nothing was heard yet. */
  readonly logLines: number | undefined;
  /** Grows with each change of the job or of one of its trials: ask again for what is shown. */
  readonly changes: number;
  /** Trials that changed last. */
  readonly changedTrials: readonly string[];
}

/** The job that was looked at last: its other views begin with what is known of it, and nothing jumps. */
let known: { readonly key: string; readonly job: JobJson | undefined; readonly status: JobStatusJson | undefined } | undefined;

/** With an older answer until there is one; not beside the reason why there is none. */
function begun<T>(of: Resource<T>, before: T | undefined): Resource<T> {
  return of.data === undefined && of.error === undefined && before !== undefined ? { ...of, data: before } : of;
}

/** A job, kept up to date. */
export function useJob(project: string, jobId: string): JobFacts {
  const key = paths.job(project, jobId);
  const before = known?.key === key ? known : undefined;
  const job = begun(useJson<JobJson>(key), before?.job);
  const status = begun(useJson<JobStatusJson>(paths.status(project, jobId)), before?.status);
  useEffect(() => {
    if (job.data !== undefined) known = { key, job: job.data, status: status.data };
  }, [key, job.data, status.data]);
  const [news, setNews] = useState<{ count: number; trials: readonly string[] }>({ count: 0, trials: [] });
  const [lines, setLines] = useState<number>();
  const again = (trials: readonly string[] = []) => setNews(({ count }) => ({ count: count + 1, trials }));
  const liveness = useLive(project, {
    token: "",
    logsOf: [jobId],
    changed: ({ changes, logs }) => {
      const own = changes?.find((change) => change.jobId === jobId);
      if (own) again(own.trialIds ?? []);
      const length = logs?.find((log) => log.jobId === jobId);
      if (length) setLines(num(length.lines));
    },
    missed: again,
  });
  const isLive = liveness?.kind === "live";
  useEffect(() => {
    if (isLive) again(); // what changed between the first answers and the stream's begin
  }, [isLive]);
  useEffect(() => {
    if (news.count === 0) return;
    job.reload();
    status.reload();
  }, [news.count]);
  return { job, status, liveness, logLines: lines, changes: news.count, changedTrials: news.trials };
}

const ENDED = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);

export function hasEnded(job: JobJson | undefined): boolean {
  return ENDED.has(job?.state ?? "");
}
