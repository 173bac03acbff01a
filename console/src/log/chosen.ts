// The lines that are chosen: in the address, so that a link leads to them.
import { useEffect, useRef, useState } from "preact/hooks";
import { setQuery } from "../router.ts";
import { type LineRange, parseRange, printRange } from "../text/log_lines.ts";

/** A key that is held down changes the choice faster than browsers let an address change. */
const WRITE_MS = 250;

export interface Chosen {
  readonly range: LineRange | null;
  readonly choose: (range: LineRange | null) => void;
}

/** @param came  called when the address names other lines by itself: Back, or a link. */
export function useChosen(inAddress: string | null, came: (range: LineRange) => void): Chosen {
  const [range, setRange] = useState(() => parseRange(inAddress));
  const written = useRef(inAddress);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    const other = parseRange(inAddress);
    setRange(other);
    if (other !== null) came(other);
  }, [inAddress]);
  const choose = (next: LineRange | null) => {
    setRange(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = next === null ? null : printRange(next);
      setQuery({ line: written.current });
    }, WRITE_MS);
  };
  return { range, choose };
}
