// What the reader chose to see of curves: all of it is in the address.
import { useMemo } from "preact/hooks";
import { setQuery, usePlace } from "../router.ts";
import type { Range } from "../text/columns.ts";
import type { XAxis } from "../text/curves.ts";
import type { Look } from "../text/looks.ts";
import { listOf, listText, numberOf, rangeOf, rangeText } from "../text/query_list.ts";
import { type Finder, finder } from "../text/tags.ts";

/** What all charts of a page have in common: the reader's choices. */
export interface CurveChoices {
  readonly x: XAxis;
  /** 0 to 1. */
  readonly smooth: number;
  readonly logX: boolean;
  readonly logY: boolean;
  readonly range: Range | null;
  readonly onRange: (range: Range | null) => void;
  /** Names of runs. */
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (run: string) => void;
  /** How each run is drawn, on all charts. */
  readonly looks: ReadonlyMap<string, Look>;
}

/** More than this would be a straight line. */
export const SMOOTH_MAX = 0.99;

export interface CurveQuery {
  readonly tagText: string;
  readonly runText: string;
  readonly tag: Finder;
  readonly run: Finder;
  readonly x: XAxis;
  readonly smooth: number;
  readonly logX: boolean;
  readonly logY: boolean;
}

const AXES: readonly XAxis[] = ["step", "time", "wall"];

/** Choices as the address has them. */
export function useCurveQuery(): CurveQuery {
  const { query } = usePlace();
  const tagText = query.get("tag") ?? "";
  const runText = query.get("run") ?? "";
  const tag = useMemo(() => finder(tagText), [tagText]);
  const run = useMemo(() => finder(runText), [runText]);
  const log = query.get("log") ?? "";
  return {
    tagText,
    runText,
    tag,
    run,
    x: AXES.find((axis) => axis === query.get("x")) ?? "step",
    smooth: numberOf(query.get("smooth"), 0, { min: 0, max: SMOOTH_MAX }),
    logX: log.includes("x"),
    logY: log.includes("y"),
  };
}

export function setAxis(x: XAxis): void {
  setQuery({ x: x === "step" ? null : x, from: null, to: null });
}

export function setLog(logX: boolean, logY: boolean): void {
  setQuery({ log: `${logX ? "x" : ""}${logY ? "y" : ""}` || null });
}

/** The choices as charts want them. */
export function useCurveChoices(looks: ReadonlyMap<string, Look>): CurveChoices {
  const { query } = usePlace();
  const chosen = useCurveQuery();
  const [from, to, hide] = [query.get("from"), query.get("to"), query.get("hide")];
  return useMemo(() => {
    const hidden = new Set(listOf(hide));
    return {
      x: chosen.x,
      smooth: chosen.smooth,
      logX: chosen.logX,
      logY: chosen.logY,
      range: rangeOf(from, to),
      onRange: (range) => setQuery(rangeText(range)),
      hidden,
      onToggle: (run) => {
        const next = new Set(hidden);
        if (!next.delete(run)) next.add(run);
        setQuery({ hide: listText(next) });
      },
      looks,
    };
  }, [chosen.x, chosen.smooth, chosen.logX, chosen.logY, from, to, hide, looks]);
}
