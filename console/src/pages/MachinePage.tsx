import type { ImageListJson, MachineHistoryJson, MachineReportJson } from "proto/control/v1/machine_pb";
import type { RuntimeListJson } from "proto/control/v1/runtimes_pb";
import type { UsageReportJson } from "proto/control/v1/usage_pb";
import type { ComponentChildren } from "preact";
import { withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useJson } from "../api/use.ts";
import { AsOf } from "../components/AsOf.tsx";
import { ImageTable, RuntimeTable } from "../components/KeptTables.tsx";
import { LiveMark } from "../components/LiveMark.tsx";
import { MachineFigures } from "../components/MachineFigures.tsx";
import { Loaded } from "../components/Notices.tsx";
import { Text } from "../components/Text.tsx";
import { Elapsed } from "../components/Time.tsx";
import { HolderTable, ProjectTable, QueueTable, quotaWords } from "../components/UsageTables.tsx";
import { UseStrip } from "../components/UseStrip.tsx";
import { useLive } from "../live/use.ts";
import { useAtMostEvery, useEvery } from "../state/every.ts";
import { lastProject, useSession } from "../state/session.ts";
import "./MachinePage.css";

const EVERY_MS = 10_000;
const HISTORY_EVERY_MS = 60_000;
const KEPT_EVERY_MS = 300_000; // adding up the sizes of what is kept takes long
const AFTER_CHANGES_MS = 1000; // of jobs, at most this often
/** A report of many jobs is large: it is asked for less often. */
const MANY_JOBS = 100;
const MANY_JOBS_MS = 30_000;

/** The machine: what it has, who holds what, who waits, what is kept on it. */
export function MachinePage() {
  const machine = useJson<MachineReportJson>(paths.machine());
  const history = useJson<MachineHistoryJson>(withQuery(paths.machineUsage(), { hours: 24 }));
  const usage = useJson<UsageReportJson>(paths.usage());
  const runtimes = useJson<RuntimeListJson>(paths.runtimes());
  const images = useJson<ImageListJson>(paths.images());
  const jobs = usage.data?.jobs ?? [];
  const isLong = jobs.length > MANY_JOBS;
  useEvery(EVERY_MS, machine.reload);
  useEvery(isLong ? MANY_JOBS_MS : EVERY_MS, usage.reload);
  useEvery(HISTORY_EVERY_MS, history.reload);
  useEvery(KEPT_EVERY_MS, () => [runtimes, images].forEach((one) => one.reload()));
  const changed = useAtMostEvery(isLong ? MANY_JOBS_MS : AFTER_CHANGES_MS, usage.reload);
  const session = useSession();
  const project = lastProject() ?? session.defaultProject ?? "";
  const liveness = useLive(project, { token: project === "" ? undefined : "", changed, missed: changed });
  const about = machine.data;
  const waiting = jobs.filter(({ holds }) => !holds).length;
  return (
    <div class="stack machine">
      <div class="spread">
        <h1>{about?.hostName ? <Text value={about.hostName} longest={80} /> : "Machine"}</h1>
        <span class="soft">
          <Text
            value={[about?.system, about?.version && `Trainyard ${about.version}`].filter(Boolean).join(" · ")}
            longest={200}
          />
          {about?.serverStartTime && (
            <>
              {" "}
              · up <Elapsed from={about.serverStartTime} to={undefined} />
            </>
          )}
        </span>
        {machine.error || usage.error ? <AsOf of={[machine, usage]} /> : <LiveMark state={liveness} />}
      </div>
      <Loaded of={machine} lines={3}>
        {(data) => <MachineFigures machine={data} held={usage.data?.machine} />}
      </Loaded>
      <Panel title="The last day" of={history}>
        {(data) => (
          <div class="body">
            <UseStrip history={data} />
          </div>
        )}
      </Panel>
      <Panel title={`Running jobs${jobs.length > waiting ? `: ${jobs.length - waiting}` : ""}`} of={usage}>
        {(report) =>
          jobs.length > waiting ? (
            <HolderTable report={report} />
          ) : (
            <p class="soft body">
              {Number(report.machine?.cpusHeld ?? 0) > 0
                ? "Only jobs of other projects hold room."
                : "No job holds room: the machine is free."}
            </p>
          )
        }
      </Panel>
      <Panel title={`Waiting${waiting > 0 ? `: ${waiting}` : ""}`} of={usage}>
        {(report) => (waiting > 0 ? <QueueTable report={report} /> : <p class="soft body">Queue is empty</p>)}
      </Panel>
      <Panel title="Projects" of={usage}>
        {({ projects = [], principalQuotas = [] }) => (
          <>
            {projects.length > 0 ? (
              <ProjectTable projects={projects} />
            ) : (
              <p class="soft body">No project has jobs or used anything lately.</p>
            )}
            {principalQuotas.length > 0 && (
              <p class="soft body">
                Quotas:{" "}
                <Text
                  value={principalQuotas.map((quota) => `${quota.subject}: ${quotaWords(quota)}`).join("; ")}
                  longest={2000}
                />
              </p>
            )}
          </>
        )}
      </Panel>
      <div class="two">
        <Panel title="Runtime versions" of={runtimes} waits="Adding up the sizes of what is built…">
          {(list) => <RuntimeTable list={list} />}
        </Panel>
        <Panel title="Images" of={images} waits="Adding up the sizes of the images…">
          {(list) => <ImageTable list={list} />}
        </Panel>
      </div>
    </div>
  );
}

function Panel<T>({
  title,
  of,
  waits,
  children,
}: {
  readonly title: string;
  readonly of: Resource<T>;
  /** What takes long; undefined: nothing does. */
  readonly waits?: string;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      {waits && of.data === undefined && !of.error ? (
        <p class="soft body" role="status">
          {waits}
        </p>
      ) : (
        <Loaded of={of} lines={3}>
          {children}
        </Loaded>
      )}
    </section>
  );
}
