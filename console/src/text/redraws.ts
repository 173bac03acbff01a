// Which lines of a log are seen: a bar that a program draws over and over is one line that changes. Pure.
import type { LogLine } from "./log_lines.ts";

/** Says for each line whether the page hides it, because the replica's next line is a later state of the same bar. */
export function writtenOver(lines: readonly Pick<LogLine, "redraw" | "replica" | "trial">[]): boolean[] {
  const over = new Array<boolean>(lines.length).fill(false);
  const next = new Map<string, boolean>();
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at];
    if (line === undefined) continue;
    const writer = `${line.trial} ${line.replica}`;
    over[at] = line.redraw && next.get(writer) === true;
    next.set(writer, line.redraw);
  }
  return over;
}

/** Rows of a list in which some lines have none: which lines those are is known page by page, and may change. */
export class Folds {
  /** By page: its lines without a row, ascending. */
  private readonly pages = new Map<number, readonly number[]>();
  private all: readonly number[] = [];

  /** Returns whether anything changed. */
  set(page: number, hidden: readonly number[]): boolean {
    const before = this.pages.get(page) ?? [];
    if (before.length === hidden.length && before.every((line, at) => line === hidden[at])) return false;
    if (hidden.length === 0) this.pages.delete(page);
    else this.pages.set(page, hidden);
    this.all = [...this.pages].sort(([one], [other]) => one - other).flatMap(([, lines]) => lines);
    return true;
  }

  /** Lines without a row. */
  get count(): number {
    return this.all.length;
  }

  /** The line that a row shows. */
  lineOf(row: number): number {
    // The least number of hidden lines before it with which it comes out as a row of its own.
    let low = 0;
    let high = this.all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.all[middle] ?? 0) - middle <= row) low = middle + 1;
      else high = middle;
    }
    return row + low;
  }

  /** The row of a line; of one that has none, that of the next line that has. */
  rowOf(line: number): number {
    let low = 0;
    let high = this.all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.all[middle] ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return line - low;
  }
}
