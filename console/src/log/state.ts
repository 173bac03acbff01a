// What a page shows of a log beside its lines.
import type { ApiError } from "../api/http.ts";
import type { LogSearch } from "./search.ts";

/** Where the reader begins. */
export type Begin = { readonly line: number; readonly share?: number } | "end";

export interface LogState {
  /** Lines of the whole log; undefined: nothing is known yet. */
  readonly total: number | undefined;
  readonly rows: number;
  /** Rows may still come: the list has none yet because the server is looking for them. */
  readonly looking: boolean;
  /** Lines in view. */
  readonly first: number;
  readonly last: number;
  readonly following: boolean;
  readonly atEnd: boolean;
  readonly error: ApiError | undefined;
  readonly search: LogSearch | undefined;
  /** Says that the search came further. */
  readonly searchRound: number;
}

export const NOTHING_YET: LogState = {
  total: undefined, rows: 0, looking: true, first: 0, last: 0, following: false, atEnd: false, error: undefined,
  search: undefined, searchRound: 0,
};
