// Curves on a canvas.
import uPlot from "uplot";
import type { ChartView, Curve } from "../text/chart_view.ts";
import { type Extent, within } from "../text/columns.ts";
import { DASHES } from "../text/looks.ts";

/** From values to pixels of a canvas. uPlot's own function decides anew for each value. */
export interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly range: Extent;
}

export function scalesOf(view: ChartView, { left, top, width, height }: uPlot.BBox, x: Extent, y: Extent): Scales {
  const along = (log: boolean, { min, max }: Extent, begin: number, span: number) => {
    const of = log ? Math.log10 : (value: number) => value;
    const low = of(min);
    const share = span / (of(max) - low);
    return (value: number) => begin + (of(value) - low) * share;
  };
  return { x: along(view.logX, x, left, width), y: along(view.logY, y, top + height, -height), range: x };
}

/** Draws the curve, or other values of it, as far as it is in the picture. Values that stand alone are dots. */
export function paint(pen: CanvasRenderingContext2D, { x, y, range }: Scales, curve: Curve, ys: ArrayLike<number>, color: string,
                      width: number): void {
  const [first, last] = within(curve.xs, range.min, range.max);
  const path = new Path2D();
  const dots = new Path2D();
  const dot = Math.max(width * (curve.kind === "points" ? 1.8 : 1), 2);
  let open = false;
  let before = 0;
  for (let at = first; at < last; at += 1) {
    const px = x(curve.xs[at] ?? 0);
    const py = y(ys[at] ?? Number.NaN);
    const seen = Number.isFinite(px) && Number.isFinite(py);
    const alone = !open && !Number.isFinite(y(ys[at + 1] ?? Number.NaN));
    if (seen && (alone || curve.kind === "points")) {
      dots.moveTo(px + dot, py);
      dots.arc(px, py, dot, 0, 7);
    }
    if (seen && open && curve.kind === "steps") path.lineTo(px, before);
    if (seen && open) path.lineTo(px, py);
    else if (seen) path.moveTo(px, py);
    open = seen;
    before = py;
  }
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = width;
  pen.lineJoin = "round";
  pen.setLineDash((DASHES[curve.dash ?? 0] ?? []).map((length) => length * uPlot.pxRatio));
  if (curve.kind !== "points") pen.stroke(path);
  pen.setLineDash([]);
  pen.fill(dots);
}

