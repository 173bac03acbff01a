import type { LogSummaryJson } from "proto/control/v1/log_window_pb";
import type { ComponentChildren } from "preact";
import { setQuery } from "../../router.ts";
import type { LogFilter } from "../../log/requests.ts";
import { count, num } from "../../text/format.ts";
import { plain } from "../../text/plain.ts";
import { Button } from "../Button.tsx";
import { LogGoTo } from "./LogGoTo.tsx";

interface Props {
  readonly summary: LogSummaryJson | undefined;
  readonly filter: LogFilter;
  readonly wrap: boolean;
  readonly columns: boolean;
  readonly near: number;
  readonly onLine: (line: number) => void;
  readonly onTime: (ms: number) => Promise<void>;
  readonly onBegin: () => void;
  readonly onEnd: () => void;
  readonly onError: () => void;
  /** It was looked for, and there is none. */
  readonly noError: boolean;
  /** The box to search with. */
  readonly children: ComponentChildren;
}

const LEVELS = [
  ["", "All severities"], ["INFO", "Info and above"], ["WARNING", "Warnings and above"], ["ERROR", "Errors"],
] as const;

/** Which lines are shown, and where to go in them. */
export function LogToolbar({ summary, filter, wrap, columns, children, ...rest }: Props) {
  const replicas = withOwn(summary?.replicas ?? [], filter.replica);
  const trials = withOwn(summary?.trialIds ?? [], filter.trial);
  const isKnown = LEVELS.some(([name]) => name === filter.severity);
  const levels = isKnown ? LEVELS : [...LEVELS, same(filter.severity)];
  const errors = (summary?.buckets ?? []).reduce((sum, bucket) => sum + num(bucket.errors), 0);
  return (
    <div class="log-toolbar" role="group" aria-label="The log">
      {children}
      {replicas.length > 1 && (
        <Choice label="Replica" name="replica" value={filter.replica} options={[["", "All replicas"], ...replicas.map(same)]} />
      )}
      {trials.length > 0 && (
        <Choice label="Trial" name="trial" value={filter.trial}
                options={[["", "All trials"], ...trials.map((id) => [id, `Trial ${id}`] as const)]} />
      )}
      <Choice label="Severity" name="severity" value={filter.severity} options={levels} />
      <span class="grow" />
      <LogGoTo near={rest.near} onLine={rest.onLine} onTime={rest.onTime} />
      <span class="log-group">
        <Button onClick={rest.onBegin} label="To the beginning" title="Beginning (g)">⤒</Button>
        <Button onClick={rest.onError}
                title={`First error, of stderr only if there is no other (e)${errors > 0 ? `; ${count(errors, "error")}` : ""}`}>
          {rest.noError ? "No error" : "First error"}
        </Button>
        <Button onClick={rest.onEnd} label="To the end" title="End, and follow it (G)">⤓</Button>
      </span>
      <Button pressed={wrap} title="Long lines over several rows (w)" onClick={() => toggle("wrap", wrap ? null : "on")}>
        Wrap
      </Button>
      <Button pressed={columns} title="Times, severities, replicas (c)" onClick={() => toggle("cols", columns ? "off" : "on")}>
        Columns
      </Button>
    </div>
  );
}

const toggle = (name: string, value: string | null) => setQuery({ [name]: value });
const same = (name: string) => [name, name] as const;

function withOwn(names: readonly string[], own: string): string[] {
  return own === "" || names.includes(own) ? [...names] : [...names, own];
}

function Choice({ label, name, value, options }: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
}) {
  return (
    <select class="field" aria-label={label} value={value}
            onChange={(event) => setQuery({ [name]: event.currentTarget.value, line: null })}>
      {options.map(([option, face]) => <option key={option} value={option}>{plain(face, 80)}</option>)}
    </select>
  );
}
