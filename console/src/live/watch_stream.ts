// One stream of changes of a project's jobs: opened again when it breaks, from where it was.
import type { JobChangesJson } from "proto/control/v1/job_rows_pb";
import { withQuery } from "../api/http.ts";
import { EventParser } from "./event_parser.ts";

export type Liveness =
  | { readonly kind: "live" }
  /** `since`: when the last news came, ms since 1970. */
  | { readonly kind: "reconnecting"; readonly since: number }
  /** Nobody may read it, or not any more: a page asks again once the reader has logged in. */
  | { readonly kind: "refused"; readonly since: number };

export interface WatchListener {
  changed(changes: JobChangesJson): void;
  /** Changes were missed: lists have to be asked for again. */
  missed(): void;
  liveness(state: Liveness): void;
}

const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 15_000;
/** The server says something at least every 15 s. */
const SILENCE_LONGEST_MS = 40_000;

export class WatchStream {
  private abort: AbortController | undefined;
  private heard = Date.now();
  private retryMs = RETRY_FIRST_MS;
  private ended = false;

  constructor(
    private readonly path: string,
    private token: string,
    private logsOf: readonly string[],
    private readonly listener: WatchListener,
  ) {
    void this.run();
  }

  /** Also tells how long these jobs' logs are. */
  followLogs(jobs: readonly string[]): void {
    if (jobs.join() === this.logsOf.join()) return;
    this.logsOf = jobs;
    this.abort?.abort();
  }

  end(): void {
    this.ended = true;
    this.abort?.abort();
  }

  private async run(): Promise<void> {
    while (!this.ended) {
      this.abort = new AbortController();
      const before = this.logsOf;
      try {
        await this.read(this.abort);
      } catch {
        // Whatever it was, the stream is opened again.
      }
      if (this.ended) return;
      if (before !== this.logsOf) continue;
      this.listener.liveness({ kind: "reconnecting", since: this.heard });
      await new Promise((done) => setTimeout(done, this.retryMs));
      this.retryMs = Math.min(this.retryMs * 2, RETRY_LONGEST_MS);
    }
  }

  private async read(abort: AbortController): Promise<void> {
    const url = withQuery(this.path, { resumeToken: this.token, logsOf: this.logsOf });
    const response = await fetch(url, { signal: abort.signal, credentials: "same-origin" });
    if (response.status === 410) {
      this.token = "";
      this.retryMs = RETRY_FIRST_MS;
      this.listener.missed();
      return;
    }
    if (response.status === 401 || response.status === 403) {
      this.listener.liveness({ kind: "refused", since: this.heard });
      this.end();
      return;
    }
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    this.retryMs = RETRY_FIRST_MS;
    this.listener.liveness({ kind: "live" });
    const parser = new EventParser((data) => this.take(JSON.parse(data) as JobChangesJson));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const silence = setInterval(() => Date.now() - this.heard > SILENCE_LONGEST_MS && abort.abort(), SILENCE_LONGEST_MS / 4);
    this.heard = Date.now();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        this.heard = Date.now();
        parser.feed(value);
      }
    } finally {
      clearInterval(silence);
    }
  }

  private take(changes: JobChangesJson): void {
    if (changes.resumeToken) this.token = changes.resumeToken;
    if (changes.changes?.length || changes.logs?.length) this.listener.changed(changes);
  }
}
