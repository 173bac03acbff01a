// The axes of charts: their words and colours.
import type uPlot from "uplot";
import { cssColor, LINE_COLORS, lineColor } from "../state/colors.ts";
import { type ChartView, xWord } from "../text/chart_view.ts";
import { number } from "../text/format.ts";

export interface ChartColors {
  readonly ink: string;
  readonly grid: string;
  readonly trouble: string;
  readonly event: string;
  /** By number. */
  readonly lines: readonly string[];
}

/** In the theme that is on. */
export function chartColors(): ChartColors {
  return {
    ink: cssColor("--ink-soft"),
    grid: cssColor("--paper-3"),
    trouble: cssColor("--bad"),
    event: cssColor("--ink-soft"),
    lines: Array.from({ length: LINE_COLORS }, (_, at) => lineColor(at)),
  };
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const DAY = "\n{D} {MMM}";

/** By the distance of ticks in seconds: the word of a tick, then with a new year, month, day, hour, minute, second. */
const TIME_WORDS: (string | number | null)[][] = [
  [31_536_000, "{YYYY}", null, null, null, null, null, null, 1],
  [2_419_200, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [86_400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [3600, "{HH}:{mm}", `${DAY} {YYYY}`, null, DAY, null, null, null, 1],
  [60, "{HH}:{mm}", `${DAY} {YYYY}`, null, DAY, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", `${DAY} {YYYY}`, null, DAY, null, null, null, 1],
  [0.001, ":{ss}.{fff}", `${DAY} {HH}:{mm}`, null, `${DAY} {HH}:{mm}`, null, "\n{HH}:{mm}", null, 1],
];

/** Distances of ticks that people count durations in, in seconds. */
const DURATIONS = [1e-3, 1e-2, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
  172_800, 604_800, 1_209_600, 2_592_000];

/** Distances of ticks of what is counted: there is no step 1.5. */
export const WHOLE = Array.from({ length: 46 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));

/** Distances of ticks of bytes: they are round in KiB, MiB and GiB. */
const BYTES = Array.from({ length: 51 }, (_, power) => 2 ** power);

function widest(_: uPlot, words: string[] | null): number {
  return Math.max(40, 14 + 7.2 * Math.max(0, ...(words ?? []).map((word) => (word ?? "").length)));
}

/** 1, 2 or 5 of a power of ten: what a logarithmic axis names. */
function isRound(value: number): boolean {
  return [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toFixed(6)));
}

export function axes(view: ChartView, colors: () => ChartColors): uPlot.Axis[] {
  const common = {
    font: FONT,
    stroke: () => colors().ink,
    grid: { stroke: () => colors().grid, width: 1 },
    ticks: { stroke: () => colors().grid, width: 1, size: 4 },
    gap: 4,
  };
  const words = (show: (value: number) => string, log = false) =>
    (_: uPlot, splits: (number | null)[]) =>
      splits.map((value) => (value === null || (log && !isRound(value)) ? "" : show(value)));
  const durations = view.logX ? {} : { incrs: DURATIONS };
  const x: uPlot.Axis =
    view.x === "time" ? { ...common, values: TIME_WORDS as uPlot.Axis.Values, size: 40, space: 72 }
    : view.x === "seconds"
      ? { ...common, values: words((value) => xWord(view, value), view.logX), ...durations, size: 28, space: 84 }
    : { ...common, values: words(number, view.logX), ...(view.logX ? {} : { incrs: WHOLE }), size: 28, space: 64 };
  const bytes = view.binary && !view.logY ? { incrs: BYTES } : {};
  return [x, { ...common, values: words(view.format, view.logY), size: widest, space: 28, ...bytes }];
}
