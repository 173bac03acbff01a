// What a chart shows, and what follows from it: ranges and words. Pure.
import { type Extent, extent, nearest, padded, type Range, union, within } from "./columns.ts";
import { count, duration, exact, number } from "./format.ts";
import type { Mark } from "./marks.ts";

export interface Curve {
  /** Its own on this chart. */
  readonly key: string;
  readonly name: string;
  /** Of --line-0 to --line-11. */
  readonly color: number;
  /** Of DASHES. */
  readonly dash?: number;
  /** Ascending. */
  readonly xs: ArrayLike<number>;
  /** What is not finite leaves a gap. */
  readonly ys: ArrayLike<number>;
  /** Drawn faintly behind it: what was smoothed. */
  readonly raw?: ArrayLike<number>;
  readonly kind?: "line" | "steps" | "points";
}

export interface ChartView {
  readonly curves: readonly Curve[];
  /** number: steps; time: seconds since 1970; seconds: seconds from a start. */
  readonly x: "number" | "time" | "seconds";
  readonly logX: boolean;
  readonly logY: boolean;
  /** As values of y are shown. */
  readonly format: (value: number) => string;
  /** y counts bytes: its axis goes by powers of two. */
  readonly binary?: boolean;
  readonly marks: readonly Mark[];
  /** Zoomed in; null: everything. */
  readonly range: Range | null;
  /** In the picture in any case; where all values are on its side, the picture ends there. */
  readonly include: Extent | undefined;
}

/** Round a moment that stands alone. */
const ALONE_S = 30;
/** At both sides, so that no dot is cut. */
const DOTS_SHARE = 0.02;

/** From where to where x goes. */
export function xExtent(view: ChartView): Extent {
  if (view.range !== null) return { min: view.range.from, max: view.range.to };
  let all: Extent | undefined;
  for (const curve of view.curves) all = union(all, extent(curve.xs, { log: view.logX }));
  if (all === undefined) return view.logX ? { min: 1, max: 10 } : { min: 0, max: 1 };
  if (all.min === all.max && view.x !== "number") return { min: all.min - ALONE_S, max: all.max + ALONE_S };
  const dots = view.curves.some((curve) => curve.kind === "points");
  return all.min === all.max || dots ? padded(all, view.logX, DOTS_SHARE) : all;
}

/** From where to where y goes, of what is between these x. */
export function yExtent(view: ChartView, x: Extent): Extent {
  let all: Extent | undefined;
  for (const curve of view.curves) {
    const [first, last] = within(curve.xs, x.min, x.max);
    all = union(all, extent(curve.ys, { log: view.logY, first, last }));
  }
  if (all === undefined) return view.include ?? (view.logY ? { min: 0.1, max: 1 } : { min: 0, max: 1 });
  const wide = padded(all, view.logY);
  const { min = all.min, max = all.max } = view.include ?? {};
  return { min: view.include && all.min >= min ? min : wide.min, max: view.include && all.max <= max ? max : wide.max };
}

export function xWord(view: Pick<ChartView, "x">, value: number): string {
  if (view.x === "time") return exact(value * 1000);
  if (view.x === "seconds") return value === 0 ? "0 s" : duration(value * 1000);
  return number(value);
}

/** Where a curve is at x: the index of its nearest point that has a value there; -1: none. */
export function indexAt(curve: Curve, x: number): number {
  const at = nearest(curve.xs, x);
  return at >= 0 && Number.isFinite(curve.ys[at] ?? Number.NaN) ? at : -1;
}

export interface Summary {
  readonly key: string;
  readonly name: string;
  readonly points: number;
  readonly least: string;
  readonly greatest: string;
  readonly last: string;
}

/** A curve in figures: for who does not see it. */
export function summary(view: ChartView, curve: Curve): Summary {
  const all = extent(curve.ys);
  let at = curve.ys.length - 1;
  while (at > 0 && !Number.isFinite(curve.ys[at] ?? Number.NaN)) at -= 1;
  return {
    key: curve.key,
    name: curve.name,
    points: curve.xs.length,
    least: all ? view.format(all.min) : "–",
    greatest: all ? view.format(all.max) : "–",
    last: all ? view.format(curve.ys[at] ?? Number.NaN) : "–",
  };
}

/** A chart in one sentence. */
export function sentence(view: ChartView): string {
  const x = xExtent(view);
  const shown = view.curves.filter((curve) => curve.xs.length > 0).length;
  if (shown === 0) return "No values.";
  return `${count(shown, "curve")} from ${xWord(view, x.min)} to ${xWord(view, x.max)}.`;
}

/** A narrower or wider range round a point of it; logarithmic axes by factors. */
export function zoomed(view: ChartView, by: number, round?: number): Range {
  const to = view.logX ? Math.log10 : (value: number) => value;
  const back = view.logX ? (value: number) => 10 ** value : (value: number) => value;
  const { min, max } = xExtent(view);
  const middle = round === undefined ? (to(min) + to(max)) / 2 : to(round);
  return { from: back(middle - (middle - to(min)) * by), to: back(middle + (to(max) - middle) * by) };
}
