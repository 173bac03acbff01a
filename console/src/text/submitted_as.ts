// Says how a job was submitted, if another API than ml v1 took it. Pure.
import type { JobRowJson } from "proto/control/v1/job_rows_pb";
import type { SubmittedAsJson } from "proto/control/v1/record_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";

const KINDS: Readonly<Record<string, string>> = {
  customJobs: "Vertex AI custom job",
  hyperparameterTuningJobs: "Vertex AI tuning job",
  trainingPipelines: "Vertex AI training pipeline",
};

/** "Vertex AI custom job, us-central1", as `trainyard jobs list` writes it; "" for jobs of ml v1. */
export function submittedWords(submitted: SubmittedAsJson | undefined): string {
  const { collection = "", location = "" } = submitted ?? {};
  if (collection === "") return "";
  return [KINDS[collection] ?? collection, location].filter((word) => word !== "").join(", ");
}

/** How people call a job: by its display name, else by its id. */
export function nameOf(job: Pick<JobJson & JobRowJson, "displayName" | "jobId"> | undefined): string {
  return job?.displayName || job?.jobId || "";
}

/** The collections of Vertex AI that have a page of "Copy as". */
export type VertexKind = "customJobs" | "hyperparameterTuningJobs";

/** Where Vertex AI has the job that runs: a training pipeline has one behind it, under the same number. */
export function vertexKindOf(submitted: SubmittedAsJson | undefined, job: JobJson | undefined): VertexKind | undefined {
  if (submitted?.api !== "aiplatform" || job === undefined) return undefined;
  return job.trainingInput?.hyperparameters ? "hyperparameterTuningJobs" : "customJobs";
}
