// Trials of a tuning job or a study, as pages show them. Pure.
import { number } from "./format.ts";

export interface Parameter {
  readonly name: string;
  /** Of its numbers; undefined: it has words. */
  readonly bounds: { readonly min: number; readonly max: number } | undefined;
  /** What it may be, where that is a list. */
  readonly choices: readonly string[];
  readonly scale: "linear" | "log" | "reverseLog";
}

export interface TrialPoint {
  readonly step: number;
  /** Seconds since 1970, or since the trial's start: undefined where nobody said. */
  readonly at: number | undefined;
  readonly value: number;
}

export interface Trial {
  readonly id: string;
  /** As the API says it: SUCCEEDED, COMPLETED, INFEASIBLE … */
  readonly state: string;
  readonly values: Readonly<Record<string, string>>;
  /** The final measurement; undefined: there is none. */
  readonly metric: number | undefined;
  readonly step: number | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly stoppedEarly: boolean;
  /** Why it failed, was stopped or waits; empty: nothing to say. */
  readonly reason: string;
  readonly points: readonly TrialPoint[];
}

export interface Tuning {
  readonly metric: string;
  readonly maximize: boolean;
  readonly parameters: readonly Parameter[];
  readonly trials: readonly Trial[];
}

/** How a trial ended: one that was stopped early did not run through, although the API counts it among those that succeeded. */
export function outcome({ state, stoppedEarly }: Pick<Trial, "state" | "stoppedEarly">): string {
  return stoppedEarly && (state === "SUCCEEDED" || state === "COMPLETED") ? "STOPPED_EARLY" : state;
}

/** Whether a value is better than another one. */
export function isBetter(value: number, other: number, maximize: boolean): boolean {
  return maximize ? value > other : value < other;
}

/** The best trial: of those with a result that is a number, the first of equals. */
export function bestOf({ trials, maximize }: Tuning): Trial | undefined {
  let best: Trial | undefined;
  for (const trial of trials) {
    if (trial.metric === undefined || !Number.isFinite(trial.metric)) continue;
    if (best?.metric === undefined || isBetter(trial.metric, best.metric, maximize)) best = trial;
  }
  return best;
}

/** Trials and the best result so far, in the order of trials: from 1. */
export function progress({ trials, maximize }: Tuning) {
  const own = { xs: [] as number[], ys: [] as number[] };
  const best = { xs: [] as number[], ys: [] as number[] };
  for (const [at, { metric }] of trials.entries()) {
    if (metric === undefined || !Number.isFinite(metric)) continue;
    own.xs.push(at + 1);
    own.ys.push(metric);
    const before = best.ys.at(-1);
    if (before !== undefined && !isBetter(metric, before, maximize)) continue;
    best.xs.push(at + 1);
    best.ys.push(metric);
  }
  const last = best.ys.at(-1);
  if (last !== undefined && best.xs.at(-1) !== trials.length) {
    best.xs.push(trials.length);
    best.ys.push(last);
  }
  return { own, best };
}

/** A column of the table: a parameter's name after "p:", or one of these. */
export type Column = string;
export const COLUMNS = { trial: "trial", state: "state", metric: "metric", elapsed: "elapsed" } as const;
export const parameterColumn = (name: string): Column => `p:${name}`;

export interface Order {
  readonly column: Column;
  readonly descending: boolean;
}

/** "metric" or "-p:learning_rate"; a minus is descending. Who chose nothing sees the best trial first. */
export function orderOf(text: string | null, maximize: boolean): Order {
  if (!text) return { column: COLUMNS.metric, descending: maximize };
  return text.startsWith("-") ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

export function orderText({ column, descending }: Order, maximize: boolean): string | null {
  if (column === COLUMNS.metric && descending === maximize) return null;
  return (descending ? "-" : "") + column;
}

const byWords = new Intl.Collator("en", { numeric: true }).compare;

/** Trials by a column; those without a value there are last, whichever way. */
export function sorted(trials: readonly Trial[], { column, descending }: Order): Trial[] {
  const keys = new Map(trials.map((trial) => [trial, keyOf(trial, column)]));
  const sign = descending ? -1 : 1;
  return trials.toSorted((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    if (left === undefined || right === undefined) return (left === undefined ? 1 : 0) - (right === undefined ? 1 : 0);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * byWords(String(left), String(right));
  });
}

function keyOf(trial: Trial, column: Column): number | string | undefined {
  if (column === COLUMNS.metric) return trial.metric !== undefined && Number.isFinite(trial.metric) ? trial.metric : undefined;
  if (column === COLUMNS.state) return outcome(trial);
  if (column === COLUMNS.elapsed) return elapsed(trial);
  if (!column.startsWith("p:")) return trial.id;
  const text = trial.values[column.slice(2)];
  const value = Number(text);
  return text === undefined || text === "" ? undefined : Number.isNaN(value) ? text : value;
}

function elapsed({ start, end }: Trial): number | undefined {
  return start && end ? Date.parse(end) - Date.parse(start) : undefined;
}

/** A parameter's value, as short as a number may be. */
export function valueText(text: string | undefined): string {
  if (text === undefined) return "–";
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? text : number(value);
}
