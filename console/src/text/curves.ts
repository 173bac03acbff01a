// Curves as the server gives them, kept up to date with as little as is new. Pure.
import type { ScalarCurves_CurveJson, ScalarList_ItemJson, ScalarNameJson } from "proto/control/v1/curves_pb";
import { lowerBound, type Range } from "./columns.ts";
import { num } from "./format.ts";

/** As scalars:query takes it. */
export interface CurveRange {
  readonly axis: "STEP" | "TIME";
  readonly from: number;
  readonly to: number;
}

export type XAxis = "step" | "time" | "wall";

/** Points of one curve, by step. */
export interface Columns {
  readonly steps: Float64Array;
  /** Seconds since 1970. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** That these stand for: more than there are if the curve was thinned. */
  readonly points: number;
}

const NONE = new Float64Array();
export const NO_COLUMNS: Columns = { steps: NONE, times: NONE, values: NONE, points: 0 };

export function nameKey(name: ScalarNameJson | undefined): string {
  return JSON.stringify([name?.jobId ?? "", name?.trialId ?? "", name?.run ?? "", name?.tag ?? "", name?.hypertune ?? false]);
}

/** JSON writes what is not finite as a text: "NaN", "-Infinity". */
function numbers(values: readonly (number | string)[] | undefined): Float64Array {
  return Float64Array.from(values ?? [], Number);
}

export function columnsOf(curve: ScalarCurves_CurveJson): Columns {
  const steps = numbers(curve.steps);
  return { steps, times: numbers(curve.times), values: numbers(curve.values), points: Math.max(num(curve.points), steps.length) };
}

export function isThinned(columns: Columns): boolean {
  return columns.points > columns.steps.length;
}

/** What has to be asked for, where a list says how many points a curve has by now. */
export type Need = "nothing" | "tail" | "whole";

export function need(known: Columns | undefined, item: ScalarList_ItemJson, longest: number): Need {
  const points = num(item.points);
  if (known === undefined || points < known.points) return points === 0 ? "nothing" : "whole";
  if (points === known.points) return "nothing";
  return known.steps.length === 0 || known.steps.length > 2 * longest ? "whole" : "tail";
}

/**
 * A curve with what came after its last step. Undefined if that is not what the list promised (a program began again at
 * an earlier step): it has to be asked for as a whole.
 */
export function withTail(known: Columns, tail: Columns, promised: number): Columns | undefined {
  const last = known.steps.at(-1) ?? Number.NEGATIVE_INFINITY;
  let first = lowerBound(tail.steps, last);
  while (first < tail.steps.length && tail.steps[first] === last) first += 1;
  const points = known.points + tail.points - first;
  if (points < promised) return undefined;
  const join = (one: Float64Array, other: Float64Array) => Float64Array.from([...one, ...other.subarray(first)]);
  return {
    steps: join(known.steps, tail.steps),
    times: join(known.times, tail.times),
    values: join(known.values, tail.values),
    points,
  };
}

/** The column that goes along the axis. Steps and times ascend; `time` counts seconds from `start`. */
export function xsOf(columns: Columns, axis: XAxis, start = columns.times[0] ?? 0): Float64Array {
  if (axis === "step") return columns.steps;
  const times = columns.times.slice();
  for (let at = 1; at < times.length; at += 1) times[at] = Math.max(times[at] ?? 0, times[at - 1] ?? 0);
  if (axis === "wall") return times;
  return times.map((at) => at - start);
}

/** What the server is asked for, so that all is there that a chart shows of these curves between two x. */
export function askedRange(axis: XAxis, { from, to }: Range, starts: readonly number[]): CurveRange {
  if (axis === "step") return { axis: "STEP", from, to };
  if (axis === "wall" || starts.length === 0) return { axis: "TIME", from, to };
  return { axis: "TIME", from: Math.min(...starts) + from, to: Math.max(...starts) + to };
}
