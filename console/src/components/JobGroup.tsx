import type { JobSummaryJson } from "proto/control/v1/job_rows_pb";
import { setQuery } from "../router.ts";
import { count } from "../text/format.ts";
import { withTerm } from "../text/job_filter.ts";
import { cut, visible } from "../text/plain.ts";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";

interface ChoiceProps {
  readonly group: string;
  readonly summary: JobSummaryJson | undefined;
}

/** By which label the jobs are grouped: of those that jobs have. */
export function GroupChoice({ group, summary }: ChoiceProps) {
  const keys = new Set((summary?.labels ?? []).map(({ key = "" }) => key));
  if (group !== "") keys.add(group);
  if (keys.size === 0) return null;
  return (
    <select class="field" aria-label="Group by label" value={group} onChange={({ currentTarget }) => setQuery({ group: currentTarget.value })}>
      <option value="">No groups</option>
      {[...keys].sort().map((key) => <option key={key} value={key}>By {visible(cut(key, 40))}</option>)}
    </select>
  );
}

interface HeadProps {
  readonly path: string;
  readonly label: string;
  /** undefined: the jobs have no such label. */
  readonly value: string | undefined;
  readonly jobs: number;
  readonly filter: string;
}

/** The head of a group; it leads to the group's jobs alone. */
export function GroupHead({ path, label, value, jobs, filter }: HeadProps) {
  const term = value === undefined ? `NOT labels.${label}:*` : "";
  const alone = value === undefined ? [filter, term].filter(Boolean).join(" AND ") : withTerm(filter, `labels.${label}`, value);
  return (
    <div class="job-group" role="row">
      <span role="cell">
        <Link to={`${path}?filter=${encodeURIComponent(alone)}`}>
          <Text value={value === undefined ? `without ${label}` : `${label}: ${value}`} longest={80} />
        </Link>{" "}
        <span class="soft">{count(jobs, "job")}</span>
      </span>
    </div>
  );
}
