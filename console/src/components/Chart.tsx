import "uplot/dist/uPlot.min.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useInView } from "../state/in_view.ts";
import { useSettled } from "../state/settled.ts";
import { useTheme } from "../state/theme.ts";
import { type ChartView, type Curve, indexAt, sentence, xWord, zoomed } from "../text/chart_view.ts";
import type { Extent, Range } from "../text/columns.ts";
import { number } from "../text/format.ts";
import type { Mark } from "../text/marks.ts";
import { cut, visible } from "../text/plain.ts";
import { Button } from "./Button.tsx";
import { ChartLegend } from "./ChartLegend.tsx";
import { ChartTable } from "./ChartTable.tsx";
import { Text } from "./Text.tsx";
import { Plot, type Pointed } from "./chart_plot.ts";
import "./Chart.css";

interface Props {
  /** What it shows: its name for who does not see it. */
  readonly label: string;
  readonly curves: readonly Curve[];
  readonly x: ChartView["x"];
  readonly logX?: boolean;
  readonly logY?: boolean;
  readonly format?: (value: number) => string;
  /** Its values are bytes. */
  readonly binary?: boolean;
  readonly marks?: readonly Mark[];
  readonly include?: Extent;
  readonly height?: number;
  /** Where the page keeps the zoom, in its address: null is everything. Otherwise the chart keeps it. */
  readonly range?: Range | null;
  readonly onRange?: (range: Range | null) => void;
  /** Where the page keeps what is hidden. */
  readonly hidden?: ReadonlySet<string>;
  readonly onToggle?: (key: string) => void;
  /** Charts of one name share the cursor. */
  readonly sync?: string;
  readonly legend?: boolean;
}

const NO_MARKS: readonly Mark[] = [];
const HEIGHT = 220;
/** A legend of so many rows waits until the pointer rests. */
const MANY = 40;
const SETTLED_MS = 150;
const LABEL_MAX = 200;

/** Curves over steps or times. It exists only while it is in view. Keys: arrows, + and -, 0. */
export function Chart(props: Props) {
  const { label, curves, x, logX = false, logY = false, format = number, marks = NO_MARKS, include } = props;
  const { height = HEIGHT, legend = true, binary = false } = props;
  const [ownRange, setOwnRange] = useState<Range | null>(null);
  const [ownHidden, setOwnHidden] = useState<ReadonlySet<string>>(new Set());
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [picked, setPicked] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const inView = useInView(root);
  const theme = useTheme();
  const range = props.range === undefined ? ownRange : props.range;
  const setRange = props.onRange ?? setOwnRange;
  const hidden = props.hidden ?? ownHidden;
  const toggle = props.onToggle ?? ((key: string) => setOwnHidden((old) => toggled(old, key)));

  const view = useMemo<ChartView>(
    () => ({ curves: curves.filter((curve) => !hidden.has(curve.key)), x, logX, logY, format, binary, marks, range, include }),
    [curves, hidden, x, logX, logY, format, binary, marks, range?.from, range?.to, include?.min, include?.max],
  );
  const latest = useRef({ view, setRange });
  latest.current = { view, setRange };

  const axesKey = `${x} ${logX} ${logY} ${marks.length > 0} ${props.sync}`;
  useEffect(() => {
    const place = root.current;
    if (!inView || place === null) return;
    const made = new Plot(place, latest.current.view, { width: place.clientWidth, height }, props.sync, {
      pointed: setPointed,
      ranged: (wanted) => latest.current.setRange(wanted),
    });
    plot.current = made;
    const observer = new ResizeObserver(() => made.resize(place.clientWidth, height));
    observer.observe(place);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [inView, height, axesKey]);
  useEffect(() => plot.current?.show(view), [view]);
  useEffect(() => plot.current?.repaint(), [theme]);
  const highlighted = picked ?? pointed?.key ?? null;
  useEffect(() => plot.current?.highlight(highlighted), [highlighted, pointed?.x]);

  const settled = useSettled(pointed?.x ?? null, SETTLED_MS);
  const legendX = curves.length > MANY ? settled : (pointed?.x ?? null);

  const keyed = useRef(false);
  useEffect(() => {
    if (keyed.current && pointed) setSaid(words(view, pointed.x));
    keyed.current = false;
  }, [pointed?.x]);
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 0.1 : 0.01;
    const act: Record<string, () => void> = {
      ArrowLeft: () => plot.current?.move(-step),
      ArrowRight: () => plot.current?.move(step),
      "+": () => setRange(zoomed(view, 0.5, pointed?.x)),
      "=": () => setRange(zoomed(view, 0.5, pointed?.x)),
      "-": () => range && setRange(zoomed(view, 2, pointed?.x)),
      "0": () => setRange(null),
    };
    const found = act[event.key];
    if (found === undefined) return;
    event.preventDefault();
    keyed.current = event.key.startsWith("Arrow");
    found();
  };

  const name = visible(cut(label, LABEL_MAX));
  return (
    <figure class="chart" aria-label={name}>
      <div class="plot" ref={root} style={{ height: `${height}px` }} tabIndex={0} role="group" aria-roledescription="chart"
           aria-label={`${name}. ${sentence(view)} Arrow keys read values, plus and minus zoom, 0 shows all.`}
           onKeyDown={pressed} />
      <span class="hidden-text" aria-live="polite">{said}</span>
      <div class="under">
        <span class="soft at"><Text value={pointed ? under(view, pointed) : ""} longest={160} /></span>
        {range && props.onRange === undefined && <Button kind="quiet" onClick={() => setRange(null)}>Reset zoom</Button>}
      </div>
      {legend && (
        <ChartLegend view={view} curves={curves} hidden={hidden} onToggle={toggle} x={legendX}
                     highlighted={highlighted} onHighlight={setPicked} />
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Values</summary>
        {open && <ChartTable view={view} />}
      </details>
    </figure>
  );
}

/** Where the cursor is, and the curve there. */
function under(view: ChartView, { x, key }: Pointed): string {
  const curve = view.curves.find((one) => one.key === key);
  const at = curve === undefined ? -1 : indexAt(curve, x);
  if (curve === undefined || at < 0) return xWord(view, x);
  return `${xWord(view, x)}: ${curve.name} ${view.format(curve.ys[at] ?? Number.NaN)}`;
}

/** A set with what it did not have, or without what it had. */
function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}

const SPOKEN_MAX = 5;

/** What is at x, as it is read out. */
function words(view: ChartView, x: number): string {
  const values = view.curves.slice(0, SPOKEN_MAX).map((curve) => {
    const at = indexAt(curve, x);
    return `${curve.name} ${at < 0 ? "nothing" : view.format(curve.ys[at] ?? Number.NaN)}`;
  });
  const more = view.curves.length > SPOKEN_MAX ? `, and ${view.curves.length - SPOKEN_MAX} more` : "";
  return `${xWord(view, x)}: ${values.join(", ")}${more}`;
}
