// The rows that exist as DOM: as many as are in view. One that leaves is used for one that comes.
import { type RowLook, RowView, SHOWN_MOST } from "./row_painter.ts";
import type { LineSource } from "./source.ts";

export const ROW_HEIGHT = 18;
/** Of what is before the text, in characters, at least. */
const COLUMNS_WIDTH = 20;

export class RowPool {
  private source: LineSource | undefined;
  private look: RowLook | undefined;
  private wrap = false;
  private readonly shown = new Map<number, RowView>();
  private free: RowView[] = [];
  private widest = 0;
  private pixels = 0;
  private measured = 0;

  constructor(private readonly box: HTMLElement) {}

  set(source: LineSource, look: RowLook, wrap: boolean): void {
    if (wrap !== this.wrap || source !== this.source) this.forget();
    this.source = source;
    this.look = look;
    this.wrap = wrap;
  }

  /** Rows have other numbers, or other heights. */
  forget(): void {
    for (const view of this.shown.values()) view.element.hidden = true;
    this.free.push(...this.shown.values());
    this.shown.clear();
    this.pixels = 0;
    this.measured = 0;
  }

  /** The row as it is now. */
  get(row: number): RowView {
    let view = this.shown.get(row);
    if (view === undefined) {
      view = this.free.pop() ?? new RowView();
      if (!view.element.isConnected) this.box.append(view.element);
      view.element.hidden = false;
      view.height = 0;
      this.shown.set(row, view);
    }
    if (this.source === undefined || this.look === undefined) return view;
    const line = this.source.row(row);
    if (view.paint(this.source.numberOf(row), line, this.look)) view.height = 0;
    if (!this.wrap && line && line.text.length > this.widest) this.widest = line.text.length;
    return view;
  }

  readonly heightOf = (row: number): number => {
    if (!this.wrap) return ROW_HEIGHT;
    const view = this.get(row);
    if (view.height === 0) {
      view.height = view.element.offsetHeight || ROW_HEIGHT;
      this.pixels += view.height;
      this.measured += 1;
    }
    return view.height;
  };

  averageHeight(): number {
    return this.measured === 0 ? ROW_HEIGHT : this.pixels / this.measured;
  }

  /** Lets all others go. */
  keep(first: number, end: number): void {
    for (const [row, view] of this.shown) {
      if (row >= first && row < end) continue;
      this.shown.delete(row);
      this.free.push(view);
    }
  }

  /** At the end of a frame: what was let go and not used again is not seen. */
  finish(): void {
    for (const view of this.free) view.element.hidden = true;
    // One width for all, which only grows: else the page would scroll back sideways when long lines leave.
    this.box.style.minWidth = this.wrap ? "" : `${Math.min(this.widest, SHOWN_MOST) + COLUMNS_WIDTH}ch`;
  }
}
