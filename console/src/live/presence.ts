// Whether a page is still there. A page that crashes or is killed says nothing; but the browser ends its lock. There are
// locks on https and localhost only: elsewhere such a page counts as there until the browser's last page of ours is closed.

import type { ToHub } from "./hub.ts";

/** What a page says to the browser's worker: `alive` names its lock, once. */
export type ToWorker = ToHub | { readonly kind: "alive"; readonly lock: string };

/** A page's lock, held for as long as the page lives. Returns its name once it is held; undefined: there are no locks. */
export async function holdPresence(): Promise<string | undefined> {
  if (!("locks" in navigator)) return undefined;
  const name = `trainyard.page.${crypto.randomUUID()}`;
  await new Promise<void>((held) => {
    void navigator.locks.request(name, () => {
      held();
      return new Promise<never>(() => undefined);
    });
  });
  return name;
}

/** Ends when the page that holds the lock is gone. */
export async function untilGone(lock: string): Promise<void> {
  await navigator.locks.request(lock, () => undefined);
}
