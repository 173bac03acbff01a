import { afterEach, expect, it, vi } from "vitest";
import { Hub } from "../src/live/hub.ts";
import { holdPresence, untilGone } from "../src/live/presence.ts";

afterEach(() => vi.unstubAllGlobals());

/** Locks as browsers have them; `kill` ends a page with all of its locks. */
function locks() {
  const held = new Map<string, { next: (() => void)[] }>();
  const request = async (name: string, act: () => unknown) => {
    const before = held.get(name);
    if (before) await new Promise<void>((free) => before.next.push(free));
    held.set(name, { next: [] });
    await act();
    held.delete(name);
  };
  const kill = (name: string) => {
    const { next = [] } = held.get(name) ?? {};
    held.delete(name);
    for (const free of next) free();
  };
  return { request, kill };
}

it("a page that was killed is gone for the worker, and its stream ends", async () => {
  const all = locks();
  vi.stubGlobal("navigator", { locks: all });
  let signal: AbortSignal | undefined;
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    signal = init.signal ?? undefined;
    return new Promise(() => undefined);
  });
  const lock = await holdPresence() ?? "";
  const say = new Hub().join(() => undefined);
  say({ kind: "watch", project: "p", token: "", logsOf: [] });
  const gone = untilGone(lock).then(() => say({ kind: "leave" }));
  await new Promise((done) => setTimeout(done));
  expect(signal?.aborted).toBe(false);
  all.kill(lock);
  await gone;
  expect(signal?.aborted).toBe(true);
});

it("there are pages without locks", async () => {
  vi.stubGlobal("navigator", {});
  expect(await holdPresence()).toBeUndefined();
});
