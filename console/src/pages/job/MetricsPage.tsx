import type { ScalarListJson, SummaryListJson } from "proto/control/v1/curves_pb";
import { useEffect, useMemo } from "preact/hooks";
import { paths } from "../../api/paths.ts";
import { useJson } from "../../api/use.ts";
import type { PageProps } from "../../router.ts";
import { CurveControls } from "../../components/CurveControls.tsx";
import { JobLayout } from "../../components/JobLayout.tsx";
import { Empty, Loaded } from "../../components/Notices.tsx";
import { SummaryPanel } from "../../components/SummaryPanel.tsx";
import { TagGroups } from "../../components/TagGroups.tsx";
import { Text } from "../../components/Text.tsx";
import { useCurveChoices, useCurveQuery } from "../../state/curve_choices.ts";
import { hasEnded, type JobFacts } from "../../state/job.ts";
import { useLooks } from "../../state/looks.ts";
import { type Reading, useScalarList } from "../../state/scalar_list.ts";
import { ownRuns } from "../../text/looks.ts";
import { summaryTags } from "../../text/summaries.ts";
import { found, shownOf } from "../../text/tags.ts";

/** What the job's program measured of itself: curves, images, texts, histograms. */
export function MetricsPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Metrics">
      {(facts) => <Metrics project={project} job={job} facts={facts} />}
    </JobLayout>
  );
}

interface Props {
  readonly project: string;
  readonly job: string;
  readonly facts: JobFacts;
}

function Metrics({ project, job, facts }: Props) {
  const list = useScalarList(project, job, facts);
  return (
    <>
      <Loaded of={list}>
        {(data) => (data.items?.length ? <Curves project={project} list={data} /> : <Nothing list={data} facts={facts} />)}
      </Loaded>
      <Summaries project={project} job={job} facts={facts} />
    </>
  );
}

function Curves({ project, list }: { readonly project: string; readonly list: Reading<ScalarListJson> }) {
  const query = useCurveQuery();
  const items = list.items ?? [];
  const { items: shown, runs } = useMemo(() => found(items, query.tag, query.run, 1), [items, query.tag, query.run]);
  const choices = useCurveChoices(useLooks(ownRuns(runs)).runs);
  const words = shownOf(shown.length, items.length);
  return (
    <>
      <CurveControls query={query} zoomed={choices.range !== null} shown={list.reading ? `${words}, still reading…` : words} />
      {list.more && <p class="soft">The job has more curves than can be listed: these are the first.</p>}
      {shown.length === 0
        ? <Empty title="No curve matches.">Change what is searched for among tags and runs.</Empty>
        : <TagGroups project={project} items={shown} jobs={1} choices={choices} />}
    </>
  );
}

function Nothing({ list, facts }: { readonly list: Reading<ScalarListJson>; readonly facts: JobFacts }) {
  const none = hasEnded(facts.job.data) ? "The job left no curves." : "There are no curves yet.";
  return (
    <Empty title={list.reading ? "The event files are being read…" : none}>
      {list.note && <p><Text value={list.note} longest={500} /></p>}
      {list.places?.map((place) => <p key={place} class="soft">Looked in <Text value={place} longest={300} class="mono" /></p>)}
      <p>
        TensorBoard's event files below the job's <code>--job-dir</code> are shown here, and what{" "}
        <code>cloudml-hypertune</code> reports.
      </p>
    </Empty>
  );
}

function Summaries({ project, job, facts }: Props) {
  const list = useJson<SummaryListJson>(paths.summaries(project, job));
  useEffect(() => {
    if (facts.changes > 0) list.reload();
  }, [facts.changes]);
  const tags = useMemo(() => summaryTags(list.data?.items ?? []), [list.data]);
  if (tags.length === 0) return null;
  return (
    <section class="stack" aria-label="Images, texts and histograms">
      <h2>Images, texts and histograms <span class="soft">{tags.length}</span></h2>
      {list.data?.more && <p class="soft">There are more than can be listed: these are the first.</p>}
      <div class="tag-grid">{tags.map((tag) => <SummaryPanel key={tag.key} tag={tag} />)}</div>
    </section>
  );
}
