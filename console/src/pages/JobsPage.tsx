import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FilterBox } from "../components/FilterBox.tsx";
import { JobChips } from "../components/JobChips.tsx";
import { JobColumns } from "../components/JobColumns.tsx";
import { GroupChoice, GroupHead } from "../components/JobGroup.tsx";
import { JobRowHead, JobRowView } from "../components/JobRowView.tsx";
import { JobViews } from "../components/JobViews.tsx";
import { JobsBefore } from "../components/JobsBefore.tsx";
import { ListEnd } from "../components/ListEnd.tsx";
import { LiveMark } from "../components/LiveMark.tsx";
import { Empty, Failure } from "../components/Notices.tsx";
import { VirtualRows } from "../components/VirtualRows.tsx";
import { Button } from "../components/Button.tsx";
import { Link } from "../components/Link.tsx";
import { go, setQuery, usePlace, type PageProps } from "../router.ts";
import { address } from "../text/address.ts";
import { useJobInputs } from "../state/job_inputs.ts";
import { useJobValues } from "../state/job_values.ts";
import { useJobList } from "../state/job_list.ts";
import { useNarrow } from "../state/narrow.ts";
import { useRows } from "../state/rows.ts";
import { useSession } from "../state/session.ts";
import { count } from "../text/format.ts";
import { columnsOf, leastWidth } from "../text/job_columns.ts";
import { groupedRows, jobOrderOf, nextOrder, orderedJobs, ownColumns, ownValues, type TableRow } from "../text/job_order.ts";
import { listOf, listText } from "../text/query_list.ts";
import { withBefore, withTerm } from "../text/job_filter.ts";
import "./JobsPage.css";

const ROW_HEIGHT = 37;
const CARD_HEIGHT = 96;
/** In another order than the server's, jobs have to be here: so many are fetched by themselves. */
const ARRANGED_MOST = 2000;

/** Values of curves are asked for job by job: for so many of the newest, and to know which there are for fewer. */
const MEASURED_MOST = 200;
const MEASURED_FIRST = 20;

const jobOf = (row: TableRow | undefined) => (row?.kind === "job" ? row.job.jobId : undefined);

