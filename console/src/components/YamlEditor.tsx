import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import "./YamlEditor.css";

interface Props {
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Numbers of lines with something wrong, from 0. */
  readonly bad: ReadonlySet<number>;
  readonly input: RefObject<HTMLTextAreaElement | null>;
}

const ROWS_LEAST = 22;
const ROWS_MOST = 60;

/** A text with numbers at its lines. Tab leaves it: everything works by keyboard. */
export function YamlEditor({ value, onChange, bad, input }: Props) {
  const gutter = useRef<HTMLDivElement>(null);
  const count = value.split("\n").length;
  const scrolled = (event: Event) => {
    if (gutter.current) gutter.current.scrollTop = (event.target as HTMLTextAreaElement).scrollTop;
  };
  return (
    <div class="yaml-editor">
      <div ref={gutter} class="gutter" aria-hidden="true" style={{ maxHeight: `${ROWS_MOST * 20 + 20}px` }}>
        {Array.from({ length: count }, (_, line) => (
          <div key={line} class={bad.has(line) ? "bad" : ""}>
            {line + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={input}
        aria-label="The job as YAML"
        aria-describedby="job-problems"
        aria-invalid={bad.size > 0}
        spellcheck={false}
        wrap="off"
        autoComplete="off"
        rows={Math.min(Math.max(count + 1, ROWS_LEAST), ROWS_MOST)}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        onScroll={scrolled}
      />
    </div>
  );
}

/** Puts the cursor on a line. */
export function goToLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split("\n");
  const from = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  field.focus();
  field.setSelectionRange(from, from + (lines[line]?.length ?? 0));
}
