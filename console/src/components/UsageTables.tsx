import type {
  UsageReport_DeviceJson,
  UsageReportJson,
  UsageReport_JobJson,
  UsageReport_ProjectJson,
  UsageReport_QuotaJson,
} from "proto/control/v1/usage_pb";
import { address } from "../text/address.ts";
import { bytes, count, num, number, percent } from "../text/format.ts";
import { type Column, FactTable } from "./FactTable.tsx";
import { Link } from "./Link.tsx";
import { StateChip } from "./StateChip.tsx";
import { Text } from "./Text.tsx";
import { Time } from "./Time.tsx";

const nameOf = ({ jobId, trialId }: UsageReport_JobJson) => (trialId ? `${jobId}, trial ${trialId}` : (jobId ?? ""));
const keyOf = ({ project, jobId, trialId }: UsageReport_JobJson) => `${project}/${jobId}/${trialId ?? ""}`;

const JOB: Column<UsageReport_JobJson> = {
  name: "Job",
  cell: (job) => (
    <Link to={address`/p/${job.project ?? ""}/jobs/${job.jobId ?? ""}`}>
      <Text value={nameOf(job)} longest={140} />
    </Link>
  ),
};
const PROJECT: Column<UsageReport_JobJson> = { name: "Project", cell: ({ project }) => <Text value={project} longest={60} /> };
const WHO: Column<UsageReport_JobJson> = {
  name: "Who",
  cell: ({ creator }) => (creator ? <Text value={creator.replace(/^[a-zA-Z]+:/, "")} longest={60} /> : ""),
};
/** A tuning job has none: it is its trials'. */
const ROOM: Column<UsageReport_JobJson>[] = [
  { name: "Replicas", number: true, cell: ({ replicas }) => replicas || "" },
  { name: "CPUs", number: true, cell: ({ cpus }) => (cpus ? number(Number(cpus)) : "") },
  { name: "Memory", number: true, cell: ({ memoryBytes }) => (memoryBytes ? bytes(num(memoryBytes)) : "") },
];

/** A cluster's devices with their nodes: each node counts its own from 0. */
const deviceWords = ({ type, index, node }: UsageReport_DeviceJson) => `${type} ${node ? `${node}:` : ""}${index}`;

/** A job may ask for more than there is: it has all of it then, with the others. */
const shareWords = (share: number) => (share > 1 ? "all, shared" : percent(share));

/** Jobs that have room, on the machine or on a cluster. */
export function HolderTable({ report }: { readonly report: UsageReportJson }) {
  const columns: Column<UsageReport_JobJson>[] = [
    JOB,
    PROJECT,
    WHO,
    { name: "State", cell: ({ state }) => <StateChip state={state} /> },
    { name: "Since", cell: ({ since }) => <Time at={since} /> },
    ...ROOM,
    {
      name: "Of all",
      number: true,
      cell: ({ machineShare, nodes }) =>
        nodes?.length ? <Text value={`on ${nodes.join(", ")}`} longest={60} /> : shareWords(Number(machineShare ?? 0)),
    },
    {
      name: "Devices",
      cell: ({ devices }) => (devices?.length ? <Text value={devices.map(deviceWords).join(", ")} longest={200} /> : ""),
    },
  ];
  return (
    <FactTable label="Jobs that hold room" columns={columns} rows={(report.jobs ?? []).filter(({ holds }) => holds)} id={keyOf} />
  );
}

/** Jobs that wait, in the order in which they are looked at. */
export function QueueTable({ report }: { readonly report: UsageReportJson }) {
  const columns: Column<UsageReport_JobJson>[] = [
    JOB,
    PROJECT,
    WHO,
    { name: "Place", number: true, cell: ({ position }) => (num(position) > 0 ? num(position) : "") },
    { name: "Since", cell: ({ createTime }) => <Time at={createTime} /> },
    {
      name: "Waits because",
      wrap: true,
      cell: ({ reason, unblock }) => (
        <span>
          <Text value={reason} longest={300} />
          {unblock && (
            <span class="soft">
              {" "}
              <Text value={unblock} longest={300} />
            </span>
          )}
        </span>
      ),
    },
    ...ROOM,
    { name: "Accelerators", cell: ({ accelerators }) => (accelerators ? <Text value={accelerators} longest={80} /> : "") },
  ];
  return (
    <FactTable label="Queue" columns={columns} rows={(report.jobs ?? []).filter(({ holds }) => !holds)} id={keyOf} first={15} />
  );
}

/** Who used how much lately, and what they may. */
export function ProjectTable({ projects }: { readonly projects: readonly UsageReport_ProjectJson[] }) {
  const columns: Column<UsageReport_ProjectJson>[] = [
    {
      name: "Project",
      cell: ({ project }) => (
        <Link to={address`/p/${project ?? ""}/jobs`}>
          <Text value={project} longest={80} />
        </Link>
      ),
    },
    { name: "Running", number: true, cell: ({ running }) => running ?? 0 },
    { name: "Queued", number: true, cell: ({ queued }) => queued ?? 0 },
    { name: "Share lately", number: true, cell: ({ share }) => percent(Number(share ?? 0)) },
    { name: "Weight", number: true, cell: ({ weight }) => number(Number(weight ?? 1)) },
    { name: "Buckets", number: true, cell: ({ bucketBytes }) => (num(bucketBytes) > 0 ? bytes(num(bucketBytes)) : "") },
    { name: "Logs", number: true, cell: ({ logBytes }) => (num(logBytes) > 0 ? bytes(num(logBytes)) : "") },
    {
      name: "Quotas",
      wrap: true,
      cell: ({ quotas }) => (quotas?.length ? <Text value={quotas.map(quotaWords).join(", ")} longest={200} /> : ""),
    },
  ];
  return <FactTable label="Projects" columns={columns} rows={projects} id={({ project }) => project ?? ""} />;
}

export function quotaWords({ resource, limit, engine }: UsageReport_QuotaJson): string {
  if (/bytes$/.test(resource ?? "")) return `${resource} ${bytes(num(limit))}`;
  const what = `${resource ?? ""}${engine ? `@${engine}` : ""}`;
  return count(num(limit), what, what);
}
