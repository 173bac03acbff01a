import type { TuningInsightJson } from "proto/control/v1/tuning_insight_pb";
import { useMemo } from "preact/hooks";
import type { Resource } from "../api/use.ts";
import { go, setQuery, usePlace } from "../router.ts";
import { useRows } from "../state/rows.ts";
import { count, number } from "../text/format.ts";
import { brushed, brushesOf, brushText, metricAxis, parameterAxis } from "../text/parameter_axis.ts";
import { cut } from "../text/plain.ts";
import { bestOf, orderOf, orderText, progress, sorted, type Tuning } from "../text/trials.ts";
import { Button } from "./Button.tsx";
import { Chart } from "./Chart.tsx";
import { Importances } from "./Importances.tsx";
import { Empty, Loaded } from "./Notices.tsx";
import { ParallelAxes } from "./ParallelAxes.tsx";
import { ScatterChoice } from "./ScatterChoice.tsx";
import { Text } from "./Text.tsx";
import { TrialCurves } from "./TrialCurves.tsx";
import { TrialTable } from "./TrialTable.tsx";
import "./TuningView.css";

interface Props {
  readonly tuning: Tuning;
  readonly insight: Resource<TuningInsightJson>;
  /** A trial's own page. */
  readonly to: (trial: string) => string;
}

/** So many trials are above the charts; all of them are a click away. */
const FIRST = 10;

/** Trials, how far they have come, and what mattered: of a tuning job or a study. Keys: j k Enter. */
export function TuningView({ tuning, insight, to }: Props) {
  const { query } = usePlace();
  const [sort, brush] = [query.get("sort"), query.get("brush")];
  const { trials, parameters, metric } = tuning;
  const best = useMemo(() => bestOf(tuning), [tuning]);
  const axes = useMemo(
    () => [...parameters.map((parameter) => parameterAxis(parameter, trials)), metricAxis(metric, trials)],
    [tuning],
  );
  const brushes = useMemo(() => brushesOf(brush), [brush]);
  const chosen = useMemo(() => brushed(trials, axes, brushes), [trials, axes, brushes]);
  const shown = useMemo(() => new Set(chosen.map((trial) => trial.id)), [chosen]);
  const order = orderOf(sort, tuning.maximize);
  const rows = useMemo(() => sorted(chosen, order), [chosen, sort, tuning.maximize]);
  const every = query.get("all") === "1";
  const seen = every ? rows : rows.slice(0, FIRST);
  const open = (trial: string) => go(to(trial));
  const place = useRows({ name: `trials ${to("")}`, items: seen, idOf: (trial) => trial.id, open: (trial) => open(trial.id) });
  if (trials.length === 0) {
    return <Empty title="There are no trials yet.">The tuner proposes the first ones when there is room for them.</Empty>;
  }
  const drawn = { trials, shown, best: best?.id, onOpen: open };
  return (
    <>
      <section class="stack" aria-label="Trials">
        <div class="spread">
          <h2>{chosen.length < trials.length ? `${chosen.length} of ` : ""}{count(trials.length, "trial")}</h2>
          {rows.length > FIRST && (
            <Button kind="quiet" onClick={() => setQuery({ all: every ? null : "1" })}>
              {every ? `The first ${FIRST}` : `Show all ${rows.length}`}
            </Button>
          )}
        </div>
        {rows.length === 0
          ? (
            <Empty title="No trial is within what is chosen.">
              <Button onClick={() => setQuery({ brush: null })}>Show all trials</Button>
            </Empty>
          )
          : (
            <TrialTable trials={seen} parameters={parameters} metric={metric} best={best?.id} to={to} rows={place}
                        order={order} onOrder={(next) => setQuery({ sort: orderText(next, tuning.maximize) })} />
          )}
      </section>
      <div class="tuning-grid">
        <section class="panel" aria-label="Best so far">
          <div class="head spread">
            <h2>
              <Text value={metric} longest={80} />{" "}
              <span class="soft">{tuning.maximize ? "higher is better" : "lower is better"}</span>
            </h2>
            {best?.metric !== undefined && <span>best <strong>{number(best.metric)}</strong> in trial {best.id}</span>}
          </div>
          <div class="body"><BestSoFar tuning={tuning} /></div>
        </section>
        <section class="panel" aria-label="Importance of parameters">
          <div class="head"><h2>What matters</h2></div>
          <div class="body"><Loaded of={insight} lines={3}>{(data) => <Importances insight={data} />}</Loaded></div>
        </section>
      </div>
      <section class="panel" aria-label="Parallel coordinates">
        <div class="head spread">
          <h2>Parameters and results</h2>
          <span class="soft">Drag along an axis to choose a part of it.</span>
          {brushes.size > 0 && <Button kind="quiet" onClick={() => setQuery({ brush: null })}>Show all trials</Button>}
        </div>
        <div class="body">
          <ParallelAxes axes={axes} {...drawn} brushes={brushes} onBrush={(key, part) => {
            const next = new Map(brushes);
            if (part === null) next.delete(key);
            else next.set(key, part);
            setQuery({ brush: brushText(next) });
          }} />
        </div>
      </section>
      <div class="tuning-grid even">
        <TrialCurves trials={chosen} metric={metric} />
        <ScatterChoice axes={axes} {...drawn} />
      </div>
    </>
  );
}

function BestSoFar({ tuning }: { readonly tuning: Tuning }) {
  const curves = useMemo(() => {
    const { own, best } = progress(tuning);
    return [
      { key: "best", name: "best so far", color: 2, kind: "steps" as const, ...best },
      { key: "trials", name: "trials", color: 0, kind: "points" as const, ...own },
    ];
  }, [tuning]);
  return <Chart label={`Best ${cut(tuning.metric, 80)} so far, by trial`} curves={curves} x="number" height={200} />;
}
