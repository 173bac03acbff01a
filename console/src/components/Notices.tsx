// What a page shows instead of its contents: nothing there, not there yet, or not to be had.
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/http.ts";
import type { Resource } from "../api/use.ts";
import { plain } from "../text/plain.ts";
import { Button } from "./Button.tsx";
import { Text } from "./Text.tsx";
import "./Notices.css";

/** Why there is nothing, and the next thing to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="notice empty">
      <p class="title">{plain(title)}</p>
      {children}
    </div>
  );
}

/** The server's own sentence. */
export function Failure({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) {
  return (
    <div class="notice failure" role="alert">
      <p>
        <Text value={error.message} />
      </p>
      {retry && <Button onClick={retry}>Retry</Button>}
    </div>
  );
}

/** Grey lines; seen only if it takes longer than 200 ms. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="notice loading" role="status">
      <span class="hidden-text">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} class="bone" />
      ))}
    </div>
  );
}

/** An answer, once it is there; until then, or if it is not to be had, what says so. */
export function Loaded<T>({ of, lines, children }: {
  readonly of: Resource<T>;
  readonly lines?: number;
  readonly children: (data: T) => ComponentChildren;
}) {
  if (of.data !== undefined) {
    return (
      <>
        {of.error && <Failure error={of.error} retry={of.reload} />}
        {children(of.data)}
      </>
    );
  }
  if (of.error) return <Failure error={of.error} retry={of.reload} />;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
}
