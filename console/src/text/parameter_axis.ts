// A parameter, or the metric, as an axis: from values to 0 … 1 and back. Pure.
import { extent, nearest } from "./columns.ts";
import { number } from "./format.ts";
import { listOf, listText, rangeOf } from "./query_list.ts";
import { type Column, COLUMNS, type Parameter, parameterColumn, type Trial, valueText } from "./trials.ts";

export interface Tick {
  /** 0 … 1 */
  readonly at: number;
  readonly text: string;
}

export interface ParameterAxis {
  /** The table's column of it. */
  readonly key: Column;
  readonly name: string;
  /** Where a trial is, 0 … 1; undefined: nowhere on it. */
  readonly of: (trial: Trial) => number | undefined;
  readonly ticks: readonly Tick[];
  /** What is at 0 … 1, in words. */
  readonly text: (at: number) => string;
}

/** Discrete values that are named on an axis. */
const LISTED_MAX = 8;

/** The axis of a parameter: by its own scale; words and choices at equal distances. */
export function parameterAxis(parameter: Parameter, trials: readonly Trial[]): ParameterAxis {
  const { name, bounds, scale } = parameter;
  if (bounds === undefined) return choiceAxis(name, parameter.choices, trials);
  const seen = extent(trials.map((trial) => numberOf(trial, name)));
  const min = Math.min(bounds.min, seen?.min ?? bounds.min);
  const max = Math.max(bounds.max, seen?.max ?? bounds.max);
  const listed = parameter.choices.map(Number);
  return numberAxis([parameterColumn(name), name], min, max, min > 0 ? scale : "linear", (trial) => numberOf(trial, name),
                    listed.length > 0 && listed.length <= LISTED_MAX ? listed : undefined);
}

/** The axis of the metric. */
export function metricAxis(name: string, trials: readonly Trial[]): ParameterAxis {
  const seen = extent(trials.map((trial) => trial.metric ?? Number.NaN)) ?? { min: 0, max: 1 };
  return numberAxis([COLUMNS.metric, name || "metric"], seen.min, seen.max, "linear", (trial) => trial.metric ?? Number.NaN);
}

function numberOf(trial: Trial, name: string): number {
  const text = trial.values[name];
  return text === undefined || text === "" ? Number.NaN : Number(text);
}

function numberAxis([key, name]: readonly [Column, string], min: number, max: number, scale: Parameter["scale"],
                    valueOf: (trial: Trial) => number, values?: readonly number[]): ParameterAxis {
  const { to, back } = scaling(min, max, scale);
  return {
    key,
    name,
    of: (trial) => {
      const at = to(valueOf(trial));
      return Number.isFinite(at) ? at : undefined;
    },
    ticks: (values ?? tickValues(min, max, scale)).map((value) => ({ at: to(value), text: number(value) })),
    text: (at) => number(back(at)),
  };
}

function scaling(min: number, max: number, scale: Parameter["scale"]) {
  if (min === max) return { to: (value: number) => (Number.isFinite(value) ? 0.5 : Number.NaN), back: () => min };
  const span = max - min;
  if (scale === "linear") return { to: (value: number) => (value - min) / span, back: (at: number) => min + at * span };
  const wide = Math.log(max / min);
  if (scale === "log") {
    return { to: (value: number) => Math.log(value / min) / wide, back: (at: number) => min * Math.exp(at * wide) };
  }
  return {
    to: (value: number) => 1 - Math.log((min + max - value) / min) / wide,
    back: (at: number) => min + max - min * Math.exp((1 - at) * wide),
  };
}

const TICKS = 5;

function tickValues(min: number, max: number, scale: Parameter["scale"]): number[] {
  if (min === max) return [min];
  if (scale === "reverseLog") return [min, max];
  if (scale === "log") {
    const powers: number[] = [];
    for (let power = Math.ceil(Math.log10(min) - 1e-9); power <= Math.log10(max) + 1e-9; power += 1) powers.push(10 ** power);
    if (powers.length >= 2) return powers.filter((_, at) => at % Math.ceil(powers.length / (TICKS + 2)) === 0);
    return [min, max];
  }
  const rough = (max - min) / TICKS;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * unit).find((by) => by >= rough) ?? rough;
  const values: number[] = [];
  for (let value = Math.ceil(min / step - 1e-9); value * step <= max + step * 1e-9; value += 1) values.push(value * step);
  return values;
}

/** Choices on an axis at most: more are named by the first ones. */
const NAMED_MAX = 24;

function choiceAxis(name: string, choices: readonly string[], trials: readonly Trial[]): ParameterAxis {
  const all = [...new Set([...choices, ...trials.flatMap((trial) => trial.values[name] ?? [])])];
  const at = new Map(all.map((choice, index) => [choice, all.length === 1 ? 0.5 : index / (all.length - 1)]));
  const places = Float64Array.from(at.values());
  const every = Math.ceil(all.length / NAMED_MAX);
  return {
    key: parameterColumn(name),
    name,
    of: (trial) => at.get(trial.values[name] ?? ""),
    ticks: all.filter((_, index) => index % every === 0).map((choice) => ({ at: at.get(choice) ?? 0, text: valueText(choice) })),
    text: (place) => valueText(all[nearest(places, place)]),
  };
}

/** A part of an axis that is chosen: 0 … 1. */
export interface Brush {
  readonly from: number;
  readonly to: number;
}

/** By the axis' key. */
export type Brushes = ReadonlyMap<Column, Brush>;

/** Brushes as one parameter of an address holds them, and back. */
export function brushText(brushes: Brushes): string {
  return listText([...brushes].map(([key, { from, to }]) => `${from.toFixed(3)}~${to.toFixed(3)}~${key}`));
}

export function brushesOf(text: string | null): Brushes {
  return new Map(listOf(text).flatMap((one) => {
    const [from, to, ...key] = one.split("~");
    const range = rangeOf(from ?? null, to ?? null);
    return range ? [[key.join("~"), range] as const] : [];
  }));
}

/** Trials that lie within all brushes. */
export function brushed(trials: readonly Trial[], axes: readonly ParameterAxis[], brushes: Brushes): readonly Trial[] {
  const wanted = axes.flatMap((axis) => {
    const brush = brushes.get(axis.key);
    return brush ? [{ axis, ...brush }] : [];
  });
  if (wanted.length === 0) return trials;
  const slack = 1e-9;
  return trials.filter((trial) => wanted.every(({ axis, from, to }) => {
    const at = axis.of(trial);
    return at !== undefined && at >= from - slack && at <= to + slack;
  }));
}
