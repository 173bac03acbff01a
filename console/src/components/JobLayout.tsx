import type { JobJson } from "proto/ml/v1/ml_pb";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { hasEnded, type JobFacts, useJob } from "../state/job.ts";
import { address } from "../text/address.ts";
import { Button } from "./Button.tsx";
import { Confirm } from "./Confirm.tsx";
import { Link } from "./Link.tsx";
import { LiveMark } from "./LiveMark.tsx";
import { Failure } from "./Notices.tsx";
import { StateChip } from "./StateChip.tsx";
import { Tabs } from "./Tabs.tsx";
import { Text } from "./Text.tsx";
import { Elapsed, Time } from "./Time.tsx";
import "./JobLayout.css";

const TABS = [
  ["Overview", ""],
  ["Logs", "/logs"],
  ["Charts", "/charts"],
  ["Metrics", "/metrics"],
  ["Trials", "/trials"],
  ["Config", "/config"],
  ["Shell", "/shell"],
] as const;

export type JobTab = (typeof TABS)[number][0];

interface Props {
  readonly project: string;
  readonly job: string;
  readonly tab: JobTab;
  readonly children: (facts: JobFacts) => ComponentChildren;
}

/** What is around each of a job's views: which job, how it is, where its other views are. */
export function JobLayout({ project, job, tab, children }: Props) {
  const facts = useJob(project, job);
  const base = address`/p/${project}/jobs/${job}`;
  const data = facts.job.data;
  if (data === undefined && facts.job.error) return <Failure error={facts.job.error} retry={facts.job.reload} />;
  const tuning = data?.trainingInput?.hyperparameters !== undefined;
  const tabs = TABS.filter(([name]) => (name !== "Trials" || tuning || tab === name) && (name !== "Shell" || !hasEnded(data) || tab === name));
  return (
    <div class="stack job-layout">
      <div class="job-head">
        <h1><Text value={job} longest={128} /></h1>
        {data && <StateChip state={data.state} />}
        {data && <span class="soft">created <Time at={data.createTime} /></span>}
        {data?.startTime && <span class="soft">ran <Elapsed from={data.startTime} to={data.endTime} /></span>}
        <span class="grow" />
        <LiveMark state={facts.liveness} />
        <Actions project={project} job={job} data={data} />
      </div>
      <Tabs label="Views of the job" tabs={tabs.map(([name, path]) => ({ name, to: base + path, current: name === tab }))} />
      {children(facts)}
    </div>
  );
}

function Actions({ project, job, data }: { readonly project: string; readonly job: string; readonly data: JobJson | undefined }) {
  const [asked, setAsked] = useState(false);
  const cancel = async () => {
    await sendJson("POST", paths.cancel(project, job), {});
  };
  return (
    <>
      <Link class="button plain" to={`${address`/p/${project}/new`}?from=${encodeURIComponent(job)}`}>Clone and edit</Link>
      {data && !hasEnded(data) && <Button kind="danger" onClick={() => setAsked(true)}>Cancel job</Button>}
      {asked && (
        <Confirm title={`Cancel the job ${job}?`} verb="Cancel job" onClose={() => setAsked(false)} act={cancel}>
          Its replicas are stopped; what they wrote stays.
        </Confirm>
      )}
    </>
  );
}
