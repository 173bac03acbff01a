// Moving through a list of rows by keys.
import { type RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { type Keys, useKeys, type Words } from "./keys.ts";

export interface RowsOptions<Item> {
  /** Which list it is: who comes back to it finds the row again. */
  readonly name: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly open: (item: Item) => void;
  /** Further keys, and what they do. */
  readonly keys?: Keys;
  readonly words?: Words;
}

export interface RowsPlace {
  /** The current row; -1: none is. */
  readonly at: number;
  /** For VirtualRows. */
  readonly place: {
    /** The row that keys moved to: its link gets the focus. `round` grows with each move. */
    readonly focus: { readonly row: number; readonly round: number } | undefined;
    readonly onFocus: (row: number) => void;
  };
}

const WORDS: Words = { "j k": "Next and previous row", Enter: "Open the row" };

/** The row that was the current one last. */
let last: { readonly name: string; readonly id: string } | undefined;

/** A current row, which j and k move: the focus goes with it. Enter opens it. Back comes to it, and to where one scrolled. */
export function useRows<Item>({ name, items, idOf, open, keys = {}, words = {} }: RowsOptions<Item>): RowsPlace {
  const [id, setId] = useState(() => (last?.name === name && scrolled() !== undefined ? last.id : undefined));
  const [round, setRound] = useState(0);
  const at = id === undefined ? -1 : items.findIndex((item) => idOf(item) === id);
  const set = (row: number) => {
    const item = items[row];
    if (item === undefined) return;
    last = { name, id: idOf(item) };
    setId(last.id);
  };
  const move = (row: number) => {
    set(Math.max(0, Math.min(row, items.length - 1)));
    setRound((before) => before + 1);
  };
  useLayoutEffect(() => {
    const before = scrolled();
    if (before === undefined) return;
    scrollTo(0, before);
    if (at >= 0) setRound(1);
  }, []);
  useKeys({
    j: () => move(at + 1),
    k: () => move(at - 1),
    Enter: () => {
      const item = items[at];
      if (item !== undefined) open(item);
    },
    ...keys,
  }, { ...WORDS, ...words });
  return { at, place: { focus: round > 0 && at >= 0 ? { row: at, round } : undefined, onFocus: set } };
}

/** For rows that all exist, marked with data-row: what VirtualRows does for its own. Returns what listens to the focus. */
export function useRowFocus(element: RefObject<HTMLElement | null>, { focus, onFocus }: RowsPlace["place"]): (event: FocusEvent) => void {
  useLayoutEffect(() => {
    if (focus !== undefined) element.current?.querySelector<HTMLElement>(`[data-row="${focus.row}"] a`)?.focus();
  }, [focus?.round]);
  return (event) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"];
    if (row !== undefined) onFocus(Number(row));
  };
}

/** How far the page was scrolled when the reader left it; undefined: he is here for the first time. */
function scrolled(): number | undefined {
  return (history.state as { scroll?: number } | null)?.scroll;
}
