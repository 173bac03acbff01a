// The list of lines on the screen. It keeps its own position: a browser cannot scroll over more than two million rows, so
// its scroll bar only stands for the position, and is set right whenever it rests.
import {
  BAR_LONGEST, compare, lastSpot, limited, moved, shareOf, type Spot, spotAtShare, spotFor, TOP,
} from "../text/log_position.ts";
import type { RowLook } from "./row_painter.ts";
import { ROW_HEIGHT, RowPool } from "./row_pool.ts";
import type { LineSource } from "./source.ts";

/** A scroll that is longer than so many screens is a jump. */
const JUMP_SCREENS = 2;
const BAR_ROOM = 400;
const REST_MS = 200;

export interface RowsEvents {
  /** The reader sees other rows; `atEnd`: the last one is among them. */
  moved(first: number, last: number, atEnd: boolean): void;
  /** The reader scrolled, up or down. */
  scrolled(down: boolean, atEnd: boolean): void;
  rested(): void;
}

export class RowsView {
  private spot: Spot = TOP;
  private source: LineSource | undefined;
  private wrap = false;
  private readonly pool: RowPool;
  private barTop = 0;
  private barHeight = 0;
  private barOf = "";
  private frame = 0;
  private end = false;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly resized = new ResizeObserver(() => {
    if (this.wrap) this.pool.forget();
    this.draw();
  });

  /** @param scroller  has the bar; @param spacer  gives it its length; @param box  sticks in view, and has the rows */
  constructor(private readonly scroller: HTMLElement, private readonly spacer: HTMLElement, private readonly box: HTMLElement,
              private readonly events: RowsEvents) {
    box.replaceChildren();
    this.pool = new RowPool(box);
    scroller.addEventListener("scroll", this.onScroll, { passive: true });
    scroller.addEventListener("scrollend", this.onRest, { passive: true });
    this.resized.observe(scroller);
  }

  close(): void {
    this.resized.disconnect();
    this.scroller.removeEventListener("scroll", this.onScroll);
    this.scroller.removeEventListener("scrollend", this.onRest);
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
  }

  show(source: LineSource, look: RowLook, wrap: boolean): void {
    this.pool.set(source, look, wrap);
    this.source = source;
    this.wrap = wrap;
    this.draw();
  }

  /** So many rows are new before the first. */
  shiftBy(rows: number): void {
    this.pool.forget();
    this.spot = { row: Math.max(this.spot.row + rows, 0), offset: this.spot.offset };
    this.draw();
  }

  /** Shows rows as they are now, in the next frame. */
  draw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  /** Brings a row to a share of the view's height, and stays there. */
  goTo(row: number, share = 0.3): void {
    this.end = false;
    this.place(spotFor(row, share, this.viewHeight, this.last(), this.pool.heightOf));
  }

  /** As goTo(), if the row is not in view. */
  reveal(row: number): void {
    const first = this.spot.row;
    const below = moved(this.spot, this.viewHeight, this.last(), this.pool.heightOf).row;
    const end = this.wrap ? below : first + Math.floor(this.viewHeight / ROW_HEIGHT);
    if (row > first && row < end) return;
    if (row === first || row === first - 1) this.goTo(row, 0);
    else if (!this.wrap && row >= end && row < end + 2) this.goTo(row, 1 - ROW_HEIGHT / this.viewHeight);
    else this.goTo(row);
  }

  /** Follows the end, whatever comes; until goTo(), or a scroll up. */
  setEnd(follow: boolean): void {
    this.end = follow;
    if (follow) this.draw();
  }

  scrollBy(screens: number): void {
    const pixels = screens * Math.max(this.viewHeight - 2 * ROW_HEIGHT, ROW_HEIGHT);
    this.place(moved(this.spot, pixels, this.last(), this.pool.heightOf));
  }

  private get viewHeight(): number {
    return this.scroller.clientHeight;
  }

