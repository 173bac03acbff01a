// What components ask of the server.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, getJson } from "./http.ts";

/** An answer that a component shows. While it is loaded again the answer before stays. */
export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  /** When the answer came, ms since 1970; undefined: there is none. */
  readonly at?: number | undefined;
  /** Asks again. */
  readonly reload: () => void;
}

/** Asks for JSON whenever the path changes; null asks nothing. */
export function useJson<T>(path: string | null): Resource<T> {
  return useAnswer<T>(path, (signal) => getJson<T>(path ?? "", signal));
}

/** As useJson, for what takes more than one GET. `key` says when to ask again; null asks nothing. */
export function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; at?: number; error?: ApiError; loading: boolean }>({
    key,
    loading: key !== null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  // While an answer is on its way another question waits for it: else nothing would arrive while things change.
  const asking = useRef({ key, busy: false, again: false });
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    const mine = { key, busy: true, again: false };
    asking.current = mine;
    const over = () => {
      mine.busy = false;
      if (mine.again && !abort.signal.aborted) setRound((before) => before + 1);
    };
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, loading: true }));
    latest.current(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ key, data, at: Date.now(), loading: false }),
      (error: unknown) =>
        !abort.signal.aborted &&
        setState((old) => ({ ...old, key, error: asApiError(error), loading: false })),
    ).finally(over);
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => {
    if (asking.current.busy) asking.current.again = true;
    else setRound((before) => before + 1);
  }, []);
  const current = state.key === key;
  return {
    data: current ? state.data : undefined,
    at: current ? state.at : undefined,
    error: current ? state.error : undefined,
    loading: current ? state.loading : key !== null,
    reload,
  };
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, error instanceof Error ? error.message : String(error));
}
