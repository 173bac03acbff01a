import { setQuery } from "../router.ts";
import { day, time } from "../text/format.ts";
import { Button } from "./Button.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Jumps to jobs of a day, in a list of any length. `before`: the time of the address; null: the newest are shown. */
export function JobsBefore({ before }: { readonly before: string | null }) {
  const ms = time(before ?? "");
  const jump = (event: Event) => {
    const { value, validity } = event.currentTarget as HTMLInputElement;
    const begin = Date.parse(`${value}T00:00:00`); // of the reader's time zone
    // A year that is typed is 2, 20 and 202 before it is 2026.
    if (!validity.valid || Number.isNaN(begin)) return;
    setQuery({ before: new Date(begin + DAY_MS).toISOString().replace(".000", "") }, { replace: false });
  };
  return (
    <span class="jobs-before">
      <label>
        <span class="soft">Up to </span>
        <input class="field" type="date" min="2000-01-01" onChange={jump}
               value={ms === undefined ? "" : day(ms - 1)}
               title="Jobs that were created on this day, and older ones" />
      </label>
      {before !== null && <Button onClick={() => setQuery({ before: null }, { replace: false })}>Newest</Button>}
    </span>
  );
}
