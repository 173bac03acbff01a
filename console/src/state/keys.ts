import { useEffect, useRef } from "preact/hooks";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;
/** What keys do: {"j k": "Next and previous row"}. */
export type Words = Readonly<Record<string, string>>;

/** For keys that mean the same on every page. */
const USUAL: Words = { "j k": "Next and previous", Enter: "Open", "/": "Filter or search" };

/** What the keys of this page do, by who listens. */
const listening = new Set<{ readonly current: Words }>();

/** What the page's keys do now. */
export function keyWords(): readonly (readonly [keys: string, does: string])[] {
  return Object.entries(Object.assign({}, ...[...listening].map(({ current }) => current)) as Words);
}

/** Keys of a page: {"j": next, "/": find}, and what they do. Not while the reader types, nor with Ctrl, Alt or Meta. */
export function useKeys(keys: Keys, words?: Words): void {
  const latest = useRef(keys);
  latest.current = keys;
  const said = useRef<Words>({});
  const usual = Object.entries(USUAL).filter(([names]) => names.split(" ").every((name) => name in keys));
  said.current = words ?? Object.fromEntries(usual);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
      if (PRESSES.has(event.key) && isPressed(event.target)) return;
      const act = latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    listening.add(said);
    addEventListener("keydown", pressed);
    return () => {
      listening.delete(said);
      removeEventListener("keydown", pressed);
    };
  }, []);
}

/** Keys that press what has the focus. */
const PRESSES = new Set(["Enter", " "]);
const KNOBS = new Set(["checkbox", "radio", "range", "button", "submit", "file"]);

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !KNOBS.has(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary, input, [role=slider]") !== null;
}
