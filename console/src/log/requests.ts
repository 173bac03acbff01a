// What is asked of a job's log, with the filter that is on.
import type { LogLineShownJson, LogMatchesJson, LogSummaryJson, LogWindowJson } from "proto/control/v1/log_window_pb";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { num } from "../text/format.ts";
import { isMeant } from "../text/log_errors.ts";
import type { LineRange } from "../text/log_lines.ts";
import { nearestTraceback } from "./traceback.ts";

export interface LogFilter {
  readonly replica: string;
  readonly severity: string;
  readonly trial: string;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const COUNT_MOST = 1000;
/** Of lines of stderr that are read to find an error among them. */
const WINDOWS_MOST = 10;

export class LogRequests {
  constructor(private readonly project: string, private readonly job: string, readonly filter: LogFilter) {}

  get isFiltered(): boolean {
    return Object.values(this.filter).some((value) => value !== "");
  }

  readonly read = (query: Query, signal?: AbortSignal): Promise<LogWindowJson> =>
    getJson<LogWindowJson>(this.path("read", { ...this.filter, ...query }), signal);

  readonly search = (query: Query, signal?: AbortSignal): Promise<LogMatchesJson> =>
    getJson<LogMatchesJson>(this.path("search", { ...this.filter, ...query }), signal);

  /** The address of the lines as a file. */
  download(format: "text" | "json"): string {
    return this.path("download", { ...this.filter, format });
  }

  /** The address of what pip and uv printed when the job's packages were installed, as a file. */
  preparation(): string {
    return paths.preparation(this.project, this.job);
  }

  summary(): string {
    return this.path("summarize", { buckets: 500 });
  }

  /** One line, all of it. */
  async whole(line: number): Promise<LogLineShownJson | undefined> {
    const window = await getJson<LogWindowJson>(this.path("read", { first: line, count: 1, whole: true }));
    return window.lines?.[0];
  }

  /** The texts of lines that are chosen. */
  async texts({ first, last }: LineRange): Promise<string> {
    const all: string[] = [];
    for (let from = first; from >= 0 && from <= last;) {
      const window = await this.read({ first: from, count: Math.min(last - from + 1, COUNT_MOST), whole: true });
      for (const line of window.lines ?? []) if (num(line.number) <= last) all.push(line.text ?? "");
      const next = num(window.next);
      from = next > from ? next : -1;
    }
    return all.join("\n") + "\n";
  }

  /** The first line from a place on that matches the filter, however often the server has to be asked. */
  async lineAt(place: Query, signal?: AbortSignal): Promise<number | undefined> {
    for (let query = place; ;) {
      const window = await this.read({ ...query, count: 1 }, signal);
      const line = window.lines?.[0];
      if (line !== undefined) return num(line.number);
      const next = num(window.next);
      if (next < 0 || next >= num(window.total)) return undefined;
      const { time: _, ...others } = query;
      query = { ...others, first: next };
    }
  }

  /** The first error that was meant as one, else the first line of stderr: its number; undefined: there is neither. */
  async firstError(summary: LogSummaryJson | undefined): Promise<number | undefined> {
    const isHigher = /CRITICAL|ALERT|EMERGENCY/.test(this.filter.severity);
    const severity = isHigher ? this.filter.severity : "ERROR";
    let from = knownFrom(summary);
    for (let windows = 0; windows < WINDOWS_MOST && from >= 0; windows += 1) {
      const window = await this.read({ first: from, severity, count: COUNT_MOST });
      const meant = window.lines?.find(isMeant);
      if (meant !== undefined) return num(meant.number);
      from = num(window.next) >= num(window.total) ? -1 : num(window.next);
    }
    // Behind very many lines of stderr only the server looks further.
    const traceback = from < 0
      ? undefined
      : await nearestTraceback(this.search, { backward: false, from, filter: { severity: "ERROR" } });
    return traceback ?? this.lineAt({ first: 0, severity });
  }

  private path(verb: "read" | "search" | "summarize" | "download", query: Query): string {
    return withQuery(paths.log(this.project, this.job, verb), query);
  }
}

/** Before this line no error was meant as one. */
function knownFrom(summary: LogSummaryJson | undefined): number {
  if (summary === undefined || summary.partial) return 0;
  const first = num(summary.firstError);
  return first >= 0 ? first : num(summary.total);
}