/** All jobs of a project, newest first. Keys: j k Enter / n, x marks a job to compare it. */
export function JobsPage({ project = "" }: PageProps) {
  const { query } = usePlace();
  const filter = query.get("filter") ?? "";
  const before = query.get("before");
  const list = useJobList(project, withBefore(filter, before));
  const marked = query.get("marked");
  const chosen = useMemo(() => new Set(listOf(marked)), [marked]);
  const named = useSession().authentication ?? false;
  const columns = columnsOf(query.get("cols"), named);
  const [sort, group] = [query.get("sort"), query.get("group") ?? ""];
  const [choosing, setChoosing] = useState(false);
  const wants = (kind: RegExp) => [sort ?? "", ...columns].some((column) => kind.test(column));
  const inputs = useJobInputs(project, withBefore(filter, before), list.jobs, choosing || wants(/^-?p:/));
  const measured = useJobValues(project, list.jobs, wants(/^-?m:/) ? MEASURED_MOST : choosing ? MEASURED_FIRST : 0);
  const isOwned = choosing || wants(/^-?[pm]:/);
  const own = useMemo(() => ownValues(isOwned ? list.jobs : [], inputs, measured), [isOwned, list.jobs, inputs, measured]);
  const order = jobOrderOf(sort);
  const rows = useMemo(() => groupedRows(orderedJobs(list.jobs, order, own, Date.now()), group), [list.jobs, sort, group, own]);
  const arranged = order !== undefined || group !== "";
  useEffect(() => {
    if (arranged && !list.complete && list.jobs.length < ARRANGED_MOST) list.more();
  }, [arranged, list.complete, list.jobs.length, list.loading]);
  const path = address`/p/${project}/jobs`;
  const box = useRef<HTMLInputElement>(null);
  const narrow = useNarrow();
  const setFilter = (text: string) => {
    setQuery({ filter: text }, { replace: false });
  };
  const clear = () => setQuery({ filter: null, before: null }, { replace: false });
  const choose = (job: string | undefined) => {
    const next = new Set(chosen);
    if (job !== undefined && !next.delete(job)) next.add(job);
    setQuery({ marked: listText(next) });
  };
  const { at, place } = useRows({
    name: `${project} ${filter} ${before ?? ""} ${sort ?? ""} ${group}`,
    items: rows,
    idOf: (row) => (row.kind === "job" ? (row.job.jobId ?? "") : `${group}:${row.value ?? ""}`),
    open: (row) => row.kind === "job" && go(address`/p/${project}/jobs/${row.job.jobId ?? ""}`),
    keys: {
      "/": () => box.current?.focus(),
      n: () => list.showWaiting(),
      x: () => choose(jobOf(rows[at])),
    },
    words: { "/": "Filter", n: "Show new jobs", x: "Mark the job, to compare it" },
  });
  return (
    <div class="stack">
      <div class="spread">
        <h1>Jobs</h1>
        <span class="row">
          {chosen.size > 0 && <Compare project={project} jobs={chosen} clear={() => setQuery({ marked: null })} />}
          <LiveMark state={list.liveness} />
        </span>
      </div>
      <FilterBox value={filter} onChange={setFilter} input={box} summary={list.summary} />
      <div class="spread">
        <JobChips summary={list.summary} filter={filter} onChange={setFilter} />
        <span class="row chips end">
          <JobsBefore before={before} />
          <GroupChoice group={group} summary={list.summary} />
          <JobViews path={path} />
          {!narrow && <JobColumns columns={columns} named={named} own={ownColumns(own)} onOpen={() => setChoosing(true)} />}
        </span>
      </div>
      {list.waiting > 0 && (
        <div class="waiting-jobs"><Button kind="main" onClick={list.showWaiting}>Show {list.waiting} new</Button></div>
      )}
      {list.error && <Failure error={list.error} retry={list.reload} />}
      <div class="jobs" role="table" style={narrow ? {} : { "--least": `${leastWidth(columns)}px` }} aria-label="Jobs" aria-rowcount={list.complete ? list.jobs.length : -1}>
        {!narrow && <JobRowHead columns={columns} order={order} onSort={(column) => setQuery({ sort: nextOrder(column, order) })} />}
        <VirtualRows count={rows.length} rowHeight={narrow ? CARD_HEIGHT : ROW_HEIGHT} nearEnd={list.more}
          {...place}
          row={(row) => {
            const shown = rows[row];
            if (shown === undefined) return null;
            if (shown.kind === "group") return <GroupHead path={path} label={group} filter={filter} value={shown.value} jobs={shown.jobs} />;
            const { job } = shown;
            return (
              <JobRowView project={project} job={job} current={row === at} card={narrow} columns={columns}
                          own={own.get(job.jobId ?? "")} chosen={chosen.has(job.jobId ?? "")} onChoose={() => choose(job.jobId)}
                          onLabel={(key, value) => setFilter(withTerm(filter, `labels.${key}`, value))} />
            );
          }} />
      </div>
      {arranged && !list.complete && list.jobs.length >= ARRANGED_MOST && (
        <p class="soft" role="status">The newest {list.jobs.length.toLocaleString("en-US")} jobs are arranged here. A filter finds older ones.</p>
      )}
      <ListEnd of={list} />
      {list.complete && list.jobs.length === 0 && <NoJobs project={project} filter={withBefore(filter, before)} clear={clear} />}
    </div>
  );
}

interface CompareProps {
  readonly project: string;
  readonly jobs: ReadonlySet<string>;
  readonly clear: () => void;
}

/** What can be done with marked jobs. */
function Compare({ project, jobs, clear }: CompareProps) {
  return (
    <>
      <Link class="button main" to={`${address`/p/${project}/compare`}?jobs=${encodeURIComponent(listText(jobs))}`}>
        Compare {count(jobs.size, "job")}
      </Link>
      <Button kind="quiet" onClick={clear}>Clear marks</Button>
    </>
  );
}

function NoJobs({ project, filter, clear }: { readonly project: string; readonly filter: string; readonly clear: () => void }) {
  if (filter !== "") {
    return (
      <Empty title="No job of the last 90 days matches the filter.">
        <Button onClick={clear}>Show all jobs</Button>
      </Empty>
    );
  }
  return (
    <Empty title={`${project} has no jobs yet.`}>
      <Link to="/start">The first steps</Link>
    </Empty>
  );
}
