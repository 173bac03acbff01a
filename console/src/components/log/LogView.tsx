import type { LogSummaryJson } from "proto/control/v1/log_window_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import { useJson } from "../../api/use.ts";
import { useChosen } from "../../log/chosen.ts";
import { lineOfElement } from "../../log/row_painter.ts";
import { hrefOf, useLog } from "../../log/use.ts";
import { setQuery, usePlace } from "../../router.ts";
import { hasEnded, type JobFacts } from "../../state/job.ts";
import { useKeys } from "../../state/keys.ts";
import { useNarrow } from "../../state/narrow.ts";
import { duration, exact, time } from "../../text/format.ts";
import { Empty, Failure } from "../Notices.tsx";
import { LineDialog } from "./LineDialog.tsx";
import { LogFoot } from "./LogFoot.tsx";
import { LogMarks } from "./LogMarks.tsx";
import { LogSearchBox } from "./LogSearchBox.tsx";
import { LogToolbar } from "./LogToolbar.tsx";
import "./LogView.css";

interface Props {
  readonly project: string;
  readonly job: string;
  readonly facts: JobFacts;
}

const WORDS = {
  "j k ↓ ↑": "Choose the next line, the one before",
  Enter: "All of the chosen line",
  Escape: "Choose no line",
  "PageDown PageUp": "A screen on, back",
  "g G": "Beginning; end, and follow it",
  "/": "Search",
  "n N": "Next and previous match",
  e: "First error",
  w: "Long lines over several rows",
  c: "Times, severities, replicas",
};

/** While lines come, what the marks show is asked for again so often. */
const SUMMARY_MS = 5000;

