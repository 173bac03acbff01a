import { withQuery } from "../api/http.ts";
import { causeLine } from "../api/cause_line.ts";
import { useAnswer } from "../api/use.ts";
import { address } from "../text/address.ts";
import type { Cause } from "../text/cause.ts";
import { shortNumbers } from "../text/format.ts";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";
import "./JobCause.css";

const PLACES = {
  traceback: "The traceback in the log",
  error: "The last error in the log",
  stderr: "The last line of stderr in the log",
};

interface Props {
  readonly project: string;
  readonly job: string;
  readonly cause: Cause;
}

/** Why the job waits or failed, what to do first, and where it is written. */
export function JobCause({ project, job, cause }: Props) {
  const isFailure = cause.tone === "bad";
  const key = isFailure ? `cause of ${project} ${job} ${cause.replica} ${cause.traceback}` : null;
  const place = useAnswer(key, (signal) => causeLine(project, job, cause, signal)).data;
  const logs = address`/p/${project}/jobs/${job}/logs`;
  return (
    <section
      class={`cause ${cause.tone}`}
      aria-label={isFailure ? "Why it failed" : cause.tone === "wait" ? "Why it waits" : "Why it ended"}
    >
      <p class="what">
        <Text value={shortNumbers(cause.title)} longest={1000} />
      </p>
      {cause.advice !== "" && (
        <p>
          <span class="soft">{isFailure ? "What to do: " : "It goes on: "}</span>
          <Text value={cause.advice} longest={1000} />
        </p>
      )}
      {isFailure && (
        <p class="links">
          {place && <Link to={withQuery(logs, { line: place.line })}>{PLACES[place.kind]}</Link>}
          {cause.replica !== "" && (
            <Link to={withQuery(logs, { replica: cause.replica })}>
              Log of <Text value={cause.replica} longest={80} />
            </Link>
          )}
        </p>
      )}
      {cause.whole !== "" && (
        <details>
          <summary>The whole message</summary>
          <pre tabIndex={0}>
            <Text value={cause.whole} longest={20_000} />
          </pre>
        </details>
      )}
    </section>
  );
}
