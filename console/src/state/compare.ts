import type { ScalarListJson } from "proto/control/v1/curves_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { type ApiError, getJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError, type Resource, useAnswer } from "../api/use.ts";
import { useLive } from "../live/use.ts";
import type { Liveness } from "../live/watch_stream.ts";
import { useEvery } from "./every.ts";
import { hasEnded } from "./job.ts";

export interface ComparedJob {
  readonly name: string;
  readonly job: JobJson | undefined;
  readonly curves: ScalarListJson;
  readonly error: ApiError | undefined;
}

export interface Compared extends Resource<readonly ComparedJob[]> {
  readonly liveness: Liveness | undefined;
}

async function ask(project: string, name: string, signal: AbortSignal): Promise<ComparedJob> {
  try {
    const [job, curves] = await Promise.all([
      getJson<JobJson>(paths.job(project, name), signal),
      getJson<ScalarListJson>(paths.scalars(project, name), signal),
    ]);
    return { name, job, curves, error: undefined };
  } catch (error) {
    return { name, job: undefined, curves: {}, error: asApiError(error) };
  }
}

const LIVE_MS = 5000;

/** Several jobs with their lists of curves, up to date. One that cannot be had says why; the others are there. */
export function useCompared(project: string, names: readonly string[]): Compared {
  const askAll = (signal: AbortSignal) => Promise.all(names.map((name) => ask(project, name, signal)));
  const all = useAnswer(`compare ${project} ${names.join()}`, askAll);
  const running = all.data?.some(({ job }) => job !== undefined && !hasEnded(job)) ?? false;
  useEvery(running ? LIVE_MS : null, all.reload);
  const liveness = useLive(project, {
    token: "",
    changed: ({ changes }) => {
      if (changes?.some((change) => names.includes(change.jobId ?? ""))) all.reload();
    },
    missed: all.reload,
  });
  return { ...all, liveness };
}
