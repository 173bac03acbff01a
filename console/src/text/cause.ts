// Why a job is not as it should be, and what to do about it: the sentences of the server, sorted. Pure.
import type { JobStatusJson, JobStatus_ReplicaJson } from "proto/control/v1/status_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";

export interface Cause {
  readonly tone: "bad" | "wait" | "off";
  readonly title: string;
  /** What to do first; may be empty. */
  readonly advice: string;
  /** The replica that it is about; empty: the whole job. */
  readonly replica: string;
  /** It ended with a traceback. */
  readonly traceback: boolean;
  /** All that the server says, where that is more. */
  readonly whole: string;
}

/** undefined: there is nothing to explain. */
export function causeOf(job: JobJson, status: JobStatusJson | undefined): Cause | undefined {
  if (job.state === "FAILED") return failure(job.errorMessage ?? "", status);
  if (job.state === "CANCELLED" || job.state === "CANCELLING") {
    return job.errorMessage
      ? {
          tone: "off",
          title: firstSentence(job.errorMessage),
          advice: "",
          replica: "",
          traceback: false,
          whole: more(job.errorMessage),
        }
      : undefined;
  }
  const waiting = status?.waiting;
  if (!waiting?.reason) return undefined;
  return { tone: "wait", title: waiting.reason, advice: waiting.unblock ?? "", replica: "", traceback: false, whole: "" };
}

function failure(message: string, status: JobStatusJson | undefined): Cause {
  const replica = failedReplica(status);
  const diagnosis = replica?.exit?.diagnosis;
  // "Diagnosis: NAME. SENTENCE" and "What to do: SENTENCE" in lines of their own: docs/failures.md.
  const summary = diagnosis?.summary ?? /^Diagnosis: [a-z0-9_]+\. (.+)$/m.exec(message)?.[1];
  const advice = diagnosis?.advice ?? /^What to do: (.+)$/m.exec(message)?.[1];
  return {
    tone: "bad",
    title: summary ?? (firstSentence(message) || "The job failed."),
    advice: advice ?? "",
    replica: replica?.taskName ?? "",
    traceback: (replica?.exit?.traceback ?? "") !== "",
    whole: summary === undefined ? more(message) : message.trim(),
  };
}

/** The one whose end is explained, else the first that did not end well. */
export function failedReplica(status: JobStatusJson | undefined): JobStatus_ReplicaJson | undefined {
  const ended = (status?.replicas ?? []).filter(({ exit }) => exit !== undefined && exit.cause !== "STOPPED");
  return (
    ended.find(({ exit }) => exit?.diagnosis) ?? ended.find(({ exit }) => exit?.cause !== "EXITED" || (exit.exitCode ?? 0) !== 0)
  );
}

function firstSentence(text: string): string {
  return text.trim().split("\n")[0]?.trim() ?? "";
}

function more(text: string): string {
  const whole = text.trim();
  return whole === firstSentence(whole) ? "" : whole;
}
