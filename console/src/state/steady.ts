import { useRef, useState } from "preact/hooks";
import { useAtMostEvery } from "./every.ts";

/**
 * A value that the reader moves fast, such as a slider's: what is shown follows at once, the page at most every so many ms.
 * Browsers refuse an address that changes hundreds of times.
 */
export function useSteady<Value>(value: Value, ms: number, change: (value: Value) => void): readonly [Value, (value: Value) => void] {
  const [own, setOwn] = useState<{ readonly value: Value }>();
  const wanted = useRef(value);
  const soon = useAtMostEvery(ms, () => {
    change(wanted.current);
    setOwn(undefined);
  });
  const move = (next: Value) => {
    wanted.current = next;
    setOwn({ value: next });
    soon();
  };
  return [own === undefined ? value : own.value, move];
}
