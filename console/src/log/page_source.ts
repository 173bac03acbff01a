// A log without a filter: a row a line, in pages of a thousand, of which the last used ones are kept. States of a progress
// bar that were written over have no row; that is known of pages that were here.
import { asApiError } from "../api/use.ts";
import { num } from "../text/format.ts";
import { type LogLine, lineOf, weightOf } from "../text/log_lines.ts";
import { Folds, writtenOver } from "../text/redraws.ts";
import type { AskLines, LineSource, SourceEvents } from "./source.ts";

export const PAGE = 1000;
const PAGES_MOST = 40;
const WEIGHT_MOST = 12_000_000;
/** Rows beyond those in view that are fetched with them. */
const AHEAD = 150;
const PAUSE_MS = 1000;

interface Page {
  /** From the page's first row on: all of it, or what there was or was sent of it. */
  lines: LogLine[];
  weight: number;
}

export class PageSource implements LineSource {
  readonly looking = false;
  private readonly folds = new Folds();
  private readonly pages = new Map<number, Page>();
  private weight = 0;
  /** Lines of the log, as last heard; those beyond `total` get their rows when they are here. */
  private heard = 0;
  private asking: { readonly page: number; readonly abort: AbortController } | undefined;
  private wanted: readonly [number, number] = [0, 0];
  private stopped = false;
  private pausing: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly ask: AskLines, private readonly events: SourceEvents, private total: number) {}

  get rows(): number {
    return this.total - this.folds.count;
  }

  /** Lines that came with the answer that said how many there are. */
  seed(lines: readonly LogLine[]): void {
    const begin = lines[0]?.number ?? -1;
    if (begin % PAGE === 0) this.take(begin / PAGE, begin, lines.slice(0, PAGE));
  }

  row(at: number): LogLine | undefined {
    const line = this.folds.lineOf(at);
    return this.pages.get(Math.floor(line / PAGE))?.lines[line % PAGE];
  }

  numberOf(row: number): number {
    return this.folds.lineOf(row);
  }

  rowOf(line: number): number {
    return Math.min(this.folds.rowOf(Math.min(line, this.total)), Math.max(this.rows - 1, 0));
  }

  goTo(line: number): void {
    this.events.replaced(this.rowOf(line));
  }

  grow(total: number): void {
    if (total <= Math.max(this.total, this.heard)) return;
    this.heard = total;
    // At the end, the new lines come with their texts: a row without one would flash below a bar that is redrawn.
    const [first, last] = this.wanted;
    if (!this.stopped && last >= this.total && this.missing(first, this.total) === undefined) return this.pump();
    this.total = total;
    this.events.changed(0);
  }

  want(first: number, last: number): void {
    this.wanted = [this.folds.lineOf(first), this.folds.lineOf(last)];
    this.pump();
  }

  retry(): void {
    this.stopped = false;
    this.pump();
  }

  close(): void {
    this.stopped = true;
    clearTimeout(this.pausing);
    this.asking?.abort.abort();
  }

  /** The first line of these that is not here. */
  private missing(first: number, last: number): number | undefined {
    for (let row = Math.max(first, 0); row < Math.min(last, Math.max(this.total, this.heard)); row += 1) {
      const lines = this.pages.get(Math.floor(row / PAGE))?.lines.length ?? 0;
      if (row % PAGE >= lines) return row;
      row = Math.max(row, Math.floor(row / PAGE) * PAGE + Math.min(lines, PAGE) - 1);
    }
    return undefined;
  }

  private pump(): void {
    if (this.stopped) return;
    const [first, last] = this.wanted;
    const row = this.missing(first, last) ?? this.missing(first - AHEAD, last + AHEAD);
    if (row === undefined) return;
    const page = Math.floor(row / PAGE);
    if (this.asking !== undefined) {
      if (page === this.asking.page || this.inView(this.asking.page)) return;
      this.asking.abort.abort();
    }
    void this.fetch(page);
  }

  private inView(page: number): boolean {
    const [first, last] = this.wanted;
    return page * PAGE < last + AHEAD && (page + 1) * PAGE > first - AHEAD;
  }

  private async fetch(page: number): Promise<void> {
    const abort = new AbortController();
    const own = { page, abort };
    this.asking = own;
    const begin = page * PAGE + (this.pages.get(page)?.lines.length ?? 0);
    try {
      const window = await this.ask({ first: begin, count: (page + 1) * PAGE - begin }, abort.signal);
      if (abort.signal.aborted) return;
      const shift = this.take(page, begin, (window.lines ?? []).map(lineOf));
      this.events.failed(undefined);
      const total = num(window.total);
      if (total > this.total) {
        this.total = total;
        this.events.total(total);
      }
      if ((window.lines ?? []).length === 0) this.pause(); // it was told of lines that are not readable yet
      this.events.changed(shift);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.stopped = true;
      this.events.failed(asApiError(error));
    } finally {
      if (this.asking === own) {
        this.asking = undefined;
        this.pump();
      }
    }
  }

  private pause(): void {
    this.stopped = true;
    this.pausing = setTimeout(() => this.retry(), PAUSE_MS);
  }

  /** Returns by how much the rows in view have moved. */
  private take(page: number, begin: number, lines: readonly LogLine[]): number {
    const before = this.pages.get(page) ?? { lines: [], weight: 0 };
    if (begin !== page * PAGE + before.lines.length) return 0; // it was let go in the meantime
    const weight = lines.reduce((sum, line) => sum + weightOf(line), 0);
    this.pages.delete(page);
    this.pages.set(page, { lines: [...before.lines, ...lines], weight: before.weight + weight });
    this.weight += weight;
    this.letGo(page);
    return this.fold(page);
  }

  private fold(page: number): number {
    const over = writtenOver(this.pages.get(page)?.lines ?? []);
    const [first] = this.wanted;
    const row = this.folds.rowOf(first);
    this.folds.set(page, over.flatMap((isOver, at) => (isOver ? [page * PAGE + at] : [])));
    return this.folds.rowOf(first) - row;
  }

  private letGo(newest: number): void {
    for (const [page, { weight }] of this.pages) {
      if (this.pages.size <= PAGES_MOST && this.weight <= WEIGHT_MOST) return;
      if (page === newest || this.inView(page)) continue;
      this.pages.delete(page);
      this.weight -= weight;
    }
  }
}
