// The streams of one browser: one for each project that some page looks at, shared by all its pages. A browser gives one
// server six connections for all its tabs, so a stream for each tab would soon leave none for anything else.
import type { JobChangesJson } from "proto/control/v1/job_rows_pb";
import { paths } from "../api/paths.ts";
import { type Liveness, WatchStream } from "./watch_stream.ts";

/** What a page says. */
export type ToHub =
  | { readonly kind: "watch"; readonly project: string; readonly token: string; readonly logsOf: readonly string[] }
  | { readonly kind: "leave" };

/** What a page hears. */
export type FromHub =
  | { readonly kind: "changed"; readonly changes: JobChangesJson }
  | { readonly kind: "missed" }
  | { readonly kind: "liveness"; readonly state: Liveness };

interface Reader {
  readonly tell: (message: FromHub) => void;
  project: string;
  logsOf: readonly string[];
}

interface Shared {
  readonly stream: WatchStream;
  state: Liveness;
}

export class Hub {
  private readonly readers = new Set<Reader>();
  private readonly streams = new Map<string, Shared>();

  /** A page has come; what it says goes to the function that is returned. */
  join(tell: (message: FromHub) => void): (message: ToHub) => void {
    const reader: Reader = { tell, project: "", logsOf: [] };
    return (message) => {
      if (message.kind === "leave") this.readers.delete(reader);
      else {
        this.readers.add(reader);
        reader.project = message.project;
        reader.logsOf = message.logsOf;
        this.open(reader, message.token);
      }
      this.tidy();
    };
  }

  private open(reader: Reader, token: string): void {
    const shared = this.streams.get(reader.project);
    if (shared !== undefined && shared.state.kind !== "refused") {
      reader.tell({ kind: "liveness", state: shared.state });
      if (token !== "") reader.tell({ kind: "missed" }); // what changed since its list was told to others
      return;
    }
    const project = reader.project;
    const stream = new WatchStream(paths.watch(project), token, this.logsOf(project), {
      changed: (changes) => this.tellAll(project, { kind: "changed", changes }),
      missed: () => this.tellAll(project, { kind: "missed" }),
      liveness: (state) => {
        const own = this.streams.get(project);
        if (own !== undefined) own.state = state;
        this.tellAll(project, { kind: "liveness", state });
      },
    });
    this.streams.set(project, { stream, state: { kind: "reconnecting", since: Date.now() } });
  }

  private tellAll(project: string, message: FromHub): void {
    for (const reader of this.readers) if (reader.project === project) reader.tell(message);
  }

  private logsOf(project: string): string[] {
    const all = [...this.readers].filter((reader) => reader.project === project).flatMap((reader) => reader.logsOf);
    return [...new Set(all)].sort();
  }

  /** Ends streams that nobody reads, and tells the others whose logs are looked at. */
  private tidy(): void {
    const wanted = new Set([...this.readers].map((reader) => reader.project));
    for (const [project, { stream }] of this.streams) {
      if (wanted.has(project)) stream.followLogs(this.logsOf(project));
      else {
        stream.end();
        this.streams.delete(project);
      }
    }
  }
}
