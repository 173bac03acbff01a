// What replicas used, as charts show it. Pure. The answer is Cloud Monitoring's (docs/metrics.md).
import type { Curve } from "./chart_view.ts";
import { bytes, percent, time } from "./format.ts";
import { lookOf } from "./looks.ts";

interface SeriesJson {
  readonly metric?: { readonly type?: string };
  readonly resource?: { readonly labels?: { readonly task_name?: string } };
  readonly metricKind?: string;
  readonly points?: readonly {
    readonly interval?: { readonly startTime?: string; readonly endTime?: string };
    readonly value?: { readonly doubleValue?: number | string; readonly int64Value?: string };
  }[];
}

export interface SeriesListJson {
  readonly timeSeries?: readonly SeriesJson[];
  /** Why points are missing. */
  readonly executionErrors?: readonly { readonly message?: string }[];
}

/** One figure of one replica, oldest first. */
export interface UseSeries {
  readonly type: string;
  readonly task: string;
  /** Seconds since 1970. */
  readonly times: Float64Array;
  /** Shares, or bytes a second. */
  readonly values: Float64Array;
}

export interface UseKind {
  readonly title: string;
  readonly type: string;
  readonly format: (value: number) => string;
  /** Whether 0 to 1 is the whole of it. */
  readonly share: boolean;
}

const PREFIX = "ml.googleapis.com/training/";
const share = (title: string, name: string): UseKind => ({ title, type: PREFIX + name, format: percent, share: true });
const perSecond = (value: number) => `${bytes(value)}/s`;
const rate = (title: string, name: string): UseKind => ({ title, type: PREFIX + name, format: perSecond, share: false });

/** In the order in which they are looked at. */
export const USE_KINDS: readonly UseKind[] = [
  share("CPU", "cpu/utilization"),
  share("Memory", "memory/utilization"),
  share("GPU", "accelerator/utilization"),
  share("GPU memory", "accelerator/memory/utilization"),
  rate("Network received", "network/received_bytes_count"),
  rate("Network sent", "network/sent_bytes_count"),
  rate("Disk read", "disk/read_bytes_count"),
  rate("Disk written", "disk/written_bytes_count"),
];

/** The kinds that are there: those known above, then others as they are called. */
export function kindsOf(all: readonly UseSeries[]): readonly UseKind[] {
  const types = new Set(all.map((series) => series.type));
  const known = USE_KINDS.filter((kind) => types.has(kind.type));
  const others = [...types].filter((type) => !USE_KINDS.some((kind) => kind.type === type)).sort();
  const word = (type: string) => type.replace(PREFIX, "").replace(/_count$/, "").replaceAll(/[_/]/g, " ");
  return [...known, ...others.map((type) => (type.endsWith("bytes_count") ? rate("", "") : share("", "")))
    .map((kind, at) => ({ ...kind, type: others[at] ?? "", title: word(others[at] ?? "") }))];
}

/** Points come newest first. Bytes since the point before become bytes a second. */
export function useSeries(answer: SeriesListJson): readonly UseSeries[] {
  return (answer.timeSeries ?? []).map((series) => {
    const points = (series.points ?? []).toReversed();
    const delta = series.metricKind === "DELTA";
    const times = new Float64Array(points.length);
    const values = new Float64Array(points.length);
    for (const [at, { interval, value }] of points.entries()) {
      const end = (time(interval?.endTime) ?? 0) / 1000;
      const passed = end - (time(interval?.startTime) ?? 0) / 1000;
      const figure = Number(value?.doubleValue ?? value?.int64Value ?? 0);
      times[at] = end;
      values[at] = delta ? (passed > 0 ? figure / passed : Number.NaN) : figure;
    }
    return { type: series.metric?.type ?? "", task: series.resource?.labels?.task_name ?? "", times, values };
  });
}

const CEILINGS = [0.05, 0.1, 0.25, 0.5, 1];

/** Up to where a chart of shares goes: the whole of it, unless all of them are so small that nobody would see them move. */
export function ceilingOf(all: readonly UseSeries[], kind: UseKind): number {
  let most = 0;
  for (const series of all) {
    if (series.type !== kind.type) continue;
    for (const value of series.values) if (value > most) most = value;
  }
  return CEILINGS.find((ceiling) => most <= ceiling * 0.96) ?? 1;
}

const keyOf = (series: UseSeries) => `${series.type} ${series.task}`;

/** Samples that begin within a range: of the first one nobody knows what was before it, so it is left out. */
export function withoutFirst(all: readonly UseSeries[]): readonly UseSeries[] {
  return all.map((series) => ({ ...series, times: series.times.subarray(1), values: series.values.subarray(1) }));
}

/** Known series with what is newer in others. */
export function extended(known: readonly UseSeries[], newer: readonly UseSeries[]): readonly UseSeries[] {
  const byKey = new Map(known.map((series) => [keyOf(series), series]));
  for (const series of newer) {
    const before = byKey.get(keyOf(series));
    const last = before?.times.at(-1) ?? Number.NEGATIVE_INFINITY;
    const first = series.times.findIndex((at) => at > last);
    if (before === undefined) byKey.set(keyOf(series), series);
    else if (first >= 0) {
      const join = (one: Float64Array, other: Float64Array) => Float64Array.from([...one, ...other.subarray(first)]);
      const times = join(before.times, series.times);
      byKey.set(keyOf(series), { ...before, times, values: join(before.values, series.values) });
    }
  }
  return [...byKey.values()];
}

/** The newest moment of any of them, in seconds since 1970. */
export function lastTime(all: readonly UseSeries[]): number | undefined {
  const ends = all.flatMap((series) => series.times.at(-1) ?? []);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

/** Replicas in the order in which people count them. */
export function tasksOf(all: readonly UseSeries[]): readonly string[] {
  return [...new Set(all.map((series) => series.task))].sort(byName);
}

/** One kind as curves: a replica has the same look on all charts. */
export function curvesOf(all: readonly UseSeries[], kind: UseKind, tasks: readonly string[],
                         color: (task: string) => number): Curve[] {
  const look = lookOf(tasks, color);
  return tasks.flatMap((task) => {
    const series = all.find((one) => one.type === kind.type && one.task === task);
    if (series === undefined) return [];
    return [{ key: task, name: task, xs: series.times, ys: series.values, ...(look.get(task) ?? { color: 0, dash: 0 }) }];
  });
}
