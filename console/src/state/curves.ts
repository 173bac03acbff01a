// The points of the curves that a chart shows.
import type { ScalarList_ItemJson } from "proto/control/v1/curves_pb";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pointsOf, queryCurves } from "../api/curves.ts";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { askedRange, type Columns, isThinned, nameKey, need, NO_COLUMNS, withTail, type XAxis } from "../text/curves.ts";
import type { Range } from "../text/columns.ts";
import { num } from "../text/format.ts";

type Known = ReadonlyMap<string, Columns>;

export interface CurvePoints {
  /** By nameKey: of the range where it was asked for, else of everything. */
  readonly columns: Known;
  /** By nameKey: when a curve begins, in seconds since 1970. */
  readonly starts: ReadonlyMap<string, number>;
  readonly loading: boolean;
  readonly error: ApiError | undefined;
  /** Some curves have more points than are shown. */
  readonly thinned: boolean;
}

const NOTHING: Known = new Map();
/** Batches that come within this time are drawn together. */
const SHOWN_MS = 100;
const FAR = Number.MAX_VALUE;

/**
 * The curves of a list's items; what is new is asked for whenever the items say that there is more. A range gets its own
 * points, of those curves that were thinned. Nothing is asked while it is not wanted.
 */
export function useCurves(project: string, items: readonly ScalarList_ItemJson[], axis: XAxis, range: Range | null,
                          wanted: boolean): CurvePoints {
  const known = useRef(new Map<string, Columns>());
  const [base, setBase] = useState<Known>(NOTHING);
  const [detail, setDetail] = useState<{ readonly key: string; readonly columns: Known }>({ key: "", columns: NOTHING });
  const [loading, setLoading] = useState(false);
  const [error, setError] = useState<ApiError>();
  const withoutTimes = axis === "step";
  const version = items.map((item) => `${nameKey(item.name)}${item.points ?? 0}`).join();

  useEffect(() => {
    if (!wanted) return;
    const abort = new AbortController();
    const failed = (reason: unknown) => {
      if (!abort.signal.aborted) setError(asApiError(reason));
    };
    setLoading(true);
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      waiting = undefined;
      setBase(new Map(known.current));
    };
    refresh(project, items, withoutTimes, known.current, abort.signal, () => (waiting ??= setTimeout(show, SHOWN_MS)))
      .then(() => setError(undefined), failed)
      .finally(() => !abort.signal.aborted && setLoading(false));
    return () => abort.abort();
  }, [project, version, wanted, withoutTimes]);

  const rangeKey = range === null ? "" : `${axis} ${range.from} ${range.to}`;
  const starts = useMemo(() => new Map([...base].map(([key, { times }]) => [key, times[0] ?? 0])), [base]);
  const thinned = items.filter((item) => isThinned(base.get(nameKey(item.name)) ?? NO_COLUMNS));
  useEffect(() => {
    if (!wanted || range === null || thinned.length === 0) return;
    const abort = new AbortController();
    const found = new Map<string, Columns>();
    const names = thinned.map((item) => item.name ?? {});
    const asked = askedRange(axis, range, names.flatMap((name) => starts.get(nameKey(name)) ?? []));
    const take = (some: Known) => some.forEach((columns, key) => found.set(key, columns));
    queryCurves(project, { names, range: asked, pointsMax: pointsOf(names.length), withoutTimes }, abort.signal, take).then(
      () => setDetail({ key: rangeKey, columns: found }),
      (reason: unknown) => !abort.signal.aborted && setError(asApiError(reason)),
    );
    return () => abort.abort();
  }, [project, rangeKey, thinned.length, version, wanted]);

  const columns = useMemo(
    () => (rangeKey !== "" && detail.key === rangeKey ? new Map([...base, ...detail.columns]) : base),
    [base, detail, rangeKey],
  );
  const isThin = (item: ScalarList_ItemJson) => isThinned(columns.get(nameKey(item.name)) ?? NO_COLUMNS);
  return { columns, starts, loading, error, thinned: items.some(isThin) };
}

/** Brings `known` up to what the items say: ends of curves first, whole curves where that is not enough. */
async function refresh(project: string, items: readonly ScalarList_ItemJson[], withoutTimes: boolean,
                       known: Map<string, Columns>, signal: AbortSignal, changed: () => void): Promise<void> {
  const pointsMax = pointsOf(items.length);
  const needs = items.map((item) => {
    const key = nameKey(item.name);
    const columns = known.get(key);
    const lacksTimes = !withoutTimes && columns !== undefined && columns.times.length < columns.steps.length;
    return { item, key, need: lacksTimes ? "whole" : need(columns, item, pointsMax) };
  });
  const whole = new Set(needs.filter((one) => one.need === "whole").map((one) => one.key));
  const tails = needs.filter((one) => one.need === "tail");
  const promised = new Map(tails.map(({ key, item }) => [key, num(item.points)]));
  const from = Math.min(...tails.map(({ key }) => known.get(key)?.steps.at(-1) ?? 0));
  if (tails.length > 0) {
    const ends = { names: tails.map(({ item }) => item.name ?? {}), range: { axis: "STEP", from, to: FAR } as const };
    await queryCurves(project, { ...ends, pointsMax, withoutTimes }, signal, (some) => {
      for (const [key, columns] of some) {
        const before = known.get(key);
        const longer = before && withTail(before, columns, promised.get(key) ?? 0);
        if (longer) known.set(key, longer);
        else whole.add(key);
      }
      changed();
    });
  }
  const names = needs.filter(({ key }) => whole.has(key)).map(({ item }) => item.name ?? {});
  await queryCurves(project, { names, range: null, pointsMax, withoutTimes }, signal, (some) => {
    for (const [key, columns] of some) known.set(key, columns);
    changed();
  });
}
