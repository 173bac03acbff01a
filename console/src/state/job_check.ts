import type { JobCheckJson } from "proto/control/v1/job_check_pb";
import { useEffect, useState } from "preact/hooks";
import { type ApiError, reasonOf, sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError } from "../api/use.ts";
import { isAbout, lineOf, type ReadJob } from "../text/job_yaml.ts";

const AFTER_MS = 350;
const UNCHECKED = new Set([0, 404, 405, 500, 501, 502, 503]);

/** Something that is wrong with a job. */
export interface Problem {
  /** As the server names it; "" where it is about the text. */
  readonly field: string;
  /** From 0; undefined: about no line. */
  readonly line: number | undefined;
  readonly text: string;
}

export interface Checked {
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  /** The answer is for the text as it is. */
  readonly current: boolean;
  /** Why it was not checked. */
  readonly error: ApiError | undefined;
}

/** What the server says to the job, asked while one types. */
export function useJobCheck(project: string, read: ReadJob, text: string): Checked {
  const [answer, setAnswer] = useState<{ text: string; check: JobCheckJson; error?: ApiError }>();
  useEffect(() => {
    if (read.error) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      sendJson<JobCheckJson>("POST", paths.validate(project), read.job, abort.signal).then(
        (check) => setAnswer({ text, check }),
        (reason: unknown) => {
          if (abort.signal.aborted) return;
          const error = asApiError(reason);
          if (UNCHECKED.has(error.status)) setAnswer({ text, check: {}, error });
          else setAnswer({ text, check: { violations: [{ field: error.field, description: error.message }] } });
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [project, text]);
  if (read.error)
    return {
      problems: [{ field: "", line: read.error.line, text: read.error.message }],
      notes: [],
      current: true,
      error: undefined,
    };
  const problems = (answer?.check.violations ?? []).map(({ field = "", description = "" }) =>
    problemOf(read, field, description),
  );
  return { problems, notes: answer?.check.notes ?? [], current: answer?.text === text, error: answer?.error };
}

/** Of an empty form: what is about the text itself, or about fields that were typed in. Nobody is told off before he began. */
export function said(problems: readonly Problem[], touched: readonly (readonly string[])[]): readonly Problem[] {
  return problems.filter(({ field }) => field === "" || touched.some((path) => isAbout(field, path)));
}

/** A key that nobody knows is named in the sentence alone: Unknown name "x" at 'job.training_input'. */
const UNKNOWN = /Unknown name "([^"]+)" at '([^']+)'/;
export function problemOf(read: ReadJob, field: string, text: string): Problem {
  const unknown = UNKNOWN.exec(text);
  const place = unknown ? `${unknown[2]}.${unknown[1]}` : field;
  return { field, line: lineOf(read.tree, place), text: reasonOf(text) };
}
