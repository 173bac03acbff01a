// A replica's state and end in words. Pure.
import type { JobStatus_ReplicaJson } from "proto/control/v1/status_pb";
import type { ExitRecordJson, ProgressJson, UsageJson } from "proto/replica/v1/replica_pb";
import { bytes, count, num, percent, time } from "./format.ts";

const PHASES: Record<string, string> = {
  PREPARING: "Preparing",
  READY: "Ready, waits for the others",
  RUNNING: "Running",
  ENDED: "Ended",
};

export function phaseWords({ phase, attempt }: JobStatus_ReplicaJson): string {
  return PHASES[phase ?? ""] ?? ((attempt ?? 0) === 0 ? "Not started" : "Starting");
}

const SIGNALS: Record<number, string> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  31: "SIGSYS",
};

export function exitWords(exit: ExitRecordJson | undefined): string {
  if (exit === undefined) return "";
  switch (exit.cause) {
    case "EXITED":
      return (exit.exitCode ?? 0) === 0 ? "Done" : `Status ${exit.exitCode}`;
    case "SIGNALED":
      return `Killed by ${SIGNALS[exit.signal ?? 0] ?? `signal ${exit.signal}`}`;
    case "OUT_OF_MEMORY": {
      const limit = num(exit.memoryLimitBytes);
      return `Out of memory${limit > 0 ? ` at ${bytes(limit)}` : ""}`;
    }
    case "PREPARATION_FAILED":
      return "Could not be prepared";
    case "STOPPED":
      return "Stopped";
    case "LOST":
      return "Lost";
    case "SHUT_DOWN":
      return "Its machine or service ended";
    default:
      return "Ended";
  }
}

export function endedWell(exit: ExitRecordJson | undefined): boolean {
  return exit === undefined || exit.cause === "STOPPED" || (exit.cause === "EXITED" && (exit.exitCode ?? 0) === 0);
}

/** "1.2 GiB of 3.4 GiB", "3 of 12 packages"; "" where nothing is known. */
export function progressWords({ done, total, unit }: ProgressJson): string {
  const [now, all] = [num(done), num(total)];
  if (now === 0 && all === 0) return "";
  if (unit === "bytes") return all > 0 ? `${bytes(now)} of ${bytes(all)}` : bytes(now);
  return all > 0
    ? `${now.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} ${unit ?? ""}`.trim()
    : count(now, unit ?? "");
}

/** Between two samples of one attempt; undefined: not known. 1: all CPUs that it may use. */
export function cpuShare(usage: UsageJson, before: UsageJson | undefined): number | undefined {
  const from = time(before?.time);
  const to = time(usage.time);
  const cpus = Number(usage.cpus ?? 0);
  if (from === undefined || to === undefined || to <= from || cpus <= 0) return undefined;
  const seconds = Number(usage.cpuSeconds ?? 0) - Number(before?.cpuSeconds ?? 0);
  return seconds < 0 ? undefined : seconds / ((to - from) / 1000) / cpus;
}

/** "CPU 35 % · 1.2 GiB of 15 GiB · GPU 80 %". */
export function usageWords(usage: UsageJson | undefined, before: UsageJson | undefined): string {
  if (usage === undefined) return "";
  const share = cpuShare(usage, before);
  const total = num(usage.memoryTotalBytes);
  const gpus = (usage.gpus ?? []).map((gpu) => Number(gpu.utilization ?? 0));
  return [
    share === undefined ? "" : `CPU ${percent(share)}`,
    total > 0 ? `${bytes(num(usage.memoryBytes))} of ${bytes(total)}` : bytes(num(usage.memoryBytes)),
    gpus.length > 0 ? `GPU ${percent(gpus.reduce((sum, one) => sum + one, 0) / gpus.length)}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
