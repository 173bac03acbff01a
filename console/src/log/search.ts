// What is found in a log. The server looks; it says how far it came, and is asked to go on.
import type { LogMatchesJson } from "proto/control/v1/log_window_pb";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { num } from "../text/format.ts";

export interface Wanted {
  readonly text: string;
  readonly regex: boolean;
}

export type AskMatches = (query: Record<string, string | number | boolean>, signal: AbortSignal) => Promise<LogMatchesJson>;

/** Matches whose places are known for the marks; a search goes on beyond them only when the reader does. */
const FOUND_MOST = 100_000;
const BATCH = 1000;
/** Between two parts of one search: other requests come in between. */
const PAUSE_MS = 20;

export class LogSearch {
  /** Numbers of the lines that match, in order, up to `searchedTo`. */
  readonly found: number[] = [];
  searchedTo = 0;
  /** Up to the end that the log had. */
  complete = false;
  error: ApiError | undefined;
  private readonly abort = new AbortController();
  private running = false;

  constructor(readonly wanted: Wanted, private readonly ask: AskMatches, private readonly changed: () => void) {}

  get isFull(): boolean {
    return this.found.length >= FOUND_MOST;
  }

  close(): void {
    this.abort.abort();
  }

  /** Goes through the log from where it came to, until the end. */
  async run(): Promise<void> {
    if (this.running || this.isFull) return;
    this.running = true;
    this.complete = false;
    this.error = undefined;
    try {
      while (!this.complete && !this.isFull) {
        const answer = await this.part({ from: this.searchedTo, count: BATCH });
        for (const line of answer.lines ?? []) this.found.push(num(line.number));
        const before = this.searchedTo;
        this.searchedTo = num(answer.searchedTo);
        this.complete = answer.complete ?? false;
        this.changed();
        if (!this.complete && this.searchedTo <= before) throw new Error("The search does not go on.");
        await new Promise((done) => setTimeout(done, PAUSE_MS));
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.running = false;
    }
  }

  /** The next match after a line, or the one before it; undefined: there is none. */
  async near(line: number, backward: boolean): Promise<number | undefined> {
    const at = indexAfter(this.found, backward ? line - 1 : line);
    const known = this.found[backward ? at - 1 : at];
    if (known !== undefined && (!backward || line <= this.searchedTo)) return known;
    if (this.complete || (backward && line <= this.searchedTo)) return undefined;
    this.error = undefined;
    try {
      for (let from = backward ? line : Math.max(line + 1, this.searchedTo); ;) {
        const answer = await this.part({ from, count: 1, ...(backward ? { backward } : {}) });
        const first = answer.lines?.[0];
        if (first !== undefined) return num(first.number);
        if (answer.complete || num(answer.searchedTo) === from) return undefined;
        from = num(answer.searchedTo);
      }
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  has(line: number): boolean {
    return this.found[indexAfter(this.found, line) - 1] === line;
  }

  /** How many matches are up to a line, with it. */
  rank(line: number): number {
    return indexAfter(this.found, line);
  }

  private part(query: Record<string, string | number | boolean>): Promise<LogMatchesJson> {
    const { text, regex } = this.wanted;
    return this.ask({ query: text, ...(regex ? { regex } : {}), ...query }, this.abort.signal);
  }

  private fail(error: unknown): void {
    if (this.abort.signal.aborted) return;
    this.error = asApiError(error);
    this.changed();
  }
}

/** Index of the first number that is greater. */
export function indexAfter(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
