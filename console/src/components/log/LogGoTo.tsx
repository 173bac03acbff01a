import { useState } from "preact/hooks";
import { parseGoal } from "../../text/log_lines.ts";

interface Props {
  /** A time, ms since 1970: hours without a day are of its day. */
  readonly near: number;
  readonly onLine: (line: number) => void;
  readonly onTime: (ms: number) => Promise<void>;
}

/** A line's number or a time, and Enter. */
export function LogGoTo({ near, onLine, onTime }: Props) {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState(false);
  const go = (event: Event) => {
    event.preventDefault();
    const goal = parseGoal(text, near);
    setWrong(goal === null && text !== "");
    if (goal === null) return;
    if ("line" in goal) onLine(goal.line);
    else onTime(goal.ms).catch(() => setWrong(true));
  };
  return (
    <form class="log-goto" onSubmit={go}>
      <input class="field mono" type="text" aria-label="Go to a line or a time" aria-invalid={wrong}
             placeholder="line or 14:05:00"
             title="A line's number, or a time: 14:05, 14:05:09, 2026-11-23 14:05" value={text}
             onInput={(event) => { setText(event.currentTarget.value); setWrong(false); }} />
      {wrong && <span class="hidden-text" role="alert">Neither a line's number nor a time such as 14:05:09.</span>}
    </form>
  );
}
