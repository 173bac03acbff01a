// The machine's use over a day as the points of small areas. Pure.

export interface Series {
  readonly name: string;
  /** 0 to 1; below 0: not known. */
  readonly values: readonly number[];
}

/** SVG path of the area below a curve in a box of this size; gaps where nothing is known. */
export function areaPath(values: readonly number[], width: number, height: number): string {
  const step = width / Math.max(values.length, 1);
  const y = (value: number) => round(height - Math.min(1, value) * height);
  let path = "";
  for (let at = 0; at < values.length;) {
    if ((values[at] ?? -1) < 0) {
      at += 1;
      continue;
    }
    path += `M${round(at * step)} ${height}`;
    for (; at < values.length && (values[at] ?? -1) >= 0; at += 1) path += `V${y(values[at] ?? 0)}H${round((at + 1) * step)}`;
    path += `V${height}Z`;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** At most so many values: each is the largest of those it stands for, so that peaks stay. */
export function thinned(values: readonly number[], most: number): number[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, at) => {
    const from = Math.floor((at * values.length) / most);
    const to = Math.floor(((at + 1) * values.length) / most);
    return Math.max(...values.slice(from, Math.max(to, from + 1)));
  });
}

/** The mean and the largest of what is known. */
export function meanAndPeak(values: readonly number[]): { readonly mean: number; readonly peak: number } | undefined {
  const known = values.filter((value) => value >= 0);
  if (known.length === 0) return undefined;
  return { mean: known.reduce((sum, one) => sum + one, 0) / known.length, peak: Math.max(...known) };
}

/** Times at full hours between two times, at most `most` of them. */
export function hourMarks(from: number, to: number, most = 8): number[] {
  const hour = 3_600_000;
  const every = [1, 2, 3, 4, 6, 12, 24, 48, 168].find((hours) => (to - from) / (hours * hour) <= most) ?? 168;
  const zone = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - zone) / (every * hour)) * every * hour + zone;
  const marks = [];
  for (let at = first; at < to; at += every * hour) marks.push(at);
  return marks;
}
