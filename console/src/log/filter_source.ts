// A log by replica, severity or trial: how many lines match is not known, so the list grows at both ends as it is read.
import { asApiError } from "../api/use.ts";
import { num } from "../text/format.ts";
import { type LogLine, lineOf } from "../text/log_lines.ts";
import { writtenOver } from "../text/redraws.ts";
import type { AskLines, LineSource, SourceEvents } from "./source.ts";

const COUNT = 1000;
const LINES_MOST = 40_000;
/** Rows before an end at which more is fetched. */
const NEAR = 150;

export class FilterSource implements LineSource {
  private lines: LogLine[] = [];
  /** Where to go on, as LogWindow has it; -1: there is nothing. */
  private next = -1;
  private previous = -1;
  private asking: AbortController | undefined;
  private wanted: readonly [number, number] = [0, 0];
  private stopped = false;
  private goal: number | undefined;

  /** @param from  the line to begin at; Infinity: the end. */
  constructor(private readonly ask: AskLines, private readonly events: SourceEvents, private total: number, from: number) {
    this.goTo(from);
  }

  get rows(): number {
    return this.lines.length;
  }

  get looking(): boolean {
    return this.lines.length === 0 && (this.goal !== undefined || this.next >= 0 || this.previous > 0);
  }

  row(at: number): LogLine | undefined {
    return this.lines[at];
  }

  numberOf(row: number): number {
    return this.lines[row]?.number ?? 0;
  }

  rowOf(line: number): number | undefined {
    const first = this.lines[0];
    const last = this.lines.at(-1);
    if (first === undefined || last === undefined) return undefined;
    if (line < first.number && this.previous >= 0) return undefined;
    if (line > last.number && this.next >= 0) return undefined;
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.lines[middle]?.number ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  goTo(line: number): void {
    this.asking?.abort();
    this.goal = line;
    void this.load(Number.isFinite(line) ? { first: line } : { last: true }, (window, lines) => {
      this.goal = undefined;
      this.lines = seen(lines);
      this.next = nextOf(window.next, this.total);
      this.previous = before(window.previous);
      this.events.replaced(Number.isFinite(line) ? 0 : Math.max(this.lines.length - 1, 0));
    });
  }

  grow(total: number): void {
    if (total <= this.total) return;
    if (this.next < 0) this.next = this.total;
    this.total = total;
    this.pump();
  }

  want(first: number, last: number): void {
    this.wanted = [first, last];
    this.pump();
  }

  retry(): void {
    this.stopped = false;
    if (this.goal !== undefined) this.goTo(this.goal);
    else this.pump();
  }

  close(): void {
    this.stopped = true;
    this.asking?.abort();
  }

  private pump(): void {
    if (this.asking !== undefined || this.stopped) return;
    const [first, last] = this.wanted;
    if (this.next >= 0 && this.next < this.total && last + NEAR >= this.lines.length) this.forward();
    else if (this.previous > 0 && first < NEAR) this.backward();
  }

  private forward(): void {
    const from = this.next;
    void this.load({ first: from }, (window, lines) => {
      this.next = nextOf(window.next, this.total);
      this.lines = seen(this.lines.concat(lines));
      const over = this.lines.length - LINES_MOST;
      if (over > 0) {
        this.lines = this.lines.slice(over);
        this.previous = this.lines[0]?.number ?? 0;
      }
      this.events.changed(over > 0 ? -over : 0);
    });
  }

  private backward(): void {
    void this.load({ before: this.previous }, (window, lines) => {
      this.previous = before(window.previous);
      const length = this.lines.length;
      this.lines = seen(lines.concat(this.lines));
      const more = this.lines.length - length;
      if (this.lines.length > LINES_MOST) {
        this.lines = this.lines.slice(0, LINES_MOST);
        this.next = (this.lines.at(-1)?.number ?? 0) + 1;
      }
      this.events.changed(more);
    });
  }

  private async load(place: Record<string, string | number | boolean>,
                     take: (window: Awaited<ReturnType<AskLines>>, lines: LogLine[]) => void): Promise<void> {
    const abort = new AbortController();
    this.asking = abort;
    try {
      const window = await this.ask({ ...place, count: COUNT }, abort.signal);
      if (abort.signal.aborted) return;
      this.total = Math.max(this.total, num(window.total));
      this.events.failed(undefined);
      this.events.total(this.total);
      take(window, (window.lines ?? []).map(lineOf));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.stopped = true;
      this.events.failed(asApiError(error));
    } finally {
      if (this.asking === abort) {
        this.asking = undefined;
        this.pump();
      }
    }
  }
}

function before(previous: string | undefined): number {
  return previous === undefined ? 0 : Number(previous);
}

/** -1, or the end of the log: nothing is there, now. */
function nextOf(next: string | undefined, total: number): number {
  const line = num(next);
  return line >= total ? -1 : line;
}

/** Without the states of progress bars that were written over. */
function seen(lines: LogLine[]): LogLine[] {
  const over = writtenOver(lines);
  return over.includes(true) ? lines.filter((_, at) => !over[at]) : lines;
}
