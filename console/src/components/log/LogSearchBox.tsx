import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../../text/format.ts";
import type { LogSearch } from "../../log/search.ts";
import { Button } from "../Button.tsx";

interface Props {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly regex: boolean;
  readonly search: LogSearch | undefined;
  /** The line that is chosen: which match it is. */
  readonly at: number | undefined;
  readonly total: number;
  readonly onChange: (text: string, regex: boolean) => void;
  readonly onNext: (backward: boolean) => void;
}

const TYPED_MS = 350;

/** Looks for a text or a regular expression in the whole log. */
export function LogSearchBox({ input, text, regex, search, at, total, onChange, onNext }: Props) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (value: string) => {
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(value, regex), TYPED_MS);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      if (typed === "") input.current?.blur();
      else type("");
    } else if (event.key === "Enter") {
      clearTimeout(timer.current);
      if (typed !== text) onChange(typed, regex);
      else onNext(event.shiftKey);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="log-search" role="search">
      <input ref={input} class="field mono" type="search" aria-label="Search the log" spellcheck={false} value={typed}
             placeholder="Search  ( / )" onInput={(event) => type(event.currentTarget.value)} onKeyDown={pressed} />
      <Button pressed={regex} label="Regular expression" title="Regular expression (RE2)"
              onClick={() => { clearTimeout(timer.current); onChange(typed, !regex); }}>.*</Button>
      {text !== "" && (
        <>
          <Button kind="quiet" label="Previous match" title="Previous match (N)" onClick={() => onNext(true)}>↑</Button>
          <Button kind="quiet" label="Next match" title="Next match (n)" onClick={() => onNext(false)}>↓</Button>
          <span class="soft nowrap" role="status" title="Lines that have it, as far as the log was searched">
            {search ? found(search, at, total) : ""}
          </span>
        </>
      )}
    </div>
  );
}

function found(search: LogSearch, at: number | undefined, total: number): string {
  if (search.error) return "";
  const lines = search.found.length;
  const rank = at !== undefined && search.has(at) ? `${search.rank(at).toLocaleString("en-US")} of ` : "";
  if (search.isFull) return `${rank}${lines.toLocaleString("en-US")}+ lines`;
  if (search.complete) return lines === 0 ? "no line has it" : rank + count(lines, "line");
  const share = total === 0 ? 0 : Math.floor((100 * search.searchedTo) / total);
  return `${rank}${count(lines, "line")}, ${share} %`;
}
