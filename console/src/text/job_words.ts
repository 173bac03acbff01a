// The words for a job's times and for its program. Pure.
import { PROGRAM_MODULE } from "./wheel.ts";

const WORDS: Readonly<Record<string, string>> = {
  QUEUED: "queued for", PREPARING: "preparing for", RUNNING: "running for", CANCELLING: "stopping after",
  SUCCEEDED: "took", FAILED: "took", CANCELLED: "took",
};

/** What stands before how long a job takes or took, counted from its start. */
export function timeWord(state: string | undefined): string {
  return WORDS[state ?? ""] ?? "took";
}

/**
 * What a job runs, as people know it. A program that was sent as `trainyard run` sends it is in a module of ours; its file's
 * name is what the job is named after: "train" for "train_20261123_101502".
 */
export function programName(program: string | undefined, job: string | undefined): string {
  if (program !== PROGRAM_MODULE || !job) return program ?? "";
  return job.replace(/_\d{8}_\d{6}(?:_\d+)?$/, "");
}
