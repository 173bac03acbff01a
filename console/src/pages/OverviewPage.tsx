import type { JobJson } from "proto/ml/v1/ml_pb";
import type { PageProps } from "../router.ts";
import { JobCause } from "../components/JobCause.tsx";
import { JobDetails } from "../components/JobDetails.tsx";
import { JobLayout } from "../components/JobLayout.tsx";
import { LastLines } from "../components/LastLines.tsx";
import { LifeList } from "../components/LifeList.tsx";
import { LifeStrip } from "../components/LifeStrip.tsx";
import { Link } from "../components/Link.tsx";
import { Failure, Loaded, Loading } from "../components/Notices.tsx";
import { ReplicaTable } from "../components/ReplicaTable.tsx";
import { TrialsInShort } from "../components/TrialsInShort.tsx";
import { useEvery } from "../state/every.ts";
import { hasEnded, type JobFacts } from "../state/job.ts";
import { useTimeline } from "../state/timeline.ts";
import { address } from "../text/address.ts";
import { causeOf } from "../text/cause.ts";
import { count } from "../text/format.ts";
import { phasesOf } from "../text/life.ts";
import "./OverviewPage.css";

const STATUS_EVERY_MS = 4000; // samples of use and progress are no changes of the job

/** A job at a glance: why it is not as it should be, its life, its replicas, the end of its log. */
export function OverviewPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Overview">
      {(facts) => (
        <Loaded of={facts.job} lines={12}>
          {(data) => <Overview project={project} job={data} facts={facts} />}
        </Loaded>
      )}
    </JobLayout>
  );
}

function Overview({ project, job, facts }: { readonly project: string; readonly job: JobJson; readonly facts: JobFacts }) {
  const id = job.jobId ?? "";
  const status = facts.status.data;
  const timeline = useTimeline(project, id, facts.changes);
  useEvery(hasEnded(job) ? null : STATUS_EVERY_MS, facts.status.reload);
  const cause = causeOf(job, status);
  const times = { ...job, ...(status?.runningTime === undefined ? {} : { runningTime: status.runningTime }) };
  const phases = phasesOf(timeline.entries ?? [], times);
  const replicas = status?.replicas ?? [];
  const ready = replicas.filter(({ phase }) => phase === "READY").length;
  const base = address`/p/${project}/jobs/${id}`;
  return (
    <div class="overview">
      <div class="stack">
        {cause && <JobCause project={project} job={id} cause={cause} />}
        {phases.length > 0 && <LifeStrip phases={phases} />}
        {job.trainingInput?.hyperparameters && <TrialsInShort project={project} job={job} />}
        {replicas.length > 0 && (
          <section class="panel">
            <div class="head spread">
              <h2>{count(replicas.length, "replica")}</h2>
              {job.state === "PREPARING" && ready > 0 && (
                <span class="soft">
                  {ready} of {replicas.length} ready: the program starts when all are
                </span>
              )}
              <Link to={`${base}/charts`}>Resource usage</Link>
            </div>
            <div class="body table">
              <ReplicaTable project={project} job={id} replicas={replicas} />
            </div>
          </section>
        )}
        {facts.status.error && <Failure error={facts.status.error} retry={facts.status.reload} />}
        <section class="panel">
          <div class="head spread">
            <h2>Last lines</h2>
            <Link to={`${base}/logs`}>The whole log</Link>
          </div>
          <div class="body">
            <LastLines project={project} job={id} length={facts.logLines} />
          </div>
        </section>
      </div>
      <div class="stack">
        <section class="panel">
          <h2>Job</h2>
          <div class="body">
            <JobDetails project={project} job={job} status={status} changed={facts.job.reload} />
          </div>
        </section>
        <section class="panel">
          <h2>What happened</h2>
          <div class="body">
            {timeline.error && <Failure error={timeline.error} retry={timeline.reload} />}
            {timeline.entries ? <LifeList entries={timeline.entries} /> : !timeline.error && <Loading lines={6} />}
          </div>
        </section>
      </div>
    </div>
  );
}
