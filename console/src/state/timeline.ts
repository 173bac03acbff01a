import type { JobTimelineJson, JobTimeline_EntryJson } from "proto/control/v1/timeline_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError } from "../api/use.ts";

export interface Timeline {
  readonly entries: readonly JobTimeline_EntryJson[] | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

/** A job's events, all of them; with each change the new ones are asked for. */
export function useTimeline(project: string, job: string, changes: number): Timeline {
  const path = paths.events(project, job);
  const [entries, setEntries] = useState<readonly JobTimeline_EntryJson[]>();
  const [error, setError] = useState<ApiError>();
  const [round, setRound] = useState(0);
  const known = useRef<{ path: string; entries: readonly JobTimeline_EntryJson[] }>({ path, entries: [] });
  useEffect(() => {
    if (known.current.path !== path) known.current = { path, entries: [] };
    const abort = new AbortController();
    const load = async () => {
      for (;;) {
        const last = known.current.entries.at(-1)?.seq;
        const page = await getJson<JobTimelineJson>(withQuery(path, { afterSeq: last }), abort.signal);
        const fresh = (page.entries ?? []).filter((entry) => Number(entry.seq) > Number(last ?? 0));
        known.current = { path, entries: [...known.current.entries, ...fresh] };
        setEntries(known.current.entries);
        if (fresh.length === 0) return setError(undefined);
      }
    };
    load().catch((reason: unknown) => !abort.signal.aborted && setError(asApiError(reason)));
    return () => abort.abort();
  }, [path, changes, round]);
  return { entries, error, reload: () => setRound((count) => count + 1) };
}
