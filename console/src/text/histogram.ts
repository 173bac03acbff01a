// A histogram as the server reads it from an event file. Pure.

export interface Bar {
  readonly left: number;
  readonly right: number;
  readonly count: number;
}

/** What summaries:read answers; what is no such list is empty. */
export function barsOf(answer: unknown): readonly Bar[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((row: unknown) => {
    if (!Array.isArray(row)) return [];
    const [left, right, count] = row.map(Number);
    const isBar = [left, right, count].every((value) => Number.isFinite(value));
    return isBar ? [{ left: left ?? 0, right: right ?? 0, count: count ?? 0 }] : [];
  });
}

export interface Shape {
  readonly x: number;
  readonly width: number;
  readonly height: number;
}

/** Bars in a box of that size: as high as their density, since bins of one histogram have different widths. */
export function shapesOf(bars: readonly Bar[], width: number, height: number): readonly Shape[] {
  const begin = bars[0]?.left ?? 0;
  const span = (bars.at(-1)?.right ?? 0) - begin;
  if (!(span > 0)) return bars.map((bar, at) => ({ x: (at * width) / bars.length, width: width / bars.length, height: bar.count > 0 ? height : 0 }));
  const density = (bar: Bar) => (bar.right > bar.left ? bar.count / (bar.right - bar.left) : 0);
  const most = Math.max(...bars.map(density), Number.MIN_VALUE);
  return bars.map((bar) => ({
    x: ((bar.left - begin) / span) * width,
    width: Math.max(((bar.right - bar.left) / span) * width, 0.5),
    height: (density(bar) / most) * height,
  }));
}

/** In words: "1,024 values from -0.5 to 2". */
export function inWords(bars: readonly Bar[], number: (value: number) => string): string {
  const values = bars.reduce((sum, bar) => sum + bar.count, 0);
  if (bars.length === 0) return "No values.";
  return `${number(values)} values from ${number(bars[0]?.left ?? 0)} to ${number(bars.at(-1)?.right ?? 0)}`;
}
