// A list that the server gives page by page.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";

/** A list that is asked for anew is as long as before, page by page, so that its reader stays where he is; up to this. */
export const AGAIN_MOST = 20_000;

export interface Page {
  /** Of the page behind it; null: it is the last one. */
  readonly next: string | null;
}

export interface Paged<Data> {
  readonly data: Data;
  readonly loading: boolean;
  /** The first page has come. */
  readonly begun: boolean;
  /** There is nothing behind what is here. */
  readonly complete: boolean;
  /** Why the list could not be asked for. */
  readonly error: ApiError | undefined;
  /** Why the page behind what is here could not be asked for. */
  readonly endError: ApiError | undefined;
  /** When the list was asked for last with success, ms since 1970. */
  readonly at: number | undefined;
  /** Asks for the next page, unless that is on its way or has failed. */
  readonly more: () => void;
  /** Asks for the next page again. */
  readonly retry: () => void;
  /** Asks anew for as much as is here. */
  readonly reload: () => void;
  readonly change: (to: (data: Data) => Data) => void;
}

export interface Paging<Data, Of extends Page> {
  /** With another one it is another list. */
  readonly key: string;
  readonly none: Data;
  readonly ask: (pageToken: string, signal: AbortSignal) => Promise<Of>;
  /** `data` with the page behind it. */
  readonly joined: (data: Data, page: Of) => Data;
  readonly lengthOf: (data: Data) => number;
  /** A list that was shown before. */
  readonly kept?: (key: string) => Kept<Data> | undefined;
  /** What is here stays until there is something of another key. */
  readonly stays?: boolean;
  /** What was kept is asked for anew, too: nothing tells what has changed since. */
  readonly renews?: boolean;
}

export interface Kept<Data> {
  readonly data: Data;
  readonly next: string | null;
}

interface State<Data> extends Kept<Data> {
  readonly key: string;
  readonly loading: boolean;
  readonly at?: number | undefined;
  readonly error?: ApiError | undefined;
  readonly endError?: ApiError | undefined;
}

export function usePages<Data, Of extends Page>(paging: Paging<Data, Of>): Paged<Data> & Kept<Data> {
  const { key, none, stays = false } = paging;
  const latest = useRef(paging);
  latest.current = paging;
  const begin = (): State<Data> => ({ key, loading: true, ...(paging.kept?.(key) ?? { data: none, next: "" }) });
  const [held, setState] = useState<State<Data>>(begin);
  const asking = useRef<AbortController>(undefined);
  const isOther = held.key !== key;
  const state: State<Data> = !isOther ? held : stays ? { ...held, loading: true, error: undefined, endError: undefined } : begin();

  /** The next page; with "" the list anew, of so many rows at least. */
  const load = useCallback((from: string, wanted = 1) => {
    asking.current?.abort();
    const abort = new AbortController();
    asking.current = abort;
    const isFirst = from === "";
    setState((old) => ({ ...old, loading: true, endError: undefined }));
    gathered(latest.current, from, wanted, abort.signal).then(
      ({ data, pages, next }) => setState((old) => ({
        key,
        data: isFirst ? data : pages.reduce(latest.current.joined, old.data),
        next,
        at: isFirst ? Date.now() : old.at,
        loading: false,
      })),
      (reason: unknown) => {
        if (abort.signal.aborted) return;
        const failed = { [isFirst ? "error" : "endError"]: asApiError(reason) };
        setState((old) => ({ ...(old.key === key ? old : { key, data: none, next: "" }), ...failed, loading: false }));
      },
    );
  }, [key]);

  useEffect(() => {
    const kept = paging.kept?.(key);
    if (!stays || kept !== undefined) setState({ key, loading: false, ...(kept ?? { data: none, next: "" }) });
    if (kept === undefined) load("");
    else if (paging.renews) load("", Math.min(paging.lengthOf(kept.data), AGAIN_MOST));
    return () => asking.current?.abort();
  }, [key]);

  return {
    ...state,
    error: state.error,
    endError: state.endError,
    at: state.at,
    begun: state.next !== "" && state.key === key,
    complete: state.next === null && !state.loading,
    more: () => {
      if (state.next && !state.loading && !state.endError && !state.error) load(state.next);
    },
    retry: () => load(isOther ? "" : state.next ?? ""),  // a token is of its list alone
    reload: () => load("", Math.min(paging.lengthOf(state.data), AGAIN_MOST)),
    change: useCallback((to) => setState((old) => ({ ...old, data: to(old.data) })), []),
  };
}

async function gathered<Data, Of extends Page>({ none, ask, joined, lengthOf }: Paging<Data, Of>, from: string, wanted: number,
                                              signal: AbortSignal): Promise<Kept<Data> & { readonly pages: readonly Of[] }> {
  const pages: Of[] = [];
  let data = none;
  let next: string | null = from;
  do {
    const page: Of = await ask(next ?? "", signal);
    pages.push(page);
    data = joined(data, page);
    next = page.next;
  } while (next !== null && lengthOf(data) < wanted);
  return { data, pages, next };
}