  private place(spot: Spot): void {
    this.spot = spot;
    this.setBar();
    this.draw();
  }

  /** In a wrapped log only near the end, where it matters: rows have to be drawn to be measured. */
  private last(): Spot {
    const rows = this.source?.rows ?? 0;
    const isFar = this.spot.row + 4 * Math.ceil(this.viewHeight / ROW_HEIGHT) < rows;
    if (this.wrap && !this.end && isFar) return { row: rows - 1, offset: 0 };
    return lastSpot(rows, this.viewHeight, this.pool.heightOf);
  }

  private readonly onScroll = () => {
    const top = this.scroller.scrollTop;
    const pixels = top - this.barTop;
    this.barTop = top;
    if (pixels === 0) return;
    // At the end of what there is to scroll over: the view has grown, and the browser moved it, not the reader.
    if (this.end && pixels < 0 && top >= this.scroller.scrollHeight - this.viewHeight - 1) return this.draw();
    this.end = false;
    const last = this.last();
    const range = this.barHeight - this.viewHeight;
    const isJump = Math.abs(pixels) > JUMP_SCREENS * this.viewHeight;
    this.spot = isJump
      ? spotAtShare(top / Math.max(range, 1), last, this.pool.heightOf)
      : moved(this.spot, pixels, last, this.pool.heightOf);
    const isStuck = (top <= 0 && compare(this.spot, TOP) > 0) || (top >= range - 1 && compare(this.spot, last) < 0);
    if (isStuck) this.setBar();
    this.events.scrolled(pixels > 0, compare(this.spot, last) >= 0);
    clearTimeout(this.resting);
    this.resting = setTimeout(this.onRest, REST_MS); // some browsers have no scrollend
    this.draw();
  };

  private readonly onRest = () => {
    clearTimeout(this.resting);
    this.setBar();
    this.draw();
    this.events.rested();
  };

  /** The bar as the position says. */
  private setBar(): void {
    const view = this.viewHeight;
    const last = this.last();
    const rows = this.source?.rows ?? 0;
    const all = rows * (this.wrap ? this.pool.averageHeight() : ROW_HEIGHT);
    const least = compare(last, TOP) > 0 ? view + (this.wrap ? BAR_ROOM : 1) : view;
    this.barHeight = compare(last, TOP) > 0 ? Math.min(Math.max(all, least), BAR_LONGEST) : view;
    this.spacer.style.height = `${this.barHeight - view}px`;
    const isExact = !this.wrap && all <= BAR_LONGEST;
    const top = isExact
      ? this.spot.row * ROW_HEIGHT + this.spot.offset
      : shareOf(this.spot, last, this.pool.heightOf) * (this.barHeight - view);
    if (Math.abs(top - this.scroller.scrollTop) >= 1) this.scroller.scrollTop = top;
    this.barTop = this.scroller.scrollTop;
  }

  private paint(): void {
    this.frame = 0;
    const { source, pool } = this;
    if (source === undefined) return;
    const view = this.viewHeight;
    const last = this.last();
    this.spot = this.end ? last : limited(this.spot, last);
    let row = this.spot.row;
    pool.keep(row, row + Math.ceil(view / ROW_HEIGHT) + 1);
    for (let y = -this.spot.offset; y < view && row < source.rows; row += 1) {
      pool.get(row).moveTo(Math.round(y));
      y += pool.heightOf(row);
    }
    this.box.style.height = `${view}px`;
    const isMoving = Math.abs(this.scroller.scrollTop - this.barTop) >= 1;
    const bar = `${source.rows} ${view} ${this.wrap}`;
    if (this.end || (!isMoving && bar !== this.barOf)) this.setBar();
    this.barOf = bar;
    pool.keep(this.spot.row, row);
    pool.finish();
    source.want(this.spot.row, row);
    this.events.moved(this.spot.row, Math.max(row - 1, 0), compare(this.spot, last) >= 0);
  }
}
