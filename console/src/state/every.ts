import { useEffect, useRef } from "preact/hooks";

/** Does something every so many ms while the page is looked at; null: never. At once when it is looked at again. */
export function useEvery(ms: number | null, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (ms === null) return;
    const again = () => document.visibilityState === "visible" && latest.current();
    const timer = setInterval(again, ms);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [ms]);
}

/** A function that does something soon, and at most every so many ms, however often it is called. */
export function useAtMostEvery(ms: number, act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, ms);
  };
}
