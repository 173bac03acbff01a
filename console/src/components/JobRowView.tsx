import type { JobRowJson } from "proto/control/v1/job_rows_pb";
import { address } from "../text/address.ts";
import { number } from "../text/format.ts";
import { gridOf, JOB_COLUMNS, type JobColumn } from "../text/job_columns.ts";
import { plain } from "../text/plain.ts";
import { Labels } from "./Labels.tsx";
import { Link } from "./Link.tsx";
import { StateChip } from "./StateChip.tsx";
import { Text } from "./Text.tsx";
import { Elapsed, Time } from "./Time.tsx";

export function JobRowHead({ columns }: { readonly columns: readonly JobColumn[] }) {
  const names = ["State", "Job", ...columns.map((column) => JOB_COLUMNS[column].name)];
  return (
    <div class="job-row head" role="row" style={{ gridTemplateColumns: gridOf(columns) }}>
      {names.map((name) => <span key={name} role="columnheader">{name}</span>)}
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
  /** Where jobs can be marked. */
  readonly chosen?: boolean;
  readonly onChoose?: () => void;
}

/** A job in a table: a row, or a card. */
export function JobRowView({ project, job, current, card, columns, onLabel, chosen, onChoose }: Props) {
  const mark = onChoose && (
    <input type="checkbox" checked={chosen} onChange={onChoose} title="Mark it to compare (x)"
           aria-label={`Mark ${plain(job.jobId ?? "")}`} />
  );
  const name = (
    <Link to={address`/p/${project}/jobs/${job.jobId ?? ""}`} class="job-name">
      <Text value={job.jobId} longest={128} />
    </Link>
  );
  const logs = <Link to={address`/p/${project}/jobs/${job.jobId ?? ""}/logs`} class="soft">logs</Link>;
  if (card) {
    return (
      <div class={`job-card${current ? " current" : ""}`} role="row">
        <div class="line" role="cell"><span>{mark} {name}</span><StateChip state={job.state} /></div>
        <div class="line soft" role="cell"><What job={job} /></div>
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
      <span role="cell">{name} {logs}</span>
      {columns.map((column) => (
        <span key={column} role="cell" class={SOFT.has(column) ? "soft" : ""}>
          <Cell job={job} column={column} onLabel={onLabel} />
        </span>
      ))}
    </div>
  );
}

const SOFT: ReadonlySet<JobColumn> = new Set(["created", "started", "ended", "who", "machines", "trials"]);

function Cell({ job, column, onLabel }: Pick<Props, "job" | "onLabel"> & { readonly column: JobColumn }) {
  switch (column) {
    case "what": return <What job={job} />;
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

/** Why it is not as it should be, else what it is. */
function What({ job }: { readonly job: JobRowJson }) {
  if (job.reason) return <span title={plain(job.reason)}><Text value={job.reason} longest={200} /></span>;
  const trials = job.tuning ? `${job.trials ?? 0} of ${job.trialsMax ?? 0} trials` : "";
  return <Text value={[job.summary, job.machines, trials].filter(Boolean).join(" · ")} longest={200} />;
}

function Metric({ job }: { readonly job: JobRowJson }) {
  if (!job.metric) return null;
  const { tag = "", value = 0 } = job.metric;
  return <span title={plain(tag)}><Text value={tag} longest={24} class="soft" /> {number(Number(value))}</span>;
}
