import type { ApiError } from "../api/http.ts";
import { clockZone } from "../text/format.ts";
import { Button } from "./Button.tsx";
import "./LiveMark.css";

/** What is asked for, and not told of by itself. */
export interface Asked {
  /** When it was as it is shown, ms since 1970; undefined: nothing is shown yet. */
  readonly at?: number | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

/** How old a page is that hears of no changes, and a way to ask again. The oldest of several counts. */
export function AsOf({ of }: { readonly of: readonly Asked[] }) {
  const times = of.flatMap(({ at }) => (at === undefined ? [] : [at]));
  if (times.length === 0) return <span class="live" />;
  const failed = of.some(({ error }) => error !== undefined);
  const since = clockZone(Math.min(...times));
  return (
    <span class="as-of">
      {failed ? <span class="live off" role="status">no answer, as of {since}</span> : <span class="live">as of {since}</span>}
      <Button kind="quiet" label="Ask again" title="Ask again" onClick={() => of.forEach(({ reload }) => reload())}>↻</Button>
    </span>
  );
}
