// Smoothing of curves as TensorBoard does it. Pure.

/**
 * The exponential moving average without its bias towards the start: the first values count in full. `weight` 0 to 1: 0
 * changes nothing. Values that are not finite stay and count for nothing; a constant curve stays as it is.
 * Source: TensorBoard, line_chart_v2 data_transformer (classicSmoothing).
 */
export function smooth(values: ArrayLike<number>, weight: number): Float64Array {
  const all = Float64Array.from(values);
  if (weight <= 0 || all.every((value) => value === all[0])) return all;
  let last = 0;
  let counted = 0;
  for (let at = 0; at < all.length; at += 1) {
    const value = all[at] ?? Number.NaN;
    if (!Number.isFinite(value)) continue;
    last = last * weight + (1 - weight) * value;
    counted += 1;
    all[at] = weight === 1 ? value : last / (1 - weight ** counted);
  }
  return all;
}
