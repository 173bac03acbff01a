import type { JobChangesJson } from "proto/control/v1/job_rows_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import { watch } from "./live.ts";
import type { Liveness } from "./watch_stream.ts";

export interface LiveOptions {
  /** JobRows.resumeToken of the list that is shown; undefined waits for it, "" begins now. */
  readonly token: string | undefined;
  /** Jobs whose logs' lengths are wanted. */
  readonly logsOf?: readonly string[];
  readonly changed: (changes: JobChangesJson) => void;
  /** Changes were missed: ask again for what is shown. */
  readonly missed: () => void;
}

/** Follows a project's jobs while the component is there, and says how fresh the page is. */
export function useLive(project: string, options: LiveOptions): Liveness | undefined {
  const [state, setState] = useState<Liveness>();
  const latest = useRef(options);
  latest.current = options;
  const isReady = options.token !== undefined;
  const logs = options.logsOf?.join() ?? "";
  useEffect(() => {
    if (!isReady) return;
    return watch(project, latest.current.token ?? "", latest.current.logsOf ?? [], (message) => {
      if (message.kind === "changed") latest.current.changed(message.changes);
      else if (message.kind === "missed") latest.current.missed();
      else setState(message.state);
    });
  }, [project, isReady, logs]);
  return state;
}
