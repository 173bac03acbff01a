// Where a job's log has a traceback. The server looks at a bounded part of the log at a time: it is asked to go on.
import type { LogMatchesJson } from "proto/control/v1/log_window_pb";
import { num } from "../text/format.ts";
import { TRACEBACK } from "../text/log_errors.ts";

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TracebackPlace {
  /** What comes before `from`, the last one first; else from there on. */
  readonly backward: boolean;
  /** undefined: from the end that the direction begins at. */
  readonly from?: number | undefined;
  /** What the lines have to match. */
  readonly filter: Query;
}

/** The number of the nearest line with a traceback in a direction; undefined: there is none. */
export async function nearestTraceback(search: (query: Query) => Promise<LogMatchesJson>,
                                       { backward, from: begin, filter }: TracebackPlace): Promise<number | undefined> {
  for (let from = begin; ;) {
    const found = await search({ ...filter, query: TRACEBACK, matchCase: true, count: 1, from, ...(backward ? { backward } : {}) });
    const line = found.lines?.[0];
    if (line !== undefined) return num(line.number);
    const to = num(found.searchedTo);
    if (found.complete || (from !== undefined && (backward ? to >= from : to <= from))) return undefined;
    from = to;
  }
}
