import type { PageProps } from "../../router.ts";
import { JobLayout } from "../../components/JobLayout.tsx";
import { Empty, Loading } from "../../components/Notices.tsx";
import { TuningView } from "../../components/TuningView.tsx";
import type { JobFacts } from "../../state/job.ts";
import { useJobTuning } from "../../state/tuning.ts";
import { address } from "../../text/address.ts";

/** The trials of a tuning job. */
export function TrialsPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Trials">
      {(facts) => <Trials project={project} job={job} facts={facts} />}
    </JobLayout>
  );
}

function Trials({ project, job, facts }: { readonly project: string; readonly job: string; readonly facts: JobFacts }) {
  const { tuning, insight } = useJobTuning(project, job, facts);
  if (tuning === undefined) return <Loading lines={8} />;
  if (tuning.parameters.length === 0 && tuning.trials.length === 0) {
    return <Empty title="The job has no trials.">It was submitted without <code>trainingInput.hyperparameters</code>.</Empty>;
  }
  return <TuningView tuning={tuning} insight={insight} to={(trial) => address`/p/${project}/jobs/${job}/trials/${trial}`} />;
}
