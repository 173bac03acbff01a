import { useRef } from "preact/hooks";
import { useSteady } from "../state/steady.ts";
import type { Brush, ParameterAxis } from "../text/parameter_axis.ts";
import { cut, visible } from "../text/plain.ts";
import { shortName } from "../text/short_name.ts";
import { Text } from "./Text.tsx";

interface Props {
  readonly axis: ParameterAxis;
  /** Where it stands, and its height, in pixels. */
  readonly left: number;
  readonly height: number;
  /** To the next axis. */
  readonly room: number;
  readonly last: boolean;
  readonly brush: Brush | undefined;
  readonly onBrush: (brush: Brush | null) => void;
}

const WHOLE: Brush = { from: 0, to: 1 };
const STEP = 0.02;
const STEADY_MS = 120;
/** Nearer than this, names are written aslant and only the ends are named. */
const TIGHT_PX = 84;
/** Characters of a name that stands aslant. */
const TIGHT_NAME = 10;

/** An upright axis of which a part can be chosen: drag along it, or move its two ends by keys; Escape chooses all. */
export function BrushAxis({ axis, left, height, room, last, brush, onBrush }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const began = useRef<number | null>(null);
  const [shown, move] = useSteady(brush, STEADY_MS, (wanted) => onBrush(wanted ?? null));
  const { from, to } = shown ?? WHOLE;
  const set = (wanted: Brush) => {
    const next = { from: Math.max(0, Math.min(wanted.from, wanted.to)), to: Math.min(1, Math.max(wanted.from, wanted.to)) };
    move(next.from <= 0 && next.to >= 1 ? undefined : next);
  };
  const place = (event: PointerEvent) => {
    const box = element.current?.getBoundingClientRect();
    return box ? Math.min(1, Math.max(0, 1 - (event.clientY - box.top) / box.height)) : 0;
  };
  const down = (event: PointerEvent) => {
    began.current = place(event);
    element.current?.setPointerCapture(event.pointerId);
  };
  const moved = (event: PointerEvent) => {
    if (began.current === null) return;
    const at = place(event);
    if (Math.abs(at - began.current) > 0.01) set({ from: began.current, to: at });
  };
  const up = (event: PointerEvent) => {
    if (began.current !== null && Math.abs(place(event) - began.current) <= 0.01) move(undefined);
    began.current = null;
  };
  const handle = (end: "from" | "to") => {
    const at = end === "from" ? from : to;
    const pressed = (event: KeyboardEvent) => {
      const by = event.shiftKey ? 5 * STEP : STEP;
      const [more, less] = [at + by, at - by];
      const next: Record<string, number> = { ArrowUp: more, ArrowRight: more, ArrowDown: less, ArrowLeft: less, Home: 0, End: 1 };
      const wanted = next[event.key];
      if (event.key === "Escape") move(undefined);
      else if (wanted === undefined) return;
      else set(end === "from" ? { from: Math.min(wanted, to - STEP), to } : { from, to: Math.max(wanted, from + STEP) });
      event.preventDefault();
    };
    return (
      <span class={`handle ${end}`} tabIndex={0} role="slider" aria-orientation="vertical" aria-valuemin={0} aria-valuemax={100}
            aria-valuenow={Math.round(at * 100)} aria-valuetext={visible(cut(axis.text(at), 80))} onKeyDown={pressed}
            aria-label={`${visible(cut(axis.name, 80))}, ${end === "from" ? "lower" : "upper"} end`}
            style={{ bottom: `${at * height}px` }} />
    );
  };
  const tight = room < TIGHT_PX;
  const ticks = tight ? axis.ticks.filter((tick) => tick.at < 0.02 || tick.at > 0.98) : axis.ticks;
  return (
    <div class={`axis${last ? " last" : ""}${tight ? " tight" : ""}`} style={{ left: `${left}px`, height: `${height}px` }}>
      <span class="name" style={{ maxWidth: tight ? "80px" : `${room - 8}px` }} title={visible(cut(axis.name, 200))}>
        <Text value={shortName(axis.name, tight ? TIGHT_NAME : 60)} longest={60} />
      </span>
      <div class="rail" ref={element} onPointerDown={down} onPointerMove={moved} onPointerUp={up} />
      {shown && <span class="chosen" style={{ bottom: `${from * height}px`, height: `${(to - from) * height}px` }} />}
      {ticks.map((tick) => (
        <span key={tick.at} class="tick" style={{ bottom: `${tick.at * height}px`, maxWidth: `${Math.max(36, room - 14)}px` }}>
          <Text value={tick.text} longest={24} />
        </span>
      ))}
      {handle("from")}
      {handle("to")}
    </div>
  );
}
