import type { JobRowJson } from "proto/control/v1/job_rows_pb";
import { address } from "../text/address.ts";
import { number } from "../text/format.ts";
import { columnName, gridOf, isOwn, type JobColumn, type OwnColumn } from "../text/job_columns.ts";
import type { JobOrder, SortColumn } from "../text/job_order.ts";
import { programName } from "../text/job_words.ts";
import { plain } from "../text/plain.ts";
import { nameOf, submittedWords } from "../text/submitted_as.ts";
import { Labels } from "./Labels.tsx";
import { Link } from "./Link.tsx";
import { StateChip } from "./StateChip.tsx";
import { Text } from "./Text.tsx";
import { Elapsed, Time } from "./Time.tsx";

interface HeadProps {
  readonly columns: readonly JobColumn[];
  readonly order?: JobOrder | undefined;
  /** Where jobs can be sorted. */
  readonly onSort?: (column: SortColumn) => void;
}

export function JobRowHead({ columns, order, onSort }: HeadProps) {
  const heads: [SortColumn, string][] = [["state", "State"], ["job", "Job"], ...columns.map((one): [SortColumn, string] => [one, columnName(one)])];
  return (
    <div class="job-row head" role="row" style={{ gridTemplateColumns: gridOf(columns) }}>
      {heads.map(([column, name]) => {
        const on = order?.column === column;
        const face = <Text value={name} longest={40} />;
        return (
          <span key={column} role="columnheader" aria-sort={on ? (order.descending ? "descending" : "ascending") : "none"}>
            {onSort === undefined ? face : (
              <button type="button" class="sort" onClick={() => onSort(column)} title={`Sort by ${plain(name)}`}>
                {face}{on && <span aria-hidden="true">{order.descending ? " ↓" : " ↑"}</span>}
              </button>
            )}
          </span>
        );
      })}
    </div>
  );
}

interface Props {
  readonly project: string;
  readonly job: JobRowJson;
  readonly current: boolean;
  /** On narrow screens. */
  readonly card: boolean;
  /** Of a row, beside state and name. */
  readonly columns: readonly JobColumn[];
  readonly onLabel: (key: string, value: string) => void;
  /** What its program was given and measured, where columns show that. */
  readonly own?: ReadonlyMap<OwnColumn, string | number> | undefined;
  /** Where jobs can be marked. */
  readonly chosen?: boolean;
  readonly onChoose?: () => void;
}

/** A job in a table: a row, or a card. */
export function JobRowView({ project, job, current, card, columns, onLabel, own, chosen, onChoose }: Props) {
  const mark = onChoose && (
    <input type="checkbox" checked={chosen} onChange={onChoose} title="Mark it to compare (x)"
           aria-label={`Mark ${plain(nameOf(job))}`} />
  );
  const name = (
    <Link to={address`/p/${project}/jobs/${job.jobId ?? ""}`} class="job-name">
      <Text value={nameOf(job)} longest={128} />
    </Link>
  );
  // Many jobs may have one display name.
  const origin = job.displayName ? <Origin job={job} /> : null;
  const logs = <Link to={address`/p/${project}/jobs/${job.jobId ?? ""}/logs`} class="soft">logs</Link>;
  if (card) {
    return (
      <div class={`job-card${current ? " current" : ""}`} role="row">
        <div class="line" role="cell"><span>{mark} {name}</span><StateChip state={job.state} /></div>
        <div class="line soft" role="cell"><What job={job} />{origin}</div>
        <div class="line soft" role="cell">
          <span><Time at={job.createTime} /> · <Elapsed from={job.startTime} to={job.endTime} /></span>
          <Metric job={job} />{logs}
        </div>
      </div>
    );
  }
  return (
    <div class={`job-row${current ? " current" : ""}`} role="row" aria-selected={current}
         style={{ gridTemplateColumns: gridOf(columns) }}>
      <span role="cell">{mark} <StateChip state={job.state} /></span>
      <span role="cell">{name} {logs} {!columns.includes("submitted") && origin}</span>
      {columns.map((column) => (
        <span key={column} role="cell" class={SOFT.has(column) ? "soft" : ""}>
          <Cell job={job} column={column} onLabel={onLabel} own={own} whole={columns.includes("cause")} />
        </span>
      ))}
    </div>
  );
}

const SOFT: ReadonlySet<JobColumn> = new Set(["created", "started", "ended", "who", "machines", "trials"]);

interface CellProps extends Pick<Props, "job" | "onLabel" | "own"> {
  readonly column: JobColumn;
  /** The cause has a column of its own. */
  readonly whole: boolean;
}

function Cell({ job, column, onLabel, own, whole }: CellProps) {
  if (isOwn(column)) return <Own value={own?.get(column)} />;
  switch (column) {
    case "cause": return job.reason ? <Cause reason={job.reason} /> : null;
    case "what": return <What job={whole ? { ...job, reason: "" } : job} />;
    case "submitted": return job.submittedAs ? <Origin job={job} /> : null;
    case "machines": return <Text value={job.machines} longest={120} />;
    case "labels": return <Labels labels={job.labels} onPick={onLabel} />;
    case "created": return <Time at={job.createTime} />;
    case "started": return <Time at={job.startTime} />;
    case "ended": return <Time at={job.endTime} />;
    case "elapsed": return <Elapsed from={job.startTime} to={job.endTime} />;
    case "metric": return <Metric job={job} />;
    case "trials": return job.tuning ? <span>{job.trials ?? 0} of {job.trialsMax ?? 0}</span> : null;
    case "who": return <Text value={job.creator?.replace(/^[a-zA-Z]+:/, "")} longest={60} />;
  }
}

/** What it was submitted as; beside a display name that is of ml v1, its id. */
function Origin({ job }: { readonly job: JobRowJson }) {
  const words = submittedWords(job.submittedAs);
  return (
    <span class="soft" title={plain([words, job.jobId].filter(Boolean).join(": "))}>
      <Text value={words || job.jobId} longest={80} />
    </span>
  );
}

/** A parameter, as it was given, or a measured value. */
function Own({ value }: { readonly value: string | number | undefined }) {
  return <Text value={typeof value === "number" ? number(value) : value} longest={60} />;
}

function Cause({ reason }: { readonly reason: string }) {
  return <span title={plain(reason)}><Text value={reason} longest={200} /></span>;
}

/** Why it is not as it should be, else what it is. */
function What({ job }: { readonly job: JobRowJson }) {
  if (job.reason) return <Cause reason={job.reason} />;
  const trials = job.tuning ? `${job.trials ?? 0} of ${job.trialsMax ?? 0} trials` : "";
  return <Text value={[programName(job.summary, job.jobId), job.machines, trials].filter(Boolean).join(" · ")} longest={200} />;
}

function Metric({ job }: { readonly job: JobRowJson }) {
  if (!job.metric) return null;
  const { tag = "", value = 0 } = job.metric;
  return <span title={plain(tag)}><Text value={tag} longest={24} class="soft" /> {number(Number(value))}</span>;
}
