import type { PageProps } from "../../router.ts";
import { JobLayout } from "../../components/JobLayout.tsx";
import { Link } from "../../components/Link.tsx";
import { Loading } from "../../components/Notices.tsx";
import { TrialView } from "../../components/TrialView.tsx";
import type { JobFacts } from "../../state/job.ts";
import { useJobTuning } from "../../state/tuning.ts";
import { address } from "../../text/address.ts";

/** One trial of a tuning job. */
export function TrialPage({ project = "", job = "", trial = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Trials">
      {(facts) => <Trial project={project} job={job} trial={trial} facts={facts} />}
    </JobLayout>
  );
}

interface Props {
  readonly project: string;
  readonly job: string;
  readonly trial: string;
  readonly facts: JobFacts;
}

function Trial({ project, job, trial, facts }: Props) {
  const { tuning } = useJobTuning(project, job, facts);
  if (tuning === undefined) return <Loading lines={8} />;
  const base = address`/p/${project}/jobs/${job}`;
  return (
    <TrialView tuning={tuning} trial={trial} all={`${base}/trials`}
               to={(other) => address`/p/${project}/jobs/${job}/trials/${other}`}>
      <Link to={`${base}/logs?trial=${encodeURIComponent(trial)}`}>Log</Link>
      <Link to={`${base}/metrics?run=${encodeURIComponent(`^trial ${trial}\\b`)}`}>Metrics</Link>
      <Link to={`${base}/charts?replica=${encodeURIComponent(`^${trial}/`)}`}>Charts</Link>
    </TrialView>
  );
}
