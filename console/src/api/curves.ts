// Asking for curves: a few requests at a time, some curves each.
import type { ScalarCurvesJson, ScalarNameJson, ScalarQueryJson } from "proto/control/v1/curves_pb";
import { type Columns, columnsOf, type CurveRange, nameKey, NO_COLUMNS } from "../text/curves.ts";
import { sendJson } from "./http.ts";
import { paths } from "./paths.ts";

/** Curves a request. */
const BATCH = 20;
/** Requests at a time: a browser has six connections for all that it asks. */
const PARALLEL = 4;
/** While the server still reads a job's files, its curves are asked for again. */
const ASKED_MOST = 5;
const READING_MS = 1_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
/** Points of a curve: more than a chart has pixels across. Those of all its curves: many are drawn as fast as few. */
const POINTS_MAX = 1200;
const POINTS_LEAST = 300;
const POINTS_TOGETHER = 60_000;

/** Points of each curve where a chart has so many. */
export function pointsOf(curves: number): number {
  return Math.round(Math.min(POINTS_MAX, Math.max(POINTS_LEAST, POINTS_TOGETHER / Math.max(1, curves))));
}

export interface Wanted {
  readonly names: readonly ScalarNameJson[];
  /** null: everything. */
  readonly range: CurveRange | null;
  /** Of each curve, at most. */
  readonly pointsMax: number;
  /** Times are half of an answer, and not needed along steps. */
  readonly withoutTimes: boolean;
}

/** Curves by nameKey. `arrived` hears of each batch. */
export async function queryCurves(project: string, { names, range, pointsMax, withoutTimes }: Wanted, signal: AbortSignal,
                                  arrived: (some: ReadonlyMap<string, Columns>) => void): Promise<void> {
  const batches: (readonly ScalarNameJson[])[] = [];
  for (let at = 0; at < names.length; at += BATCH) batches.push(names.slice(at, at + BATCH));
  const work = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const body: ScalarQueryJson = { names: [...batch], pointsMax, withoutTimes, ...range };
      for (let asked = 1; ; asked += 1) {
        const answer = await sendJson<ScalarCurvesJson>("POST", paths.scalarsQuery(project), body, signal);
        const some = new Map(batch.map((name) => [nameKey(name), NO_COLUMNS]));
        for (const curve of answer.curves ?? []) some.set(nameKey(curve.name), columnsOf(curve));
        arrived(some);
        if (!answer.reading || asked === ASKED_MOST) break;
        await pause(READING_MS);
        signal.throwIfAborted();
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}
