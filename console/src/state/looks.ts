import { useMemo, useRef } from "preact/hooks";
import { type JobLooks, jobLooks, type JobRun, NO_LOOKS } from "../text/looks.ts";

/** Looks for the runs of a page; what has a look keeps it as long as the page is open. */
export function useLooks(runs: readonly JobRun[]): JobLooks {
  const before = useRef(NO_LOOKS);
  const labels = runs.map(({ label }) => label).join("\n");
  return useMemo(() => (before.current = jobLooks(runs, before.current)), [labels]);
}
