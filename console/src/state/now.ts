// One timer for all that says how long ago something was.
import { useEffect, useState } from "preact/hooks";

const readers = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  const now = Date.now();
  for (const reader of readers) reader(now);
}

/** The time, once a second while the page is looked at. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    readers.add(setNow);
    timer ??= setInterval(() => document.visibilityState === "visible" && tick(), 1000);
    return () => {
      readers.delete(setNow);
      if (readers.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}
