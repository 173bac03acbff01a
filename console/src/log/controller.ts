// A log as a page shows it: where its lines come from, where the reader is, what is looked for and chosen.
import { asApiError } from "../api/use.ts";
import { num } from "../text/format.ts";
import { type LineRange, lineOf, type LogLine } from "../text/log_lines.ts";
import { FilterSource } from "./filter_source.ts";
import { PAGE, PageSource } from "./page_source.ts";
import type { LogRequests } from "./requests.ts";
import type { RowsView } from "./rows_view.ts";
import { LogSearch, type Wanted } from "./search.ts";
import type { LineSource, SourceEvents } from "./source.ts";
import { type Begin, type LogState, NOTHING_YET } from "./state.ts";

const TELL_MS = 100;

export class LogController {
  state = NOTHING_YET;
  private source: LineSource | undefined;
  private wrap = false;
  private chosen: LineRange | null = null;
  private goal: { line: number; share: number } | undefined;
  private readonly abort = new AbortController();
  private telling: ReturnType<typeof setTimeout> | undefined;
  private searchAgain: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly requests: LogRequests, private readonly view: RowsView,
              private readonly tell: (state: LogState) => void, private readonly begin: Begin) {
    void this.open();
  }

  close(): void {
    this.abort.abort();
    this.source?.close();
    this.state.search?.close();
    clearTimeout(this.telling);
    clearTimeout(this.searchAgain);
  }

  // What the view says.

  moved(first: number, last: number, atEnd: boolean): void {
    if (this.source === undefined) return;
    const { rows, looking } = this.source;
    this.set({ first: this.source.numberOf(first), last: this.source.numberOf(last), atEnd, rows, looking });
  }

  scrolled(down: boolean, atEnd: boolean): void {
    if (down && atEnd) this.follow();
    else if (this.state.following) this.set({ following: false });
  }

  // What the reader does.

  follow(): void {
    this.set({ following: true });
    if (this.source?.rowOf(Infinity) === undefined) this.source?.goTo(Infinity);
    this.view.setEnd(true);
  }

  goTo(line: number, share = 0.3): void {
    this.set({ following: false });
    const row = this.source?.rowOf(line);
    this.goal = { line, share };
    if (row === undefined) this.source?.goTo(line);
    else this.view.goTo(row, share);
  }

  /** Brings a line into view, if it is not there. */
  reveal(line: number): void {
    const row = this.source?.rowOf(line);
    if (row === undefined) return this.goTo(line);
    this.set({ following: false });
    this.view.setEnd(false);
    this.view.reveal(row);
  }

  /** The line so many rows away. */
  stepFrom(line: number, rows: number): number | undefined {
    const row = this.source?.rowOf(line);
    if (row === undefined || this.source === undefined) return undefined;
    return this.source.numberOf(Math.min(Math.max(row + rows, 0), this.source.rows - 1));
  }

  page(screens: number): void {
    this.set({ following: false });
    this.view.setEnd(false);
    this.view.scrollBy(screens);
  }

  async goToTime(ms: number): Promise<void> {
    const line = await this.requests.lineAt({ time: new Date(ms).toISOString() }, this.abort.signal);
    if (line === undefined) this.follow();
    else this.goTo(line);
  }

  choose(chosen: LineRange | null): void {
    this.chosen = chosen;
    this.paint();
  }

  setWrap(wrap: boolean): void {
    this.wrap = wrap;
    this.paint();
  }

  line(number: number): LogLine | undefined {
    const row = this.source?.rowOf(number);
    const line = row === undefined ? undefined : this.source?.row(row);
    return line?.number === number ? line : undefined;
  }

  search(wanted: Wanted | null): void {
    this.state.search?.close();
    const search = wanted && new LogSearch(wanted, this.requests.search, () => this.searched());
    this.set({ search: search ?? undefined, searchRound: this.state.searchRound + 1 });
    this.paint();
    void search?.run();
  }

  grow(total: number): void {
    if (total <= (this.state.total ?? 0) || this.source === undefined) return;
    this.source.grow(total);
    this.set({ total });
    this.searchAgain ??= setTimeout(() => {
      this.searchAgain = undefined;
      void this.state.search?.run();
    }, 1000);
  }

  retry(): void {
    if (this.source) this.source.retry();
    else void this.open();
  }

  private readonly events: SourceEvents = {
    changed: (shift) => {
      if (shift !== 0) this.view.shiftBy(shift);
      else this.view.draw();
    },
    replaced: (row) => {
      this.paint();
      const goal = this.goal;
      this.goal = undefined;
      if (this.state.following) this.view.setEnd(true);
      else this.view.goTo((goal && this.source?.rowOf(goal.line)) ?? row, goal?.share);
    },
    total: (total) => this.set({ total: Math.max(total, this.state.total ?? 0) }),
    failed: (error) => this.set({ error }),
  };

  private async open(): Promise<void> {
    const atEnd = this.begin === "end";
    const { line, share } = this.begin === "end" ? { line: Infinity } : this.begin;
    if (this.requests.isFiltered) {
      this.set({ following: atEnd });
      this.goal = atEnd ? undefined : { line, share: share ?? 0.3 };
      this.source = new FilterSource(this.requests.read, this.events, 0, line);
      return;
    }
    try {
      const window = await this.requests.read(
        atEnd ? { last: true, count: 1 } : { first: Math.floor(line / PAGE) * PAGE, count: PAGE }, this.abort.signal);
      const source = new PageSource(this.requests.read, this.events, num(window.total));
      if (!atEnd) source.seed((window.lines ?? []).map(lineOf));
      this.source = source;
      this.set({ total: num(window.total), rows: num(window.total), error: undefined, following: atEnd });
      this.paint();
      if (atEnd) this.view.setEnd(true);
      else this.view.goTo(source.rowOf(line), share);
    } catch (error) {
      if (!this.abort.signal.aborted) this.set({ error: asApiError(error) });
    }
  }

  private searched(): void {
    this.set({ searchRound: this.state.searchRound + 1 });
    if (this.state.search?.wanted.regex) this.paint();
  }

  private paint(): void {
    const { search } = this.state;
    if (this.source === undefined) return;
    this.view.show(this.source, {
      find: search && !search.wanted.regex ? search.wanted.text : "",
      isMatch: (line) => search?.wanted.regex === true && search.has(line),
      chosen: this.chosen,
    }, this.wrap);
  }

  private set(changes: Partial<LogState>): void {
    this.state = { ...this.state, ...changes };
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.tell(this.state);
    }, TELL_MS);
  }
}
