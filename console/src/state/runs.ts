// The bucket in which the console, as `trainyard run`, keeps what a project's jobs need.
import { ApiError, changing, send, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { runsBucket } from "../text/examples.ts";

const INSTEAD = "Upload the files to another bucket of the project (Buckets), and name them in the job as gs://BUCKET/NAME.";

export function ownRunsBucket(project: string): string {
  const bucket = runsBucket(project);
  if (bucket === undefined) throw new ApiError(0, `No bucket can be named after project ${project}. ${INSTEAD}`);
  return bucket;
}

/** Its URI. A bucket of that name that is another project's gets nothing: the server compares the project. */
export async function uploadToRuns(project: string, name: string, type: string, body: BodyInit): Promise<string> {
  const bucket = ownRunsBucket(project);
  const headers = { ...changing(type), "X-Trainyard-Bucket-Project": project };
  try {
    await send(withQuery(paths.upload(bucket), { uploadType: "media", name }), { method: "POST", headers, body });
  } catch (error) {
    if (!(error instanceof ApiError) || !error.message.startsWith(`gs://${bucket} is no bucket of project`)) throw error;
    throw new ApiError(error.status, `${error.message}. If nobody has it, make it in Buckets. ${INSTEAD}`);
  }
  return `gs://${bucket}/${name}`;
}
