import { useState } from "preact/hooks";
import type { CompareGroup, CompareRow } from "../text/compare.ts";
import { cut, visible } from "../text/plain.ts";
import { Button } from "./Button.tsx";
import { Text } from "./Text.tsx";
import "./CompareTable.css";

/** Of a group, at first: a job may have thousands of tags. */
const ROWS_FIRST = 100;

interface Props {
  readonly jobs: readonly string[];
  /** Of jobs whose curves have one. */
  readonly colors: ReadonlyMap<string, number | undefined>;
  readonly groups: readonly CompareGroup[];
  readonly differencesOnly: boolean;
}

/** Jobs as columns; what is not the same for all is marked. Where it is narrow, rows are cards. */
export function CompareTable({ jobs, colors, groups, differencesOnly }: Props) {
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const wanted = (row: CompareRow) => row.differs || !differencesOnly;
  const shown = groups.map((group) => ({ ...group, rows: group.rows.filter(wanted) })).filter(({ rows }) => rows.length > 0);
  return (
    <div class="compare-scroll" role="region" aria-label="What the jobs were given, and what came out" tabIndex={0}>
      <table class="compare" style={{ "--jobs": jobs.length }}>
        <thead>
          <tr>
            <th scope="col">{differencesOnly ? "Difference" : "What"}</th>
            {jobs.map((job) => (
              <th key={job} scope="col">
                {colors.get(job) !== undefined && (
                  <span class="swatch" style={{ background: `var(--line-${colors.get(job)})` }} />
                )}
                <Text value={job} longest={60} />
              </th>
            ))}
          </tr>
        </thead>
        {shown.map((group) => (
          <tbody key={group.title}>
            <tr class="group"><th scope="rowgroup" colSpan={jobs.length + 1}>{group.title}</th></tr>
            {group.rows.slice(0, whole.has(group.title) ? undefined : ROWS_FIRST).map((row) => (
              <tr key={row.name} class={row.differs ? "differs" : ""}>
                <th scope="row">
                  {row.differs && <span title="Not the same for all">≠ <span class="hidden-text">differs: </span></span>}
                  <Text value={row.name} longest={120} />
                </th>
                {row.values.map((value, at) => (
                  <td key={jobs[at]} data-job={visible(cut(jobs[at] ?? "", 60))}>
                    {value === undefined ? <span class="soft">–</span> : <Text value={value} longest={300} />}
                  </td>
                ))}
              </tr>
            ))}
            {group.rows.length > ROWS_FIRST && !whole.has(group.title) && (
              <tr>
                <th scope="row" colSpan={jobs.length + 1}>
                  <Button kind="quiet" onClick={() => setWhole(new Set([...whole, group.title]))}>
                    Show all {group.rows.length.toLocaleString("en-US")}
                  </Button>
                </th>
              </tr>
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}
