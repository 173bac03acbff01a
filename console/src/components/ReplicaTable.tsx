import type { JobStatus_ReplicaJson } from "proto/control/v1/status_pb";
import type { UsageJson } from "proto/replica/v1/replica_pb";
import { useRef } from "preact/hooks";
import { withQuery } from "../api/http.ts";
import { address } from "../text/address.ts";
import { num } from "../text/format.ts";
import { endedWell, exitWords, phaseWords, progressWords, usageWords } from "../text/replica_words.ts";
import { type Column, FactTable } from "./FactTable.tsx";
import { Link } from "./Link.tsx";
import { Meter } from "./Meter.tsx";
import { Text } from "./Text.tsx";

interface Props {
  readonly project: string;
  readonly job: string;
  readonly replicas: readonly JobStatus_ReplicaJson[];
}

/** Each replica: how it is, where, and how it ended. */
export function ReplicaTable({ project, job, replicas }: Props) {
  const before = useSamplesBefore(replicas);
  const columns: Column<JobStatus_ReplicaJson>[] = [
    {
      name: "Replica",
      cell: ({ taskName }) => (
        <Link to={withQuery(address`/p/${project}/jobs/${job}/logs`, { replica: taskName })} title="Its log">
          <Text value={taskName} longest={80} />
        </Link>
      ),
    },
    { name: "State", wrap: true, cell: (replica) => <State replica={replica} /> },
    {
      name: "Attempt",
      cell: ({ attempt, restarts }) =>
        attempt ? `${attempt}${restarts ? `, ${restarts === 1 ? "1 restart" : `${restarts} restarts`}` : ""}` : "",
    },
    {
      name: "Machine",
      cell: ({ machineType, image }) => <Text value={[machineType, image].filter(Boolean).join(" · ")} longest={120} />,
    },
    { name: "Devices", cell: ({ gpus }) => (gpus?.length ? <Text value={gpus.join(", ")} longest={120} /> : "") },
    { name: "Use", cell: ({ taskName, usage, exit }) => (exit ? "" : usageWords(usage, before.get(taskName ?? ""))) },
  ];
  return <FactTable label="Replicas" columns={columns} rows={replicas} id={({ taskName }) => taskName ?? ""} />;
}

function State({ replica }: { readonly replica: JobStatus_ReplicaJson }) {
  const { exit, progress } = replica;
  if (exit) {
    const summary = exit.diagnosis?.summary ?? exit.message ?? "";
    return (
      <span>
        <span style={{ color: endedWell(exit) ? "var(--ink)" : "var(--bad)" }}>
          {endedWell(exit) ? "" : "✕ "}
          {exitWords(exit)}
        </span>
        {summary !== "" && (
          <span class="soft">
            {" "}
            · <Text value={summary} longest={300} />
          </span>
        )}
      </span>
    );
  }
  if (!progress?.what) return <>{phaseWords(replica)}</>;
  const total = num(progress.total);
  const words = progressWords(progress);
  return (
    <span class="stack" style={{ gap: "4px", minWidth: "220px" }}>
      <span>
        <Text value={progress.what} longest={200} />
        {words !== "" && (
          <span class="soft">
            {" "}
            · <Text value={words} longest={80} />
          </span>
        )}
      </span>
      <Meter label={`Preparing ${replica.taskName ?? ""}`} share={total > 0 ? num(progress.done) / total : undefined} />
    </span>
  );
}

/** Each replica's sample before the one that is shown: their difference is what it uses now. */
function useSamplesBefore(replicas: readonly JobStatus_ReplicaJson[]): ReadonlyMap<string, UsageJson> {
  const seen = useRef(new Map<string, { attempt: number; now: UsageJson; before?: UsageJson }>());
  const found = new Map<string, UsageJson>();
  for (const { taskName = "", attempt = 0, usage } of replicas) {
    if (usage === undefined) continue;
    const old = seen.current.get(taskName);
    const fresh =
      old?.attempt !== attempt
        ? { attempt, now: usage }
        : old.now.time === usage.time
          ? old
          : { attempt, now: usage, before: old.now };
    seen.current.set(taskName, fresh);
    if (fresh.before !== undefined) found.set(taskName, fresh.before);
  }
  return found;
}
