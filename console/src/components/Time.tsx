import { useNow } from "../state/now.ts";
import { ago, duration, exact, time } from "../text/format.ts";

/** When something was: "5 min ago", the exact time on hover. */
export function Time({ at }: { readonly at: string | undefined }) {
  const now = useNow();
  const ms = time(at);
  if (ms === undefined) return <span class="soft">–</span>;
  return (
    <time dateTime={at ?? ""} title={exact(ms)} class="nowrap">
      {ago(ms, now)}
    </time>
  );
}

/** How long something took, or takes so far. */
export function Elapsed({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  const now = useNow();
  const begin = time(from);
  if (begin === undefined) return <span class="soft">–</span>;
  return <span class="nowrap">{duration((time(to) ?? now) - begin)}</span>;
}
