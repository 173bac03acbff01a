// What a list of lines shows: rows, some of which are here.
import type { LogWindowJson } from "proto/control/v1/log_window_pb";
import type { ApiError } from "../api/http.ts";
import type { LogLine } from "../text/log_lines.ts";

/** Asks for a window of lines: {first: 0, count: 1000}. */
export type AskLines = (query: Record<string, string | number | boolean>, signal: AbortSignal) => Promise<LogWindowJson>;

export interface SourceEvents {
  /** Rows were added or came in; `shift`: so many of them before the first that was there (negative: taken away). */
  changed(shift: number): void;
  /** All rows are others now: show this one. */
  replaced(row: number): void;
  /** Lines of the whole log. */
  total(lines: number): void;
  /** undefined: it works again. */
  failed(error: ApiError | undefined): void;
}

export interface LineSource {
  /** That can be scrolled over. */
  readonly rows: number;
  /** There may be rows, but the server has not found any yet. */
  readonly looking: boolean;
  row(at: number): LogLine | undefined;
  /** The number of a row's line, also of one that is not here yet. */
  numberOf(row: number): number;
  /** The row of a line, or of the next one that is shown; undefined: it is not here, goTo() gets it. */
  rowOf(line: number): number | undefined;
  /** Rows that are in view. */
  want(first: number, last: number): void;
  /** Gets the rows around a line; Infinity: the end. replaced() or changed() follows. */
  goTo(line: number): void;
  /** The log has so many lines now. */
  grow(total: number): void;
  /** Tries again after a failure. */
  retry(): void;
  close(): void;
}
