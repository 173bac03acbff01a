import type { Liveness } from "../live/watch_stream.ts";
import { clockZone } from "../text/format.ts";
import "./LiveMark.css";

/** How fresh the page is: never stale in silence. */
export function LiveMark({ state }: { readonly state: Liveness | undefined }) {
  if (state === undefined) return <span class="live" />;
  if (state.kind === "live") return <span class="live on" role="status">Live</span>;
  const words = state.kind === "refused" ? "not live" : "reconnecting";
  return <span class="live off" role="status">{words}, as of {clockZone(state.since)}</span>;
}
