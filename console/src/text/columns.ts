// Columns of points: how they are searched, measured and put together. Pure.

/** From, to: both are in it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The index of the first value that is not below x; the length if there is none. `xs` ascends. */
export function lowerBound(xs: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the value nearest to x; -1: there are no values. */
export function nearest(xs: ArrayLike<number>, x: number): number {
  const after = lowerBound(xs, x);
  if (after === 0) return xs.length === 0 ? -1 : 0;
  if (after === xs.length) return after - 1;
  return (xs[after] ?? 0) - x < x - (xs[after - 1] ?? 0) ? after : after - 1;
}

export interface Extent {
  readonly min: number;
  readonly max: number;
}

/** The least and the greatest finite value, of those above 0 for a logarithmic axis; undefined: there is none. */
export function extent(values: ArrayLike<number>, { log = false, first = 0, last = values.length } = {}): Extent | undefined {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let at = first; at < last; at += 1) {
    const value = values[at] ?? Number.NaN;
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : undefined;
}

export function union(one: Extent | undefined, other: Extent | undefined): Extent | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

/** A little more than the extent, so that curves do not lie on the frame. */
export function padded({ min, max }: Extent, log: boolean, share = 0.06): Extent {
  if (log) {
    const by = min === max ? 2 : (max / min) ** share;
    return { min: min / by, max: max * by };
  }
  const by = min === max ? Math.abs(min) * 0.1 || 1 : (max - min) * share;
  return { min: min - by, max: max + by };
}

/** Indexes [first, last) of what is to be drawn between from and to: one point more at each side, to lead out of the picture. */
export function within(xs: ArrayLike<number>, from: number, to: number): readonly [number, number] {
  const first = Math.max(0, lowerBound(xs, from) - 1);
  let last = lowerBound(xs, to);
  while (last < xs.length && xs[last] === to) last += 1;
  return [first, Math.min(xs.length, last + 1)];
}
