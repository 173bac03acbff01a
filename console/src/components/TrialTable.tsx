import { useRef } from "preact/hooks";
import { setQuery, usePlace } from "../router.ts";
import { useNarrow } from "../state/narrow.ts";
import type { RowsPlace } from "../state/rows.ts";
import { useWidth } from "../state/width.ts";
import { number, shortNumbers } from "../text/format.ts";
import { cut, visible } from "../text/plain.ts";
import { shortName } from "../text/short_name.ts";
import { type Column, COLUMNS, type Order, outcome, type Parameter, parameterColumn, type Trial, valueText } from "../text/trials.ts";
import { Button } from "./Button.tsx";
import { Link } from "./Link.tsx";
import { StateChip } from "./StateChip.tsx";
import { Text } from "./Text.tsx";
import { Elapsed } from "./Time.tsx";
import { VirtualRows } from "./VirtualRows.tsx";
import "./TrialTable.css";

interface Props {
  /** In the order in which they are shown. */
  readonly trials: readonly Trial[];
  readonly parameters: readonly Parameter[];
  readonly metric: string;
  readonly best: string | undefined;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
  /** A trial's own page. */
  readonly to: (trial: string) => string;
  readonly rows: RowsPlace;
}

const ROW_HEIGHT = 36;
const CARD_HEIGHT = 92;
/** Of the columns that are always there, and of one of a parameter at least; in pixels. */
const FIXED_PX = 580;
const COLUMN_PX = 92;
const WIDE_PX = 150; // where the table scrolls: whole names
const HEAD_NAME = 20; // characters of a column's name; all of it is its title
const PARAMETERS_LEAST = 2;

/** Trials as rows, or as cards where it is narrow; sorted by a click on a column's head. */
export function TrialTable(props: Props) {
  const { trials, rows } = props;
  const narrow = useNarrow();
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const { query } = usePlace();
  const wide = !narrow && query.get("cols") === "all";
  const room = Math.max(PARAMETERS_LEAST, Math.floor((width - FIXED_PX) / COLUMN_PX));
  const parameters = narrow || wide ? props.parameters : props.parameters.slice(0, room);
  const least = wide ? FIXED_PX + WIDE_PX * parameters.length : 0;
  const columns = `76px 128px 112px ${parameters.length > 0 ? `repeat(${parameters.length}, minmax(76px, 1fr))` : ""} 92px minmax(60px, 1.6fr)`;
  return (
    <>
      {!narrow && <Room shown={parameters.length} all={props.parameters.length} chosen={wide && props.parameters.length > room} />}
      <div class={wide ? "trial-scroll" : ""} ref={element} {...(wide ? SCROLLS : {})}>
        <div class="trial-table" role="table" aria-label="Trials" aria-rowcount={trials.length + 1}
             style={{ "--columns": columns, minWidth: `${least}px` }}>
          {!narrow && <Head {...props} parameters={parameters} />}
          <VirtualRows count={trials.length} rowHeight={narrow ? CARD_HEIGHT : ROW_HEIGHT}
            {...rows.place}
            row={(at) => {
              const trial = trials[at];
              if (trial === undefined) return null;
              const own = { ...props, parameters, trial, on: at === rows.at };
              return narrow ? <Card {...own} /> : <Row {...own} />;
            }} />
        </div>
      </div>
    </>
  );
}

const SCROLLS = { role: "region" as const, "aria-label": "Trials with all parameters", tabIndex: 0 };

interface RoomProps {
  readonly shown: number;
  readonly all: number;
  /** All are shown, although they have no room. */
  readonly chosen: boolean;
}

/** Says which parameters have no column, and gives them one. */
function Room({ shown, all, chosen }: RoomProps) {
  if (shown === all && !chosen) return null;
  return (
    <p class="row">
      <span class="soft">{shown === all ? `All ${all} parameters` : `${shown} of ${all} parameters have room here.`}</span>
      <Button kind="quiet" onClick={() => setQuery({ cols: chosen ? null : "all" })}>
        {chosen ? "Only those that have room" : `Show all ${all}`}
      </Button>
    </p>
  );
}

function Head({ parameters, metric, order, onOrder }: Props) {
  const head = (column: Column, name: string, firstDescending = false) => {
    const on = order.column === column;
    const next = { column, descending: on ? !order.descending : firstDescending };
    return (
      <span role="columnheader" key={column} aria-sort={on ? (order.descending ? "descending" : "ascending") : "none"}>
        <button type="button" onClick={() => onOrder(next)} title={visible(cut(name, 200))}>
          <Text value={shortName(name, HEAD_NAME)} longest={40} />{on && <span aria-hidden="true">{order.descending ? " ↓" : " ↑"}</span>}
        </button>
      </span>
    );
  };
  return (
    <div class="trial-row head" role="row">
      {head(COLUMNS.trial, "Trial")}
      {head(COLUMNS.state, "State")}
      {head(COLUMNS.metric, metric || "Metric", true)}
      {parameters.map(({ name }) => head(parameterColumn(name), name))}
      {head(COLUMNS.elapsed, "Elapsed")}
      <span role="columnheader">Remarks</span>
    </div>
  );
}

interface RowProps extends Props {
  readonly trial: Trial;
  readonly on: boolean;
}

function Row({ trial, on, best, parameters, to }: RowProps) {
  return (
    <div class={`trial-row${trial.id === best ? " best" : ""}${on ? " current" : ""}`} role="row">
      <span role="cell"><Link to={to(trial.id)}><Text value={trial.id} longest={20} /></Link></span>
      <span role="cell"><StateChip state={outcome(trial)} /></span>
      <span role="cell"><Result trial={trial} best={trial.id === best} /></span>
      {parameters.map(({ name }) => (
        <span role="cell" key={name}><Text value={valueText(trial.values[name])} longest={40} /></span>
      ))}
      <span role="cell"><Elapsed from={trial.start} to={trial.end} /></span>
      <span role="cell" class="soft" title={visible(cut(trial.reason, 500))}><Remarks trial={trial} /></span>
    </div>
  );
}

function Card({ trial, on, best, parameters, to }: RowProps) {
  return (
    <div class={`trial-card${trial.id === best ? " best" : ""}${on ? " current" : ""}`} role="row">
      <div class="line" role="cell">
        <Link to={to(trial.id)}>Trial <Text value={trial.id} longest={20} /></Link>
        <Result trial={trial} best={trial.id === best} />
        <StateChip state={outcome(trial)} />
      </div>
      <div class="line soft" role="cell">
        <Text value={parameters.map(({ name }) => `${name} ${valueText(trial.values[name])}`).join(" · ")} longest={200} />
      </div>
      <div class="line soft" role="cell"><span><Elapsed from={trial.start} to={trial.end} /></span><Remarks trial={trial} /></div>
    </div>
  );
}

function Result({ trial, best }: { readonly trial: Trial; readonly best: boolean }) {
  if (trial.metric === undefined) return <span class="soft">–</span>;
  return <span class={best ? "result best" : "result"}>{number(trial.metric)}{best && " ★ best"}</span>;
}

function Remarks({ trial }: { readonly trial: Trial }) {
  return <Text value={shortNumbers(trial.reason)} longest={200} />;
}
