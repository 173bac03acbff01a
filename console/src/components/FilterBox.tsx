import type { JobSummaryJson } from "proto/control/v1/job_rows_pb";
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { completions } from "../text/job_filter.ts";

interface Props {
  /** The filter that is on. */
  readonly value: string;
  readonly onChange: (filter: string) => void;
  readonly input: RefObject<HTMLInputElement | null>;
  /** What there is to complete with. */
  readonly summary: JobSummaryJson | undefined;
}

/** The filter language of jobs.list, with completion of fields and values. Enter applies it, Escape gives up. */
export function FilterBox({ value, onChange, input, summary }: Props) {
  const [text, setText] = useState(value);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  useEffect(() => setText(value), [value]);
  const choices = open ? completions(text, summary) : [];
  const apply = (filter: string) => {
    setOpen(false);
    onChange(filter.trim());
  };
  const pick = (choice: { readonly text: string; readonly whole: boolean }) => {
    setText(choice.text);
    setAt(-1);
    if (choice.whole) apply(choice.text);
    else input.current?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    const chosen = choices[at];
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, choices.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, -1));
    else if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    } else if ((event.key === "Tab" || event.key === "Enter") && chosen) pick(chosen);
    else if (event.key === "Enter") apply(text);
    else return;
    if (event.key !== "Tab" || chosen) event.preventDefault();
  };
  return (
    <div class="filter">
      <input ref={input} class="field" type="text" role="combobox" aria-label="Filter jobs" aria-expanded={choices.length > 0}
             aria-controls="filter-choices" aria-autocomplete="list" spellcheck={false}
             aria-activedescendant={at >= 0 ? `filter-choice-${at}` : undefined}
             placeholder={'Filter: state:RUNNING AND labels.team:vision  ( / )'} value={text}
             onInput={(event) => { setText(event.currentTarget.value); setOpen(true); setAt(-1); }}
             onFocus={() => setOpen(true)} onBlur={() => { setOpen(false); setText(value); }} onKeyDown={pressed} />
      {choices.length > 0 && (
        <ul id="filter-choices" role="listbox" aria-label="Completions" tabIndex={-1}>
          {choices.map((choice, row) => (
            <li key={choice.text} id={`filter-choice-${row}`} role="option" aria-selected={row === at}
                onMouseDown={(event) => { event.preventDefault(); pick(choice); }}>
              <span class="mono">{choice.shown}</span><span class="soft">{choice.hint}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
