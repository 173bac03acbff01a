import type { LogSummaryJson } from "proto/control/v1/log_window_pb";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogState } from "../../log/state.ts";
import { cssColor } from "../../state/colors.ts";
import { useTheme } from "../../state/theme.ts";
import { num } from "../../text/format.ts";
import type { LineRange } from "../../text/log_lines.ts";

interface Props {
  readonly state: LogState | undefined;
  readonly summary: LogSummaryJson | undefined;
  readonly chosen: LineRange | null;
  readonly onLine: (line: number) => void;
}

/** Beside the scroll bar: where errors, warnings, matches and the chosen lines are in the whole log. */
export function LogMarks({ state, summary, chosen, onLine }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const theme = useTheme();
  const total = Math.max(state?.total ?? 0, 1);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const found = state?.search?.found;
  // What is on the bar changes seldom, where the reader is with each frame: they are drawn apart.
  const marks = useMemo(() => {
    const picture = document.createElement("canvas");
    const draw = sized(picture, size);
    if (!draw) return picture;
    const y = (line: number) => Math.min(Math.floor((line / total) * size.height), size.height - 1);
    const half = size.width / 2;
    const dashes = (color: string, lines: readonly number[], left: number, height: number) => {
      draw.fillStyle = cssColor(color);
      for (const at of new Set(lines.map(y))) draw.fillRect(left, at, half, height);
    };
    const having = (of: "warnings" | "errors") =>
      (summary?.buckets ?? []).filter((bucket) => num(bucket[of]) > 0).map((bucket) => num(bucket.first));
    dashes("--warn", having("warnings"), 0, 2);
    dashes("--bad", having("errors"), 0, 3);
    dashes("--accent", found ?? [], half, 2);
    return picture;
  }, [size, theme, summary, found, state?.searchRound, total]);
  const colors = useMemo(() => ({ view: cssColor("--paper-3"), chosen: cssColor("--ink") }), [theme]);
  useEffect(() => {
    const draw = canvas.current && sized(canvas.current, size);
    if (!draw) return;
    const y = (line: number) => Math.min(Math.floor((line / total) * size.height), size.height - 2);
    const [first, last] = [state?.first ?? 0, state?.last ?? 0];
    draw.fillStyle = colors.view;
    draw.fillRect(0, y(first), size.width, Math.max(y(last) - y(first), 4));
    draw.drawImage(marks, 0, 0, size.width, size.height);
    draw.fillStyle = colors.chosen;
    if (chosen) draw.fillRect(0, y(chosen.first), size.width, 2);
  }, [marks, colors, state?.first, state?.last, chosen]);
  const go = (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    onLine(Math.floor(Math.min(Math.max((event.clientY - box.top) / box.height, 0), 1) * total));
  };
  return <canvas ref={canvas} class="log-marks" aria-hidden="true" onPointerDown={go} onPointerMove={go} />;
}

function sized(canvas: HTMLCanvasElement, { width, height }: { width: number; height: number }): CanvasRenderingContext2D | null {
  canvas.width = Math.max(width * devicePixelRatio, 1);
  canvas.height = Math.max(height * devicePixelRatio, 1);
  const draw = canvas.getContext("2d");
  draw?.scale(devicePixelRatio, devicePixelRatio);
  return draw;
}
