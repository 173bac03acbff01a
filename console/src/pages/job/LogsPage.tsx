import type { PageProps } from "../../router.ts";
import { JobLayout } from "../../components/JobLayout.tsx";
import { LogView } from "../../components/log/LogView.tsx";
import { Loading } from "../../components/Notices.tsx";

/** What a job wrote. */
export function LogsPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Logs">
      {(facts) => {
        if (facts.job.data === undefined) return <Loading lines={12} />;
        return <LogView key={`${project}/${job}`} project={project} job={job} facts={facts} />;
      }}
    </JobLayout>
  );
}
