// A job's life as phases of time and marks in them, made of its events. Pure.
import type { JobTimeline_EntryJson } from "proto/control/v1/timeline_pb";
import { duration, time } from "./format.ts";

export type PhaseKind = "queued" | "preparing" | "running" | "restarting" | "ending";

export interface Phase {
  readonly kind: PhaseKind;
  /** ms since 1970. */
  readonly from: number;
  /** undefined: it goes on. */
  readonly to: number | undefined;
  /** What went wrong meanwhile. */
  readonly marks: readonly Mark[];
}

export interface Mark {
  readonly at: number;
  readonly text: string;
}

export const PHASE_WORDS: Readonly<Record<PhaseKind, string>> = {
  queued: "Queued",
  preparing: "Preparing",
  running: "Running",
  restarting: "Restarting",
  ending: "Stopping",
};

const MARKED = new Set(["restart_decided", "maintenance_requested"]);

/** Times of a job whose events are not to be had. */
export interface LifeTimes {
  readonly createTime?: string;
  readonly startTime?: string;
  readonly runningTime?: string;
  readonly endTime?: string;
}

export function phasesOf(entries: readonly JobTimeline_EntryJson[], times: LifeTimes = {}): Phase[] {
  const phases: { kind: PhaseKind; from: number; to: number | undefined; marks: Mark[] }[] = [];
  const enter = (kind: PhaseKind, at: number) => {
    const last = phases.at(-1);
    if (last?.kind === kind && last.to === undefined) return;
    if (last) last.to ??= at;
    phases.push({ kind, from: at, to: undefined, marks: [] });
  };
  let before: PhaseKind = "preparing";
  for (const entry of entries.length > 0 ? entries : fromTimes(times)) {
    const at = time(entry.time);
    if (at === undefined) continue;
    const now = phases.at(-1)?.kind;
    if (entry.kind === "created") enter("queued", at);
    else if (entry.kind === "admitted") enter(now === "restarting" ? "restarting" : "preparing", at);
    else if (entry.kind === "running") enter("running", at);
    else if (entry.kind === "retry_decided" || entry.kind === "revoked") {
      if (now === "preparing" || now === "running") before = now;
      enter("restarting", at);
    } else if (entry.kind === "retry_started") enter(before, at);
    else if (entry.kind === "concluded" || entry.kind === "cancel_requested") enter("ending", at);
    else if (entry.kind === "ended") {
      const last = phases.at(-1);
      if (last) last.to = at;
    }
    if (entry.trouble || MARKED.has(entry.kind ?? "")) phases.at(-1)?.marks.push({ at, text: entry.text ?? "" });
  }
  return phases;
}

function fromTimes(times: LifeTimes): JobTimeline_EntryJson[] {
  const all = [
    ["created", times.createTime],
    ["admitted", times.startTime],
    ["running", times.runningTime],
    ["ended", times.endTime],
  ] as const;
  return all.flatMap(([kind, at]) => (at === undefined ? [] : [{ kind, time: at }]));
}

/** "Queued 2 s, preparing 12 s, running 1 h 2 min so far". */
export function lifeInWords(phases: readonly Phase[], now: number): string {
  const words = phases.map(({ kind, from, to }, at) => {
    const word = at === 0 ? PHASE_WORDS[kind] : PHASE_WORDS[kind].toLowerCase();
    return `${word} ${duration((to ?? now) - from)}${to === undefined ? " so far" : ""}`;
  });
  return words.join(", ");
}
