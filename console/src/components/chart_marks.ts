// Events on a chart: a line for each, a word where there is room.
import type uPlot from "uplot";
import { visible } from "../text/plain.ts";
import type { Mark } from "../text/marks.ts";
import type { ChartColors } from "./chart_axes.ts";

export function drawMarks(pen: CanvasRenderingContext2D, box: uPlot.BBox, marks: readonly Mark[], x: (value: number) => number,
                          colors: ChartColors, ratio: number): void {
  let free = box.left;
  pen.save();
  pen.font = `${11 * ratio}px system-ui, sans-serif`;
  pen.textBaseline = "bottom";
  pen.textAlign = "left";
  pen.lineWidth = ratio;
  for (const mark of marks) {
    const at = Math.round(x(mark.x)) + 0.5;
    if (!(at >= box.left && at <= box.left + box.width)) continue;
    pen.strokeStyle = pen.fillStyle = mark.trouble ? colors.trouble : colors.event;
    pen.setLineDash(mark.trouble ? [] : [3 * ratio, 3 * ratio]);
    pen.beginPath();
    pen.moveTo(at, box.top);
    pen.lineTo(at, box.top + box.height);
    pen.stroke();
    const word = visible(mark.word);
    const wide = pen.measureText(word).width;
    const left = Math.min(at, box.left + box.width - wide);
    if (left < free) continue;
    pen.fillText(word, left, box.top - 2 * ratio);
    free = left + wide + 6 * ratio;
  }
  pen.restore();
}
