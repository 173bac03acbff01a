// Lines of a log as pages hold them, and what a reader writes to go to one. Pure.
import type { LogLineShownJson } from "proto/control/v1/log_window_pb";
import { clock, num, time } from "./format.ts";

/** Small: tens of thousands of them are kept. */
export interface LogLine {
  readonly number: number;
  /** ms since 1970; NaN: it has no time. */
  readonly ms: number;
  /** "" is DEFAULT. */
  readonly severity: string;
  /** The program named no severity: ERROR only says that it wrote the line on stderr. */
  readonly ofStream: boolean;
  readonly replica: string;
  readonly trial: string;
  readonly text: string;
  /** Of the whole text, where `text` is only its beginning; else 0. */
  readonly bytes: number;
  /** A state of a progress bar, which the program wrote over. */
  readonly redraw: boolean;
  /** Further fields of a structured entry, as JSON, without those that all have; "" where there are none. */
  readonly fields: string;
}

const kept = new Map<string, string>();
const KEPT_MOST = 5000;

/** The same object for the same name: a replica's name is not kept once for each line. */
function once(name: string): string {
  const known = kept.get(name);
  if (known !== undefined) return known;
  if (kept.size < KEPT_MOST) kept.set(name, name);
  return name;
}

export function lineOf(json: LogLineShownJson): LogLine {
  const severity = json.severity === undefined || json.severity === "DEFAULT" ? "" : String(json.severity);
  return {
    number: num(json.number),
    ms: time(json.time) ?? Number.NaN,
    severity: once(severity),
    ofStream: json.severityOfStream ?? false,
    replica: once(json.replica ?? ""),
    trial: once(json.trialId ?? ""),
    text: json.text ?? "",
    bytes: num(json.textBytes),
    redraw: json.redraw ?? false,
    fields: fieldsOf(json.json),
  };
}

/** Where in its program a line comes from: all lines have these, and they are seen with the line's details. */
const USUAL = new Set(["created", "levelname", "lineno", "pathname", "thread", "timestampNanos", "timestampSeconds"]);

function fieldsOf(json: LogLineShownJson["json"]): string {
  const others = Object.entries(json ?? {}).filter(([name]) => !USUAL.has(name));
  return others.length === 0 ? "" : JSON.stringify(Object.fromEntries(others));
}

/** What a line costs in memory, about. */
export function weightOf(line: LogLine): number {
  return 120 + line.text.length + line.fields.length;
}

export const SEVERITIES = ["DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY"] as const;

const SHORT: Readonly<Record<string, string>> = {
  DEBUG: "dbg", INFO: "info", NOTICE: "note", WARNING: "warn",
  ERROR: "error", CRITICAL: "crit", ALERT: "alert", EMERGENCY: "emerg",
};

export function shortSeverity(severity: string): string {
  return SHORT[severity] ?? "";
}

/** What stands for a line's severity in the list, in at most 6 characters. */
export function severityMark({ severity, ofStream }: Pick<LogLine, "severity" | "ofStream">): string {
  return ofStream ? "stderr" : shortSeverity(severity);
}

/** A line's tone; one that is of stderr and nothing else is calm, and marked. */
export function toneOf({ severity, ofStream }: Pick<LogLine, "severity" | "ofStream">): ReturnType<typeof tone> | "stderr" {
  return ofStream ? "stderr" : tone(severity);
}

/** How loud it is: "" for what needs no colour. */
export function tone(severity: string): "" | "debug" | "warn" | "bad" {
  const rank = SEVERITIES.indexOf(severity as (typeof SEVERITIES)[number]);
  if (rank >= 4) return "bad";
  if (rank === 3) return "warn";
  return rank === 0 ? "debug" : "";
}

/** "14:05:09.123". */
export function clockMs(ms: number): string {
  return Number.isNaN(ms) ? "" : `${clock(ms)}.${String(new Date(ms).getMilliseconds()).padStart(3, "0")}`;
}

/** Lines that are chosen: "12" or "12-20" in an address. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export function parseRange(text: string | null): LineRange | null {
  const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text ?? "");
  if (!found) return null;
  const one = Number(found[1]);
  const other = found[2] === undefined ? one : Number(found[2]);
  return { first: Math.min(one, other), last: Math.max(one, other) };
}

export function printRange({ first, last }: LineRange): string {
  return first === last ? String(first) : `${first}-${last}`;
}

export type Goal = { readonly line: number } | { readonly ms: number };

/**
 * A line's number, or a time: "12,345"; "14:05", "14:05:09" on the day of `near`; "2026-11-23 14:05". Times are the
 * reader's. null: neither.
 */
export function parseGoal(text: string, near: number): Goal | null {
  const trimmed = text.trim();
  if (/^\d[\d,_ ']*$/.test(trimmed)) return { line: Number(trimmed.replace(/\D/g, "")) };
  const found = /^(?:(\d{4}-\d\d-\d\d)[ T]?)?(?:(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?)?(Z?)$/.exec(trimmed);
  if (!found || trimmed === "") return null;
  const [, day, hour = "0", minute = "00", second = "00", zone] = found;
  const two = (value: number) => String(value).padStart(2, "0");
  const date = new Date(near);
  const today = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const ms = Date.parse(`${day ?? today}T${two(Number(hour))}:${minute}:${second}${zone}`);
  return Number.isNaN(ms) ? null : { ms };
}

/** Where a plain text is found in another, without case: [begin, end) pairs, so many at most. */
export function placesOf(text: string, wanted: string, most: number): [number, number][] {
  if (wanted === "") return [];
  const all: [number, number][] = [];
  const where = text.toLowerCase();
  const what = wanted.toLowerCase();
  if (where.length !== text.length) return all; // letters that change their length with their case
  for (let at = where.indexOf(what); at >= 0 && all.length < most; at = where.indexOf(what, at + what.length)) {
    all.push([at, at + what.length]);
  }
  return all;
}
