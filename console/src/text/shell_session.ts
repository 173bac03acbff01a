// Which shells a job has, and how one ended. Pure.
import type { JobStatusJson } from "proto/control/v1/status_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";

export interface ShellTarget {
  readonly task: string;
  /** "" is of no trial. */
  readonly trial: string;
  /** Where its WebSocket is on the server, or with ":shell" what gives tickets; undefined: the job does not say. */
  readonly path: string | undefined;
}

/** The replicas that run, and what the job's resource says of their shells. */
export function shellTargets(job: JobJson | undefined, status: JobStatusJson | undefined): ShellTarget[] {
  const found = new Map<string, ShellTarget>();
  const add = (task: string, trial: string, uri?: string) => {
    const key = `${trial}/${task}`;
    if (task !== "" && (uri !== undefined || !found.has(key))) found.set(key, { task, trial, path: pathOf(uri) });
  };
  const running = (replica: { phase?: string }) => replica.phase === "RUNNING";
  for (const replica of status?.replicas?.filter(running) ?? []) add(replica.taskName ?? "", "");
  for (const trial of status?.trials ?? []) {
    for (const replica of trial.replicas?.filter(running) ?? []) add(replica.taskName ?? "", trial.output?.trialId ?? "");
  }
  for (const [task, uri] of Object.entries(job?.trainingOutput?.webAccessUris ?? {})) add(task, "", uri);
  for (const trial of job?.trainingOutput?.trials ?? []) {
    for (const [task, uri] of Object.entries(trial.webAccessUris ?? {})) add(task, trial.trialId ?? "", uri);
  }
  const name = ({ task, trial }: ShellTarget) => `${trial} ${task}`;
  return [...found.values()].sort((one, other) => name(one).localeCompare(name(other), "en", { numeric: true }));
}

/** The server may have another name here, so only the path counts; and a page is no WebSocket. */
function pathOf(uri: string | undefined): string | undefined {
  if (uri === undefined) return undefined;
  try {
    const { pathname, search } = new URL(uri);
    return pathname.startsWith("/trainyard/") ? pathname + search : undefined;
  } catch {
    return undefined;
  }
}

export interface ShellEnd {
  readonly message: string;
  /** The program ended; else the connection did. */
  readonly byItself: boolean;
}

/** @param code  of the WebSocket's close, RFC 6455 */
export function endOf(code: number, reason: string): ShellEnd {
  const exit = /^exit (\d+)$/.exec(reason);
  if (code === 1000 && exit) return { message: `The shell ended with status ${exit[1]}.`, byItself: true };
  if (code === 1000) return { message: reason === "" ? "The shell ended." : `The shell ended: ${reason}`, byItself: true };
  if (code === 1006) return { message: "The connection broke.", byItself: false };
  return { message: reason === "" ? `The server closed the connection (${code}).` : reason, byItself: false };
}
