import type { Checked, Problem } from "../state/job_check.ts";
import { count } from "../text/format.ts";
import { Text } from "./Text.tsx";
import "./JobProblems.css";

interface Props {
  readonly problems: readonly Problem[];
  /** So many more are about fields that nobody typed in yet. */
  readonly unsaid: number;
  readonly check: Checked;
  readonly goTo: (line: number) => void;
}

/** What is wrong with the job, each with its line, and what the server would do otherwise than asked. */
export function JobProblems({ problems, unsaid, check, goTo }: Props) {
  return (
    <div id="job-problems" class="stack" style={{ gap: "8px" }}>
      <p role="status" class="soft">
        {summary(problems, unsaid, check)}
      </p>
      <ul class="job-problems">
        {problems.map(({ line, field, text }) => (
          <li key={`${field} ${text}`}>
            {line !== undefined && (
              <button type="button" onClick={() => goTo(line)}>
                Line {line + 1}
              </button>
            )}
            <Text value={text.includes(field) || field === "" ? text : `${field}: ${text}`} longest={1000} />
          </li>
        ))}
        {check.notes.map((note) => (
          <li key={note} class="note">
            <Text value={note} longest={1000} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function summary(problems: readonly Problem[], unsaid: number, check: Checked): string {
  if (problems.length > 0) return `${count(problems.length, "problem")}.`;
  if (unsaid > 0) return "Not complete yet. The server checks it while you type.";
  if (check.error) return "The server could not check it; submitting checks it.";
  return check.current ? "Valid" : "Checking…";
}
