import type { JobJson } from "proto/ml/v1/ml_pb";
import { sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Example, prepareExample } from "../text/examples.ts";
import { ownRunsBucket, uploadToRuns } from "./runs.ts";

/** Puts what the example needs into a bucket, which is made by that, and creates its job; the job's id. */
export async function startExample(example: Example, project: string): Promise<string> {
  const { job, uploads } = prepareExample(example, ownRunsBucket(project), new Date());
  for (const { name, type, bytes } of uploads) await uploadToRuns(project, name, type, bytes);
  const created = await sendJson<JobJson>("POST", paths.jobs(project), job);
  return created.jobId ?? "";
}
