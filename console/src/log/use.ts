// A log for a component: the controller of the elements that it renders.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { hasEnded, type JobFacts } from "../state/job.ts";
import { type LineRange, parseRange } from "../text/log_lines.ts";
import { LogController } from "./controller.ts";
import { type LogFilter, LogRequests } from "./requests.ts";
import { RowsView } from "./rows_view.ts";
import type { Begin, LogState } from "./state.ts";

export interface LogElements {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly spacer: RefObject<HTMLDivElement | null>;
  readonly box: RefObject<HTMLDivElement | null>;
}

export interface LogOptions {
  readonly project: string;
  readonly job: string;
  readonly filter: LogFilter;
  readonly query: URLSearchParams;
  readonly wrap: boolean;
  readonly chosen: LineRange | null;
  readonly facts: JobFacts;
}

export interface Log {
  readonly requests: LogRequests;
  readonly controller: LogController | undefined;
  readonly state: LogState | undefined;
}

export function useLog(elements: LogElements, { project, job, filter, query, wrap, chosen, facts }: LogOptions): Log {
  const { replica, severity, trial } = filter;
  const requests = useMemo(() => new LogRequests(project, job, { replica, severity, trial }),
                           [project, job, replica, severity, trial]);
  const [controller, setController] = useState<LogController>();
  const [state, setState] = useState<LogState>();
  const latest = useRef<LogState>(undefined);

  useEffect(() => {
    const { scroller, spacer, box } = elements;
    if (!scroller.current || !spacer.current || !box.current) return;
    const told = (now: LogState) => {
      latest.current = now;
      setState(now);
    };
    const view: RowsView = new RowsView(scroller.current, spacer.current, box.current, {
      moved: (first, last, atEnd) => own.moved(first, last, atEnd),
      scrolled: (down, atEnd) => own.scrolled(down, atEnd),
      rested: () => remember(own.state),
    });
    const own: LogController = new LogController(requests, view, told, beginOf(query, facts, latest.current));
    own.setWrap(wrap);
    own.choose(chosen);
    setController(own);
    return () => {
      own.close();
      view.close();
    };
  }, [requests]);

  useEffect(() => controller?.setWrap(wrap), [controller, wrap]);
  useEffect(() => controller?.choose(chosen), [controller, chosen]);
  useEffect(() => {
    if (facts.logLines !== undefined) controller?.grow(facts.logLines);
  }, [controller, facts.logLines, state?.total === undefined]);
  return { requests, controller, state };
}

/** The address of a line of this log as it is shown. */
export function hrefOf(line: number | string): string {
  const query = new URLSearchParams(location.search);
  query.set("line", String(line));
  return `${location.pathname}?${query}`;
}

/** A running job's log begins at its end, and so does a failed one's; what was seen before, where it was. */
function beginOf(query: URLSearchParams, facts: JobFacts, before: LogState | undefined): Begin {
  if (before !== undefined) return before.following ? "end" : { line: before.first, share: 0 };
  const range = parseRange(query.get("line"));
  if (range !== null) return { line: range.first };
  const seen = (history.state as { log?: number } | null)?.log;
  if (seen !== undefined) return { line: seen, share: 0 };
  const job = facts.job.data;
  return hasEnded(job) && job?.state !== "FAILED" ? { line: 0 } : "end";
}

/** Back comes to the same lines. */
function remember(state: LogState): void {
  const { log: _, ...others } = (history.state ?? {}) as { log?: number };
  history.replaceState(state.following ? others : { ...others, log: state.first }, "");
}
