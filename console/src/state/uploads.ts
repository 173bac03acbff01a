// Files on their way into buckets. They go on, and are shown, whatever page the reader looks at meanwhile.
import { useEffect, useRef, useState } from "preact/hooks";
import { changing, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";

export interface FileToSend {
  readonly file: File;
  /** Of the object that it becomes. */
  readonly name: string;
}

export interface Upload extends FileToSend {
  readonly bucket: string;
  readonly sent: number;
  readonly state: "waiting" | "sending" | "done" | "failed" | "exists";
  readonly message: string;
  /** It may take the place of an object. */
  readonly replaces: boolean;
}

const TOGETHER = 3;
const TELL_MS = 100;

/** The uploads of this tab. One thread; ends with the page, after a question while something is on its way. */
export class UploadQueue {
  private list: Upload[] = [];
  private readonly requests = new Map<number, XMLHttpRequest>();
  private readonly readers = new Set<(all: readonly Upload[]) => void>();
  private readonly waiters = new Set<(bucket: string) => void>();
  /** Buckets with new objects that nobody was told of. */
  private readonly changed = new Set<string>();
  private telling: ReturnType<typeof setTimeout> | undefined;

  get all(): readonly Upload[] {
    return this.list;
  }

  /** Hears of changes, now and then; returns how to stop. */
  follow(reader: (all: readonly Upload[]) => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }

  /** Hears of a bucket when the last of some files has arrived in it; returns how to stop. */
  wait(waiter: (bucket: string) => void): () => void {
    this.waiters.add(waiter);
    return () => this.waiters.delete(waiter);
  }

  add(bucket: string, files: readonly FileToSend[]): void {
    if (this.list.every(({ state }) => state === "done")) this.list = [];
    const fresh = { bucket, sent: 0, state: "waiting", message: "", replaces: false } as const;
    this.list.push(...files.map((file) => ({ ...file, ...fresh })));
    this.pump();
  }

  /** Sends what failed again; what exists is replaced. */
  again(wanted: "failed" | "exists"): void {
    this.list.forEach(({ state }, at) => {
      if (state !== wanted) return;
      this.change(at, { state: "waiting", message: "", ...(wanted === "exists" ? { replaces: true } : {}) });
    });
    this.pump();
  }

  /** Stops what is on its way, and forgets all. */
  clear(): void {
    const requests = [...this.requests.values()];
    this.requests.clear();
    for (const request of requests) request.abort();
    this.list = [];
    this.pump();
  }

  private change(at: number, changes: Partial<Upload>): void {
    const old = this.list[at];
    if (old === undefined) return;
    this.list[at] = { ...old, ...changes };
    this.tell();
  }

  private tell(): void {
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      for (const reader of this.readers) reader([...this.list]);
    }, TELL_MS);
  }

  private pump(): void {
    while (this.requests.size < TOGETHER) {
      const at = this.list.findIndex(({ state }) => state === "waiting");
      const upload = this.list[at];
      if (upload === undefined) break;
      this.start(at, upload);
    }
    this.tell();
    if (this.requests.size > 0) return addEventListener("beforeunload", ask);
    removeEventListener("beforeunload", ask);
    const buckets = [...this.changed];
    this.changed.clear();
    for (const bucket of buckets) for (const waiter of this.waiters) waiter(bucket);
  }

  private start(at: number, { bucket, name, file, replaces }: Upload): void {
    const request = new XMLHttpRequest(); // fetch() does not say how much was sent
    const ended = (state: Upload["state"], message = "") => {
      if (this.requests.get(at) !== request) return;
      this.requests.delete(at);
      if (state === "done") this.changed.add(bucket);
      this.change(at, { state, message });
      this.pump();
    };
    const guard = replaces ? {} : { ifGenerationMatch: 0 };
    request.open("POST", withQuery(paths.upload(bucket), { uploadType: "media", name, ...guard }));
    const headers = changing(file.type || "application/octet-stream") as Record<string, string>;
    for (const [field, value] of Object.entries(headers)) request.setRequestHeader(field, value);
    request.upload.onprogress = ({ loaded }) => this.requests.get(at) === request && this.change(at, { sent: loaded });
    request.onload = () => {
      if (request.status === 412) ended("exists", "There is an object of this name.");
      else if (request.status >= 300) ended("failed", reasonOf(request));
      else ended("done");
    };
    request.onerror = () => ended("failed", "The connection broke, or the file cannot be read any more.");
    this.requests.set(at, request);
    this.change(at, { state: "sending", sent: 0 });
    request.send(file);
  }
}

/** The browser asks whether the page may go. */
function ask(event: Event): void {
  event.preventDefault();
}

function reasonOf(request: XMLHttpRequest): string {
  try {
    const message = (JSON.parse(request.responseText) as { error?: { message?: string } }).error?.message;
    if (message) return message;
  } catch {
    // Not the server's own words.
  }
  return `The server answered ${request.status}.`;
}

/** Those of this tab. */
export const uploads = new UploadQueue();

export function useUploads(): readonly Upload[] {
  const [all, setAll] = useState(uploads.all);
  useEffect(() => {
    setAll([...uploads.all]);
    return uploads.follow(setAll);
  }, []);
  return all;
}

/** Does something when files have arrived in a bucket. */
export function useArrived(bucket: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => uploads.wait((changed) => changed === bucket && latest.current()), [bucket]);
}
