import type { JobTimeline_EntryJson } from "proto/control/v1/timeline_pb";
import { useState } from "preact/hooks";
import { clock, day, exact, shortNumbers, time } from "../text/format.ts";
import { Button } from "./Button.tsx";
import { Text } from "./Text.tsx";
import "./LifeList.css";

const FIRST = 30;
const MORE = 300;
const SHORT = 200; // characters of a detail that are seen at once
const SHORT_LINES = 3;

/** What happened, newest first. */
export function LifeList({ entries }: { readonly entries: readonly JobTimeline_EntryJson[] }) {
  const [count, setCount] = useState(FIRST);
  const rest = entries.length - count;
  return (
    <div>
      <ol class="life" reversed>
        {entries
          .slice(-count)
          .reverse()
          .map((entry) => {
            const at = time(entry.time);
            return (
              <li key={entry.seq} class={entry.trouble ? "trouble" : ""}>
                {at === undefined ? (
                  <span />
                ) : (
                  <time dateTime={entry.time ?? ""} title={exact(at)}>
                    {dayAndClock(at)}
                  </time>
                )}
                <span class="dot" role="img" aria-label={entry.trouble ? "Trouble" : "Event"} />
                <span>
                  <Text value={shortNumbers(entry.text || (entry.kind ?? ""))} longest={1000} />
                  {entry.detail && <Detail text={shortNumbers(entry.detail)} />}
                </span>
              </li>
            );
          })}
      </ol>
      {rest > 0 && (
        <Button kind="quiet" onClick={() => setCount(count + MORE)}>
          Show {Math.min(rest, MORE)} earlier
        </Button>
      )}
    </div>
  );
}

/** Why; a long one opens. */
function Detail({ text }: { readonly text: string }) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (text.length <= SHORT && lines.length <= SHORT_LINES) {
    return (
      <span class="detail">
        <Text value={text} />
      </span>
    );
  }
  return (
    <details class="detail">
      <summary>
        <Text value={lines[0]} longest={SHORT} />
      </summary>
      <Text value={text} longest={20_000} />
    </details>
  );
}

/** Today's by the clock, others with their day: "11-22 14:05". */
function dayAndClock(at: number): string {
  return day(at) === day(Date.now()) ? clock(at) : `${day(at).slice(5)} ${clock(at).slice(0, 5)}`;
}
