import type { JobJson } from "proto/ml/v1/ml_pb";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { usePlace } from "../router.ts";
import { hasEnded, type JobFacts, useJob } from "../state/job.ts";
import { address } from "../text/address.ts";
import { timeWord } from "../text/job_words.ts";
import { titleOf } from "../text/title.ts";
import { JobActions } from "./JobActions.tsx";
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
  const displayName = data?.displayName ?? "";
  const { path } = usePlace();
  useEffect(() => {
    if (displayName !== "") document.title = titleOf(path, displayName);
  }, [path, displayName]);
  if (data === undefined && facts.job.error) return <Failure error={facts.job.error} retry={facts.job.reload} />;
  // Until it is known which views there are none is shown: none moves under the pointer.
  const tabs = data === undefined ? [] : TABS.filter(([name]) => tab === name || hasView(data, name));
  return (
    <div class="stack job-layout">
      <div class="job-head">
        <div class="job-facts">
          <h1>
            <Text value={displayName || job} longest={128} />
            {displayName !== "" && <>{" "}<Text value={job} longest={128} class="job-id mono" /></>}
          </h1>
          {data && <StateChip state={data.state} />}
          <div class="job-times soft">
            {data && <span>created <Time at={data.createTime} /></span>}
            {data?.startTime && <span>{timeWord(data.state)} <Elapsed from={data.startTime} to={data.endTime} /></span>}
          </div>
          <span class="grow" />
          {!hasEnded(data) && <LiveMark state={facts.liveness} />}
        </div>
        <JobActions project={project} job={job} data={data} />
      </div>
      <Tabs label="Views of the job" tabs={tabs.map(([name, path]) => ({ name, to: base + path, current: name === tab }))} />
      {children(facts)}
    </div>
  );
}

/** Trials of tuning jobs only, and a shell where there is one: the job allows it, and has not ended. */
function hasView(job: JobJson, tab: JobTab): boolean {
  if (tab === "Trials") return job.trainingInput?.hyperparameters !== undefined;
  return tab !== "Shell" || (job.trainingInput?.enableWebAccess === true && !hasEnded(job));
}
