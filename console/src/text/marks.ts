// Events of a job as marks on a chart. Pure.
import type { JobTimeline_EntryJson } from "proto/control/v1/timeline_pb";
import { time } from "./format.ts";

/** A vertical line with a word. */
export interface Mark {
  /** As the axis counts. */
  readonly x: number;
  readonly word: string;
  /** What it means, in a sentence. */
  readonly text: string;
  readonly trouble: boolean;
}

/** The words of events that explain a curve; others are in the timeline. Kinds: record.proto, Event. */
const WORDS: Readonly<Record<string, string>> = {
  admitted: "admitted",
  revoked: "room taken",
  running: "running",
  replica_ended: "ended",
  restart_decided: "restart",
  maintenance_requested: "maintenance",
  retry_decided: "retry",
  retry_started: "retry",
  cancel_requested: "cancelled",
  concluded: "concluded",
};

const MARKS_MAX = 100;

/** Marks by time, in seconds since 1970; of too many, those of trouble. */
export function marksOf(entries: readonly JobTimeline_EntryJson[] | undefined): readonly Mark[] {
  const all: Mark[] = [];
  for (const entry of entries ?? []) {
    const at = time(entry.time);
    const word = WORDS[entry.kind ?? ""];
    if (at === undefined || word === undefined || entry.trialId) continue;
    const trouble = entry.trouble ?? false;
    all.push({ x: at / 1000, word: trouble && word === "ended" ? "failed" : word, text: entry.text ?? "", trouble });
  }
  return all.length <= MARKS_MAX ? all : all.filter((mark) => mark.trouble).slice(0, MARKS_MAX);
}
