import type { JobSummaryJson } from "proto/control/v1/job_rows_pb";
import { num } from "../text/format.ts";
import { hasTerm, type JobKind, kindOf, withKind, withoutTerm, withTerm } from "../text/job_filter.ts";
import { Button } from "./Button.tsx";
import { stateWord } from "./StateChip.tsx";

const STATES = ["QUEUED", "PREPARING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"];

interface Props {
  readonly summary: JobSummaryJson | undefined;
  readonly filter: string;
  readonly onChange: (filter: string) => void;
}

/** One button for each state and each kind that jobs have: filters by it. */
export function JobChips({ summary, filter, onChange }: Props) {
  const counts = summary?.byState ?? {};
  const shown = STATES.filter((state) => num(counts[state]) > 0 || hasTerm(filter, "state", state));
  const kind = kindOf(filter);
  const tuning = num(summary?.tuning);
  const kinds: Record<JobKind, number> = { tuning, training: num(summary?.jobs) - tuning };
  const hasState = withoutTerm(filter, "state") !== filter;
  const more = summary?.more ? "+" : "";
  const hasKinds = kind !== undefined || (kinds.tuning > 0 && kinds.training > 0);
  if (shown.length === 0 && !hasKinds) return null;
  return (
    <div class="chips">
      <div class="chips" role="group" aria-label="States">
        {shown.map((state) => {
          const on = hasTerm(filter, "state", state);
          const others = withoutTerm(filter, "state");
          const toggle = () => onChange(on ? others : withTerm(others, "state", state));
          return (
            <Button key={state} onClick={toggle} pressed={on}>
              {stateWord(state)} <span class="soft">{num(counts[state]).toLocaleString("en-US")}{more}</span>
            </Button>
          );
        })}
      </div>
      {hasKinds && (
        <div class="chips" role="group" aria-label="Kinds">
          {(["training", "tuning"] as const).map((one) => (
            <Button key={one} pressed={kind === one} onClick={() => onChange(withKind(filter, kind === one ? undefined : one))}>
              {one === "tuning" ? "Tuning" : "Single runs"}
              {/* The counts are of all states, and of the kind that is shown. */}
              {!hasState && (kind ?? one) === one && <span class="soft"> {kinds[one].toLocaleString("en-US")}{more}</span>}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
