// A chart on the screen: uPlot for axes, cursor and selection, curves by our own hand. uPlot wants all curves on common
// x; ours are thinned each by itself and have their own, and the one that is pointed at goes onto a canvas above, so
// that the others need not be drawn again.
import uPlot from "uplot";
import { type ChartView, type Curve, indexAt, xExtent, yExtent } from "../text/chart_view.ts";
import { axes, chartColors } from "./chart_axes.ts";
import { drawMarks } from "./chart_marks.ts";
import { paint, type Scales, scalesOf } from "./chart_paint.ts";

/** What the reader points at. */
export interface Pointed {
  readonly x: number;
  /** Of the curve nearest to the pointer, where it is over this chart. */
  readonly key: string | null;
}

export interface PlotListener {
  pointed(at: Pointed | null): void;
  /** x was chosen by dragging; null: everything is wanted again. */
  ranged(range: { from: number; to: number } | null): void;
}

/** Curves nearer than this are pointed at; in pixels. */
const NEAR_PX = 30;

export class Plot {
  private readonly plot: uPlot;
  private readonly above = document.createElement("canvas");
  private colors = chartColors();
  private highlighted: string | null = null;
  private frame = 0;

  constructor(root: HTMLElement, private view: ChartView, size: { width: number; height: number }, sync: string | undefined,
              private readonly listener: PlotListener) {
    const distr = (log: boolean) => (log ? 3 : 1);
    this.plot = new uPlot({
      ...size,
      series: [{}, { points: { show: false } }],
      legend: { show: false },
      padding: [view.marks.length > 0 ? 18 : 8, 26, 0, 0],
      scales: {
        x: { time: view.x === "time", distr: distr(view.logX), range: () => this.xRange() },
        y: { distr: distr(view.logY), range: () => this.yRange() },
      },
      axes: axes(view, () => this.colors),
      cursor: {
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { this.listener.ranged(null); return null; } },
        ...(sync === undefined ? {} : { sync: { key: sync, setSeries: false } }),
      },
      hooks: {
        draw: [() => this.draw()],
        setCursor: [() => this.point()],
        setSelect: [() => this.selected()],
        setSize: [() => this.highlight(this.highlighted)],
      },
    }, this.frameData(), root);
    this.above.className = "above";
    this.plot.over.append(this.above);
  }

  /** The same axes, other curves or another range. */
  show(view: ChartView): void {
    this.view = view;
    this.plot.setData(this.frameData());
    this.highlight(this.highlighted);
  }

  /** Another theme. */
  repaint(): void {
    this.colors = chartColors();
    this.plot.redraw(false, true);
    this.highlight(this.highlighted);
  }

  resize(width: number, height: number): void {
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({ width, height });
  }

  /** Moves the cursor by a share of the width; from the middle, if it is nowhere. */
  move(by: number): void {
    const width = this.plot.over.clientWidth;
    const left = (this.plot.cursor.left ?? -1) < 0 ? width / 2 : (this.plot.cursor.left ?? 0) + by * width;
    this.plot.setCursor({ left: Math.min(width - 1, Math.max(0, left)), top: this.plot.over.clientHeight / 2 });
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.plot.destroy();
  }

  /** Draws one curve above the others. */
  highlight(key: string | null): void {
    this.highlighted = key;
    const { over, cursor } = this.plot;
    const ratio = uPlot.pxRatio;
    const [width, height] = [Math.round(over.clientWidth * ratio), Math.round(over.clientHeight * ratio)];
    if (this.above.width !== width) this.above.width = width;
    if (this.above.height !== height) this.above.height = height;
    const curve = this.view.curves.find((one) => one.key === key);
    const pen = this.above.getContext("2d");
    pen?.resetTransform();
    pen?.clearRect(0, 0, width, height);
    if (curve === undefined || pen === null) return;
    const box = this.plot.bbox;
    pen.translate(-box.left, -box.top);
    paint(pen, this.scales(), curve, curve.ys, this.colorOf(curve), 3 * ratio);
    const at = (cursor.left ?? -1) < 0 ? -1 : indexAt(curve, this.plot.posToVal(cursor.left ?? 0, "x"));
    if (at < 0) return;
    const { x, y } = this.scales();
    pen.beginPath();
    pen.arc(x(curve.xs[at] ?? 0), y(curve.ys[at] ?? 0), 4.5 * ratio, 0, 7);
    pen.fill();
  }

  private frameData(): uPlot.AlignedData {
    const { min, max } = xExtent(this.view);
    return [[min, max], [null, null]];
  }

  private xRange(): [number, number] {
    const { min, max } = xExtent(this.view);
    return [min, max];
  }

  private yRange(): [number, number] {
    const { min, max } = yExtent(this.view, xExtent(this.view));
    return [min, max];
  }

  private scales(): Scales {
    const { x, y } = this.plot.scales;
    return scalesOf(this.view, this.plot.bbox, { min: x?.min ?? 0, max: x?.max ?? 1 }, { min: y?.min ?? 0, max: y?.max ?? 1 });
  }

  private colorOf(curve: Curve): string {
    return this.colors.lines[curve.color] ?? this.colors.ink;
  }

  private draw(): void {
    const { ctx, bbox } = this.plot;
    const ratio = uPlot.pxRatio;
    const scales = this.scales();
    drawMarks(ctx, bbox, this.view.marks, scales.x, this.colors, ratio);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const curve of this.view.curves) {
      if (curve.raw === undefined) continue;
      ctx.globalAlpha = 0.3;
      paint(ctx, scales, curve, curve.raw, this.colorOf(curve), ratio);
    }
    ctx.globalAlpha = 1;
    for (const curve of this.view.curves) paint(ctx, scales, curve, curve.ys, this.colorOf(curve), 1.5 * ratio);
    ctx.restore();
  }

  /** Tells what is pointed at, once a frame. */
  private point(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const { left = -1, top = -1 } = this.plot.cursor;
      if (left < 0) return this.listener.pointed(null);
      const x = this.plot.posToVal(left, "x");
      this.listener.pointed({ x, key: this.plot.over.matches(":hover") ? this.nearestTo(x, top) : null });
    });
  }

  private nearestTo(x: number, top: number): string | null {
    const scale = this.scales().y;
    const wanted = this.plot.bbox.top + top * uPlot.pxRatio;
    let key: string | null = null;
    let best = NEAR_PX * uPlot.pxRatio;
    for (const curve of this.view.curves) {
      const at = indexAt(curve, x);
      const away = at < 0 ? Number.NaN : Math.abs(scale(curve.ys[at] ?? Number.NaN) - wanted);
      if (away < best) [best, key] = [away, curve.key];
    }
    return key;
  }

  private selected(): void {
    const { left, width } = this.plot.select;
    if (width < 4) return;
    const range = { from: this.plot.posToVal(left, "x"), to: this.plot.posToVal(left + width, "x") };
    this.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.listener.ranged(range);
  }
}
