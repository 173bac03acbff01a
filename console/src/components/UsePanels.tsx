import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { setQuery, usePlace } from "../router.ts";
import { colorIndex } from "../state/colors.ts";
import type { Extent } from "../text/columns.ts";
import { duration } from "../text/format.ts";
import { ceilingOf, curvesOf, kindsOf, tasksOf, type UseKind, type UseSeries } from "../text/machine_use.ts";
import type { Mark } from "../text/marks.ts";
import { listOf, listText, rangeOf, rangeText } from "../text/query_list.ts";
import { finder } from "../text/tags.ts";
import { Button } from "./Button.tsx";
import { Chart } from "./Chart.tsx";
import { Empty } from "./Notices.tsx";
import "./CurveControls.css";

interface Props {
  readonly all: readonly UseSeries[];
  readonly marks: readonly Mark[];
}

/** A chart for each kind of use, split by replica; one zoom and one cursor for all. */
export function UsePanels({ all, marks }: Props) {
  const { query } = usePlace();
  const [from, to, hide, replica] = [query.get("from"), query.get("to"), query.get("hide"), query.get("replica") ?? ""];
  const range = useMemo(() => rangeOf(from, to), [from, to]);
  const hidden = useMemo(() => new Set(listOf(hide)), [hide]);
  const toggle = (task: string) => {
    const next = new Set(hidden);
    if (!next.delete(task)) next.add(task);
    setQuery({ hide: listText(next) });
  };
  const tasks = useMemo(() => tasksOf(all), [all]);
  const shown = useMemo(() => tasks.filter(finder(replica).matches), [tasks, replica]);
  const panel = (kind: UseKind) => (
    <UsePanel key={kind.type} kind={kind} all={all} tasks={shown}>
      {(curves, included) => (
        <Chart label={kind.title} curves={curves} x="time" format={kind.format} binary={!kind.share} marks={marks} sync="machine"
               include={kind.share ? included : RATES} hidden={hidden} onToggle={toggle}
               range={range} onRange={(wanted) => setQuery(rangeText(wanted))} />
      )}
    </UsePanel>
  );
  return (
    <>
      <div class="curve-controls" role="group" aria-label="Replicas that are shown">
        <label>
          Replicas
          <input class="field mono" type="search" spellcheck={false} placeholder="regular expression" value={replica}
                 onInput={(event) => setQuery({ replica: event.currentTarget.value })} />
        </label>
        {range && <span>Zoomed to {duration((range.to - range.from) * 1000)}</span>}
        {range && <Button onClick={() => setQuery({ from: null, to: null })}>Reset zoom</Button>}
        <span class="soft" role="status">{shown.length} of {tasks.length} replicas</span>
      </div>
      {all.length === 0 && <Empty title="Nothing was measured in this time.">Reset the zoom.</Empty>}
      <div class="tag-grid">{kindsOf(all).map(panel)}</div>
    </>
  );
}

const RATES = { min: 0, max: 1024 };

interface PanelProps {
  readonly kind: UseKind;
  readonly all: readonly UseSeries[];
  readonly tasks: readonly string[];
  readonly children: (curves: ReturnType<typeof curvesOf>, included: Extent) => ComponentChildren;
}

function UsePanel({ kind, all, tasks, children }: PanelProps) {
  const curves = useMemo(() => curvesOf(all, kind, tasks, colorIndex), [all, kind.type, tasks]);
  const included = useMemo(() => ({ min: 0, max: ceilingOf(all, kind) }), [all, kind.type]);
  return (
    <section class="panel tag">
      <div class="head"><h2>{kind.title}</h2></div>
      <div class="body">{children(curves, included)}</div>
    </section>
  );
}
