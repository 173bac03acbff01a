import type { ScalarList_ItemJson, ScalarListJson } from "proto/control/v1/curves_pb";
import type { JobRowsJson } from "proto/control/v1/job_rows_pb";
import { withQuery } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";
import { useJson } from "../../api/use.ts";
import { lastProject, useSession } from "../../state/session.ts";
import { address } from "../../text/address.ts";
import { curvesBeside, jobsAround } from "../../text/event_files.ts";
import { num, number } from "../../text/format.ts";
import { type Column, FactTable } from "../FactTable.tsx";
import { Link } from "../Link.tsx";
import { Empty, Failure, Loaded, Loading } from "../Notices.tsx";
import { Text } from "../Text.tsx";
import { Time } from "../Time.tsx";

const WHAT = "Events for TensorBoard: scalars, images and texts that a program wrote.";
const JOBS_MOST = 3;

/** TensorBoard's events: not a text, but curves, which the job whose job-dir it is in has read. */
export function EventFile({ bucket, name }: { readonly bucket: string; readonly name: string }) {
  const session = useSession();
  const project = lastProject() ?? session.defaultProject ?? "";
  const query = { filter: jobsAround(bucket, name), pageSize: JOBS_MOST };
  const found = useJson<JobRowsJson>(project === "" ? null : withQuery(paths.jobRows(project), query));
  const jobs = found.data?.jobs ?? [];
  if (found.loading && found.data === undefined) return <Loading />;
  if (jobs.length === 0) {
    return (
      <>
        {found.error && <Failure error={found.error} retry={found.reload} />}
        <Empty title={WHAT}>
          {project === ""
            ? "Curves are on the page Metrics of the job that wrote it."
            : (
              <p>
                No job of <Text value={project} longest={80} /> has this folder as its job-dir: only such a job's curves are shown.
              </p>
            )}
        </Empty>
      </>
    );
  }
  return (
    <div class="stack">
      <p>{WHAT}</p>
      {jobs.map(({ jobId = "" }) => <Curves key={jobId} project={project} job={jobId} bucket={bucket} name={name} />)}
    </div>
  );
}

const COLUMNS: readonly Column<ScalarList_ItemJson>[] = [
  { name: "Tag", cell: (item) => <Text value={item.name?.tag} longest={200} /> },
  { name: "Points", number: true, cell: (item) => num(item.points).toLocaleString("en-US") },
  { name: "Last step", number: true, cell: (item) => number(Number(item.lastStep ?? 0)) },
  { name: "Last value", number: true, cell: (item) => number(Number(item.lastValue ?? 0)) },
  { name: "At", cell: (item) => <Time at={item.lastTime} /> },
];

interface Props {
  readonly project: string;
  readonly job: string;
  readonly bucket: string;
  readonly name: string;
}

function Curves({ project, job, bucket, name }: Props) {
  const list = useJson<ScalarListJson>(paths.scalars(project, job));
  const metrics = address`/p/${project}/jobs/${job}/metrics`;
  return (
    <section class="panel" aria-label="Curves">
      <div class="head spread">
        <h2>Curves in this folder</h2>
        <Link to={metrics}>All curves of <Text value={job} longest={128} /></Link>
      </div>
      <Loaded of={list}>
        {(data) => {
          const items = curvesBeside(data, bucket, name);
          const none = data.reading ? "The event files are being read…" : "There are no scalars in this folder.";
          if (items.length === 0) return <p class="body soft">{none}</p>;
          return <FactTable label="Curves" columns={COLUMNS} rows={items} id={(item) => item.name?.tag ?? ""} />;
        }}
      </Loaded>
    </section>
  );
}
