import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import "./VirtualRows.css";

interface Props {
  readonly count: number;
  /** Of each row, in pixels. */
  readonly rowHeight: number;
  readonly row: (at: number) => ComponentChildren;
  /** Called when the reader comes near the end. */
  readonly nearEnd?: () => void;
  /** Row that has to be in view. */
  readonly shown?: number;
  /** Row that has to be in view and whose link gets the focus, once for each round. */
  readonly focus?: { readonly row: number; readonly round: number } | undefined;
  /** The focus has come into a row, in whatever way. */
  readonly onFocus?: (row: number) => void;
}

const MORE = 8; // rows above and below what is in view
const NEAR = 30; // rows before the end

/** Rows of one height that scroll with the page; only those in view exist. */
export function VirtualRows({ count, rowHeight, row, nearEnd, shown, focus, onFocus }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 40 });
  const look = () => {
    const top = element.current?.getBoundingClientRect().top ?? 0;
    const first = Math.max(0, Math.floor(-top / rowHeight) - MORE);
    const last = Math.ceil((innerHeight - top) / rowHeight) + MORE;
    setRange((old) => (old.first === first && old.last === last ? old : { first, last }));
  };
  useLayoutEffect(() => {
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [rowHeight, count]);
  useEffect(() => {
    if (range.last >= count - NEAR) nearEnd?.();
  }, [range.last, count]);
  const show = (at: number) => {
    if (element.current === null) return;
    const above = (document.querySelector<HTMLElement>(".frame")?.offsetHeight ?? 0) + 4; // the page's head stays there
    const top = element.current.getBoundingClientRect().top + at * rowHeight;
    if (top < above) scrollBy(0, top - above);
    else if (top + rowHeight > innerHeight) scrollBy(0, top + rowHeight - innerHeight + 8);
    look();
  };
  useEffect(() => {
    if (shown !== undefined) show(shown);
  }, [shown, rowHeight]);
  // Before the next key is heard: Enter presses what has the focus.
  const pending = useRef<number>(undefined);
  useLayoutEffect(() => {
    pending.current = focus?.row;
    if (focus !== undefined) show(focus.row);
  }, [focus?.round]);
  useLayoutEffect(() => {
    if (pending.current === undefined) return;
    const link = element.current?.querySelector<HTMLElement>(`[data-row="${pending.current}"] a`);
    if (!link) return; // The row is made once the page has scrolled to it.
    pending.current = undefined;
    link.focus({ preventScroll: true });
  });
  const focused = (event: FocusEvent) => {
    const at = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"];
    if (at !== undefined) onFocus?.(Number(at));
  };
  const rows = [];
  for (let at = range.first; at < Math.min(range.last, count); at += 1) {
    rows.push(
      <div key={at} data-row={at} class="virtual-row"
           style={{ transform: `translateY(${at * rowHeight}px)`, height: `${rowHeight}px` }}>
        {row(at)}
      </div>,
    );
  }
  return (
    <div ref={element} class="virtual-rows" role="presentation" style={{ height: `${count * rowHeight}px` }} onFocusIn={focused}>
      {rows}
    </div>
  );
}
