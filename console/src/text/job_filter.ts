// The filter of jobs.list as a text that buttons and the reader both change. Pure. The language is the server's
// (docs/requests.md); only terms of the form PATH=VALUE at the top level, joined by AND, are understood here: others stay.
import type { JobSummaryJson } from "proto/control/v1/job_rows_pb";
import { time } from "./format.ts";

/** Fields that the filter knows, with an example or what they are. */
const FIELDS: readonly (readonly [string, string])[] = [
  ["state", "QUEUED, RUNNING, FAILED …"],
  ["jobId", "the job's name; \"census*\" for a beginning"],
  ["displayName", "as jobs of Vertex AI have it; their number is a word of its own: 7110512376444053982"],
  ["labels.", "a label of the job"],
  ["createTime", "createTime>\"2026-01-31\""],
  ["startTime", "startTime>\"2026-01-31T12:00:00Z\""],
  ["endTime", ""],
  ["errorMessage", "errorMessage:\"out of memory\""],
  ["trainingInput.region", ""],
  ["trainingInput.scaleTier", "BASIC, CUSTOM …"],
  ["trainingInput.runtimeVersion", ""],
  ["trainingInput.pythonModule", ""],
  ["trainingInput.jobDir", ""],
];

const STATES = ["QUEUED", "PREPARING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLING", "CANCELLED"];
const PLAIN = /^[A-Za-z0-9_.-]+$/;

function quoted(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** A path with a label's key in it, quoted where it needs that: labels."a.b" */
function pathOf(path: string): string {
  const key = path.startsWith("labels.") ? path.slice("labels.".length) : "";
  return key === "" || /^[A-Za-z0-9_-]+$/.test(key) ? path : `labels.${quoted(key).startsWith('"') ? quoted(key) : `"${key}"`}`;
}

/** The filter's parts between top-level ANDs, as they are written. */
export function terms(filter: string): string[] {
  const found: string[] = [];
  let begin = 0;
  let depth = 0;
  for (let at = 0; at < filter.length; at += 1) {
    const character = filter[at];
    if (character === '"') {
      for (at += 1; at < filter.length && filter[at] !== '"'; at += 1) if (filter[at] === "\\") at += 1;
    } else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (depth === 0 && /\sAND\s/.test(filter.slice(at, at + 5))) {
      found.push(filter.slice(begin, at).trim());
      at += 4;
      begin = at + 1;
    }
  }
  found.push(filter.slice(begin).trim());
  return found.filter((term) => term !== "");
}

/** Whether a term needs brackets beside an AND. */
function bracketed(term: string): string {
  return /\sOR\s/.test(term) && !term.startsWith("(") ? `(${term})` : term;
}

function joined(all: readonly string[]): string {
  return all.length === 1 ? (all[0] ?? "") : all.map(bracketed).join(" AND ");
}

/** ":" (has) is as good as "=" for what buttons set: states and labels. */
function plainTerm(term: string): string {
  return term.replace(/\s*[=:]\s*/, "=");
}

function isTermOf(term: string, path: string): boolean {
  return plainTerm(term).startsWith(`${pathOf(path)}=`);
}

export function withTerm(filter: string, path: string, value: string): string {
  const term = `${pathOf(path)}=${quoted(value)}`;
  const all = terms(filter);
  return joined(all.includes(term) ? all : [...all, term]);
}

export function withoutTerm(filter: string, path: string): string {
  return joined(terms(filter).filter((term) => !isTermOf(term, path)));
}

export function hasTerm(filter: string, path: string, value: string): boolean {
  return terms(filter).some((term) => plainTerm(term) === `${pathOf(path)}=${quoted(value)}`);
}

/** Whether jobs have trials, as the filter says it. */
const KINDS = { tuning: "trainingInput.hyperparameters:*", training: "NOT trainingInput.hyperparameters:*" } as const;
export type JobKind = keyof typeof KINDS;

export function kindOf(filter: string): JobKind | undefined {
  const all = terms(filter);
  return (Object.keys(KINDS) as JobKind[]).find((kind) => all.includes(KINDS[kind]));
}

/** With jobs of that kind only; undefined: of both. */
export function withKind(filter: string, kind: JobKind | undefined): string {
  const others = terms(filter).filter((term) => !(Object.values(KINDS) as string[]).includes(term));
  return joined(kind === undefined ? others : [...others, KINDS[kind]]);
}

/** With jobs only that were created before a time, which an address names; what is no time changes nothing. */
export function withBefore(filter: string, before: string | null): string {
  const ms = time(before ?? "");
  return ms === undefined ? filter : joined([...terms(filter), `createTime<"${new Date(ms).toISOString()}"`]);
}

export interface Completion {
  /** The filter with it. */
  readonly text: string;
  readonly shown: string;
  readonly hint: string;
  /** It makes a whole filter. */
  readonly whole: boolean;
}

const CHOICES_MAX = 12;

/** What the end of the text may go on with: a field, or a field's value. */
export function completions(text: string, summary: JobSummaryJson | undefined): Completion[] {
  const word = /(?:^|\s|\()([^\s()]*)$/.exec(text)?.[1] ?? "";
  const before = text.slice(0, text.length - word.length);
  const value = /^(.+?)([=:])(.*)$/.exec(word);
  const all = value ? valuesOf(value[1] ?? "", value[2] ?? "=", summary) : fieldsOf(summary);
  const typed = word.toLowerCase();
  return all
    .filter(({ shown }) => shown.toLowerCase().startsWith(typed) && shown !== word)
    .slice(0, CHOICES_MAX)
    .map((choice) => ({ ...choice, text: before + choice.shown }));
}

type Choice = Omit<Completion, "text">;

function fieldsOf(summary: JobSummaryJson | undefined): Choice[] {
  const keys = [...new Set((summary?.labels ?? []).map((label) => label.key ?? ""))];
  const labels = keys.map((key) => ({ shown: `${pathOf(`labels.${key}`)}=`, hint: "label", whole: false }));
  const fields = FIELDS.filter(([name]) => name !== "labels." || keys.length === 0);
  return [...fields.map(([name, hint]) => ({ shown: name.endsWith(".") ? name : `${name}=`, hint, whole: false })), ...labels];
}

function valuesOf(path: string, sign: string, summary: JobSummaryJson | undefined): Choice[] {
  const choice = (value: string, jobs: string | number | undefined) =>
    ({ shown: path + sign + quoted(value), hint: jobs === undefined ? "" : `${jobs} jobs`, whole: true });
  if (path === "state") return STATES.map((state) => choice(state, summary?.byState?.[state]));
  return (summary?.labels ?? [])
    .filter((label) => pathOf(`labels.${label.key ?? ""}`) === path)
    .map((label) => choice(label.value ?? "", label.jobs));
}
