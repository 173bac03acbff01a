// A page's way to the stream: through the browser's worker, or by itself where there are no shared workers.
import { type FromHub, Hub, type ToHub } from "./hub.ts";
import { holdPresence, type ToWorker } from "./presence.ts";

interface Wish {
  readonly project: string;
  readonly token: string;
  readonly logsOf: readonly string[];
  readonly listener: (message: FromHub) => void;
}

let say: ((message: ToHub) => void) | undefined;
/** What parts of this page follow: all of one project. */
const wishes = new Set<Wish>();

function hear(message: FromHub): void {
  for (const { listener } of wishes) listener(message);
}

function connect(): (message: ToHub) => void {
  if (typeof SharedWorker === "undefined") {
    // A stream for each page that is looked at: six of them would take all connections of the browser.
    const say = new Hub().join(hear);
    addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? sayWishes() : say({ kind: "leave" })));
    return say;
  }
  const worker = new SharedWorker(trusted(LIVE_WORKER), { type: "module", name: "trainyard" });
  worker.port.onmessage = (event: MessageEvent<FromHub>) => hear(event.data);
  const tell = (message: ToWorker) => worker.port.postMessage(message);
  void holdPresence().then((lock) => lock !== undefined && tell({ kind: "alive", lock }));
  addEventListener("pagehide", () => tell({ kind: "leave" }));
  addEventListener("pageshow", (event) => event.persisted && sayWishes());
  return tell;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL: (url: string) => string };
}

/** The one address that our policy lets a worker be loaded from. */
function trusted(url: string): string {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return url;
  return types
    .createPolicy("console", {
      createScriptURL: (wanted) => {
        if (wanted !== LIVE_WORKER) throw new TypeError(`not a script of the console: ${wanted}`);
        return wanted;
      },
    })
    .createScriptURL(url);
}

function sayWishes(): void {
  const last = [...wishes].at(-1);
  if (last === undefined) say?.({ kind: "leave" });
  else {
    const logsOf = [...wishes].flatMap((wish) => wish.logsOf);
    say?.({ kind: "watch", project: last.project, token: last.token, logsOf });
  }
}

/** Hears of the project's jobs from now on, or from the token of a list on. Returns how to stop. */
export function watch(project: string, token: string, logsOf: readonly string[],
                      listener: (message: FromHub) => void): () => void {
  say ??= connect();
  const wish = { project, token, logsOf, listener };
  wishes.add(wish);
  sayWishes();
  return () => {
    wishes.delete(wish);
    sayWishes();
  };
}
