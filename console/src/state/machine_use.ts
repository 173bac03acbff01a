import { useEffect, useState } from "preact/hooks";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useAnswer } from "../api/use.ts";
import type { Range } from "../text/columns.ts";
import { extended, lastTime, type SeriesListJson, useSeries, type UseSeries, withoutFirst } from "../text/machine_use.ts";
import { useEvery } from "./every.ts";

const POINTS_MAX = 1200;
/** Replicas are measured every ten seconds. */
const LIVE_MS = 10_000;
/** Asked for before a range: the sample before its first. */
const BEFORE_S = 30;

const at = (seconds: number) => new Date(seconds * 1000).toISOString();

interface Read {
  readonly series: readonly UseSeries[];
  readonly missing: string | undefined;
}

async function read(path: string, query: { readonly startTime?: string; readonly endTime?: string },
                    signal?: AbortSignal): Promise<Read> {
  const answer = await getJson<SeriesListJson>(withQuery(path, { ...query, maxPoints: POINTS_MAX }), signal);
  return { series: useSeries(answer), missing: answer.executionErrors?.[0]?.message };
}

/** Samples of a part of the time. */
async function part(path: string, from: number, to: number | undefined, signal?: AbortSignal): Promise<Read> {
  const query = { startTime: at(from - BEFORE_S), ...(to === undefined ? {} : { endTime: at(to) }) };
  const { series, missing } = await read(path, query, signal);
  return { series: withoutFirst(series), missing };
}

export interface MachineUse extends Resource<readonly UseSeries[]> {
  /** Why samples are missing; undefined: none are. */
  readonly missing: string | undefined;
}

/**
 * What a job's replicas used, and in a range in detail: until that is there, as it is known. It goes on by itself while the
 * job runs.
 */
export function useMachineUse(project: string, job: string, range: Range | null,
                              running: boolean): MachineUse {
  const path = paths.metrics(project, job);
  const whole = useAnswer(path, (signal) => read(path, {}, signal));
  const detail = useAnswer(range && `${path} ${range.from} ${range.to}`, (signal) => part(path, range?.from ?? 0, range?.to, signal));
  const [longer, setLonger] = useState<{ readonly of: readonly UseSeries[]; readonly all: readonly UseSeries[] }>();
  const known = longer !== undefined && longer.of === whole.data?.series ? longer.all : whole.data?.series;
  const goOn = () => {
    const of = whole.data?.series;
    const since = known && lastTime(known);
    if (of === undefined || known === undefined || since === undefined) return whole.reload();
    part(path, since, undefined).then(
      (newer) => setLonger({ of, all: extended(known, newer.series) }),
      () => undefined, // The page says itself that it is not live.
    );
  };
  useEvery(running ? LIVE_MS : null, goOn);
  useEffect(() => {
    if (!running && whole.data !== undefined) whole.reload(); // The last samples of a job that has just ended.
  }, [running]);
  const shown = detail.data ?? whole.data;
  return { ...whole, error: whole.error ?? detail.error, data: detail.data?.series ?? known, missing: shown?.missing };
}
