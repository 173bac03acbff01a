import type { JobTimelineJson } from "proto/control/v1/timeline_pb";
import { useEffect, useMemo } from "preact/hooks";
import { paths } from "../../api/paths.ts";
import { useJson } from "../../api/use.ts";
import { JobLayout } from "../../components/JobLayout.tsx";
import { Empty, Loaded } from "../../components/Notices.tsx";
import { Text } from "../../components/Text.tsx";
import { UsePanels } from "../../components/UsePanels.tsx";
import { usePlace, type PageProps } from "../../router.ts";
import { hasEnded, type JobFacts } from "../../state/job.ts";
import { useMachineUse } from "../../state/machine_use.ts";
import { marksOf } from "../../text/marks.ts";
import { rangeOf } from "../../text/query_list.ts";

/** What the job's replicas use of the machine, with the events of the job as marks. */
export function ChartsPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Charts">
      {(facts) => <Charts project={project} job={job} facts={facts} />}
    </JobLayout>
  );
}

interface Props {
  readonly project: string;
  readonly job: string;
  readonly facts: JobFacts;
}

function Charts({ project, job, facts }: Props) {
  const { query } = usePlace();
  const range = rangeOf(query.get("from"), query.get("to"));
  const running = facts.job.data !== undefined && !hasEnded(facts.job.data);
  const use = useMachineUse(project, job, range, running);
  const events = useJson<JobTimelineJson>(paths.events(project, job));
  useEffect(() => {
    if (facts.changes > 0) events.reload();
  }, [facts.changes]);
  const marks = useMemo(() => marksOf(events.data?.entries), [events.data]);
  return (
    <Loaded of={use} lines={8}>
      {(all) => (all.length === 0 && range === null
        ? <Nothing running={running} began={facts.job.data?.startTime !== undefined} />
        : (
          <>
            {use.missing && <p class="soft" role="status"><Text value={use.missing} longest={500} /></p>}
            <UsePanels all={all} marks={marks} />
          </>
        ))}
    </Loaded>
  );
}

function Nothing({ running, began }: { readonly running: boolean; readonly began: boolean }) {
  if (!running) return <Empty title="Nothing was measured of this job.">Samples are kept for 42 days.</Empty>;
  return (
    <Empty title={began ? "The first measurement comes within seconds." : "The job's program does not run yet."}>
      Replicas are measured one second after their program began, and then every ten.
    </Empty>
  );
}
