import { useMemo } from "preact/hooks";
import { Button } from "../components/Button.tsx";
import { CompareTable } from "../components/CompareTable.tsx";
import { CurveControls } from "../components/CurveControls.tsx";
import { JobPicker } from "../components/JobPicker.tsx";
import { Link } from "../components/Link.tsx";
import { LiveMark } from "../components/LiveMark.tsx";
import { Empty, Failure, Loaded } from "../components/Notices.tsx";
import { TagGroups } from "../components/TagGroups.tsx";
import { setQuery, usePlace, type PageProps } from "../router.ts";
import { type ComparedJob, useCompared } from "../state/compare.ts";
import { useCurveChoices, useCurveQuery } from "../state/curve_choices.ts";
import { useLooks } from "../state/looks.ts";
import { useNow } from "../state/now.ts";
import { address } from "../text/address.ts";
import { compared } from "../text/compare.ts";
import { listOf, listText } from "../text/query_list.ts";
import { found, runLabel, shownOf } from "../text/tags.ts";

/** Jobs at first: each is two requests, and a column. */
const JOBS_FIRST = 20;

/** Several jobs: their curves over each other, what they were given and what came out. */
export function ComparePage({ project = "" }: PageProps) {
  const { query } = usePlace();
  const [text, most] = [query.get("jobs"), query.get("most")];
  const chosen = useMemo(() => [...new Set(listOf(text))], [text]);
  const jobs = useMemo(() => (most === "all" ? chosen : chosen.slice(0, JOBS_FIRST)), [chosen, most]);
  const all = useCompared(project, jobs);
  const change = (names: readonly string[]) => setQuery({ jobs: listText(names) });
  return (
    <div class="stack">
      <div class="spread"><h1>Compare</h1><LiveMark state={all.liveness} /></div>
      <JobPicker project={project} jobs={chosen} onChange={change} />
      {jobs.length < chosen.length && (
        <p class="row" role="status">
          The first {jobs.length} of {chosen.length} jobs are compared.
          <Button onClick={() => setQuery({ most: "all" })}>Compare all {chosen.length}</Button>
        </p>
      )}
      {jobs.length === 0
        ? (
          <Empty title="Choose jobs to compare.">
            <p>
              Add them here by name, or mark them in the list of{" "}
              <Link to={address`/p/${project}/jobs`}>jobs</Link> with <kbd>x</kbd>.
            </p>
          </Empty>
        )
        : <Loaded of={all} lines={8}>{(known) => <Compared project={project} all={known} />}</Loaded>}
    </div>
  );
}

function Compared({ project, all }: { readonly project: string; readonly all: readonly ComparedJob[] }) {
  const { query: address } = usePlace();
  const query = useCurveQuery();
  const minute = Math.floor(useNow() / 1000);
  const names = all.map(({ name }) => name);
  const several = Math.max(2, names.length); // Curves bear their job's name, also if there is one.
  const items = useMemo(() => all.flatMap(({ curves }) => curves.items ?? []), [all]);
  const { items: shown } = useMemo(() => found(items, query.tag, query.run, several), [items, query.tag, query.run]);
  const looks = useLooks(items.map(({ name = {} }) => (
    { job: name.jobId ?? "", label: runLabel(name, several), trial: name.trialId ?? "" }
  )));
  const choices = useCurveChoices(looks.runs);
  const groups = useMemo(
    () => compared(all.map(({ job }) => job), all.map(({ curves }) => curves.items ?? []), minute * 1000),
    [all, minute],
  );
  const differences = address.get("diff") === "1";
  return (
    <>
      {all.map(({ name, error }) => error && <Failure key={name} error={error} />)}
      {items.length > 0 && (
        <CurveControls query={query} zoomed={choices.range !== null} shown={shownOf(shown.length, items.length)} />
      )}
      {items.length === 0
        ? <Empty title="These jobs have no curves." />
        : <TagGroups project={project} items={shown} jobs={several} choices={choices} />}
      <div class="spread">
        <h2>Parameters and results</h2>
        <Button pressed={differences} onClick={() => setQuery({ diff: differences ? null : "1" })}>Only differences</Button>
      </div>
      <CompareTable jobs={names} colors={looks.colors} groups={groups} differencesOnly={differences} />
    </>
  );
}