/** A job's log: history and live tail in one list. */
export function LogView({ project, job, facts }: Props) {
  const { query } = usePlace();
  const narrow = useNarrow();
  const of = (name: string) => query.get(name) ?? "";
  const [replica, severity, trial, text] = [of("replica"), of("severity"), of("trial"), of("q")];
  const filter = { replica, severity, trial };
  const regex = query.get("regex") === "on";
  const wrap = query.get("wrap") === "on";
  const columns = narrow ? query.get("cols") === "on" : query.get("cols") !== "off";
  const [scroller, spacer, box] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const input = useRef<HTMLInputElement>(null);
  const [whole, setWhole] = useState<number>();
  const [noError, setNoError] = useState(false);
  const { range: chosen, choose } = useChosen(query.get("line"), (range) => controller?.goTo(range.first));
  const { requests, controller, state } = useLog({ scroller, spacer, box }, { project, job, filter, query, wrap, chosen, facts });
  const total = state?.total ?? 0;
  const summary = useSummary(requests.summary(), total);
  const running = !hasEnded(facts.job.data);
  const begin = time(facts.job.data?.startTime) ?? time(facts.job.data?.createTime);

  const to = (line: number | undefined) => {
    if (line === undefined) return;
    choose({ first: line, last: line });
    controller?.reveal(line);
  };
  const next = (backward: boolean) => {
    const from = chosen?.first ?? (backward ? (state?.last ?? 0) : (state?.first ?? 0) - 1);
    void state?.search?.near(from, backward).then(to);
  };
  useEffect(() => {
    controller?.search(text === "" ? null : { text, regex });
    const { search, first = 0, last = 0, following = false } = controller?.state ?? {};
    if (search === undefined || query.get("line") !== null) return;
    const from = following ? last + 1 : first - 1;
    void search.near(from, following).then(async (line) => to(line ?? (await search.near(from, !following))));
  }, [controller, text, regex]);
  const step = (rows: number) => {
    const from = rows > 0 ? chosen?.last : chosen?.first;
    to(from === undefined ? (rows > 0 ? state?.first : state?.last) : controller?.stepFrom(from, rows));
  };
  const look = (q: string, on: boolean) => {
    choose(null);
    setQuery({ q, regex: on ? "on" : null, line: null });
  };
  const toBegin = () => controller?.goTo(0, 0);
  const toEnd = () => controller?.follow();
  const toError = () => void requests.firstError(summary).then((line) => {
    setNoError(line === undefined);
    to(line);
  });
  const toggle = (name: string, value: string | null) => setQuery({ [name]: value });
  useKeys({
    g: toBegin, Home: toBegin, G: toEnd, End: toEnd, f: toEnd, e: toError,
    j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    PageDown: () => controller?.page(1), PageUp: () => controller?.page(-1), " ": () => controller?.page(1),
    "/": () => input.current?.select(), n: () => next(false), N: () => next(true),
    w: () => toggle("wrap", wrap ? null : "on"), c: () => toggle("cols", columns ? "off" : "on"),
    Enter: () => chosen && setWhole(chosen.first), Escape: () => choose(null),
  }, WORDS);

  /** A click on a number chooses the line, with Shift all up to it; one on "show all" opens it. */
  const clicked = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    const line = lineOfElement(target);
    if (line === undefined || event.ctrlKey || event.metaKey) return;
    if (target.closest(".log-more")) setWhole(line);
    if (!target.closest(".log-number")) return;
    event.preventDefault();
    const all = event.shiftKey && chosen ? [chosen.first, chosen.last, line] : [line];
    choose({ first: Math.min(...all), last: Math.max(...all) });
  };
  /** What only a pointer needs is made when one comes: links and titles of all rows would make scrolling slow. */
  const hovered = (event: MouseEvent) => {
    const target = event.target as HTMLElement;
    const line = lineOfElement(target);
    if (line === undefined) return;
    if (target instanceof HTMLAnchorElement) target.href = hrefOf(line);
    if (target.matches(".stderr > .log-severity")) target.title = "Written on stderr; the program named no severity";
    const ms = controller?.line(line)?.ms;
    if (ms === undefined || Number.isNaN(ms) || !target.matches(".log-time")) return;
    target.title = exact(ms) + (begin === undefined ? "" : `, ${duration(ms - begin)} after the start`);
  };
  const near = controller?.line(state?.first ?? 0)?.ms ?? Number.NaN;
  const digits = String(Math.max(total - 1, 0)).length;
  return (
    <div class={`log-page fill${wrap ? " wrap" : ""}${columns ? "" : " bare"}`}>
      <LogToolbar summary={summary} filter={filter} wrap={wrap} columns={columns}
                  near={Number.isNaN(near) ? (begin ?? Date.now()) : near}
                  onLine={(line) => to(Math.min(line, Math.max(total - 1, 0)))} onTime={async (ms) => controller?.goToTime(ms)}
                  onBegin={toBegin} onEnd={toEnd} onError={toError} noError={noError}>
        <LogSearchBox input={input} text={text} regex={regex} search={state?.search} at={chosen?.first} total={total}
                      onNext={next} onChange={look} />
      </LogToolbar>
      {state?.search?.error && <Failure error={state.search.error} />}
      {state?.error && <Failure error={state.error} retry={() => controller?.retry()} />}
      <div class="log-frame">
        <div ref={scroller} class="log-scroller" tabIndex={0} role="region" aria-label="Lines" onClick={clicked}
             onMouseOver={hovered}>
          <div ref={box} class="log-rows" role="list" aria-label="Lines in view" style={{ "--digits": String(digits) }} />
          <div ref={spacer} />
        </div>
        <LogMarks state={state} summary={summary} chosen={chosen} onLine={(line) => controller?.goTo(line)} />
        {state?.total !== undefined && state.rows === 0 && !state.looking && !state.error &&
          <Nothing running={running} filtered={requests.isFiltered && total > 0} />}
      </div>
      <LogFoot state={state} requests={requests} chosen={chosen} running={running} onClear={() => choose(null)}
               onDetails={setWhole} onFollow={toEnd} />
      {whole !== undefined && <LineDialog requests={requests} line={whole} begin={begin} onClose={() => setWhole(undefined)} />}
    </div>
  );
}

function Nothing({ running, filtered }: { readonly running: boolean; readonly filtered: boolean }) {
  const title = filtered ? "No line matches." : running ? "No lines yet." : "The job wrote no lines.";
  return (
    <div class="log-nothing">
      <Empty title={title}>{running ? "New lines appear here by themselves." : undefined}</Empty>
    </div>
  );
}

/** What the marks show; asked for again while the log grows. */
function useSummary(path: string, total: number): LogSummaryJson | undefined {
  const summary = useJson<LogSummaryJson>(path);
  const asked = useRef({ total: 0, ms: Date.now() });
  useEffect(() => {
    if (total === asked.current.total || summary.loading) return;
    const wait = Math.max(asked.current.ms + SUMMARY_MS - Date.now(), 0);
    const timer = setTimeout(() => {
      asked.current = { total, ms: Date.now() };
      summary.reload();
    }, wait);
    return () => clearTimeout(timer);
  }, [total, summary.loading]);
  return summary.data;
}
