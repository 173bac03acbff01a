// A new job like one that there was. Pure.
import type { JobJson } from "proto/ml/v1/ml_pb";

/** What the ids of a job's clones begin with: "census_2" -> "census_". */
export function stemOf(id: string): string {
  return `${/^(.*)_[1-9]\d{0,2}$/.exec(id)?.[1] ?? id}_`;
}

/** "census" -> "census_2", "census_2" -> "census_3"; the first that is not taken. */
export function nextId(id: string, taken: ReadonlySet<string> = new Set()): string {
  const stem = stemOf(id);
  let number = stem === `${id}_` ? 2 : Number(id.slice(stem.length)) + 1;
  while (taken.has(stem + number)) number += 1;
  return stem + number;
}

/** Its input under another id. Folders of a bucket that have the old id as a name get the new one: results are not mixed. */
export function cloneOf(job: JobJson, jobId: string): JobJson {
  const old = job.jobId ?? "";
  const moved = (uri: string) =>
    uri.startsWith("gs://") && old !== ""
      ? uri
          .split("/")
          .map((part, at) => (at > 2 && part === old ? jobId : part))
          .join("/")
      : uri;
  const input = job.trainingInput ?? {};
  return {
    jobId,
    ...(job.labels === undefined ? {} : { labels: job.labels }),
    trainingInput: {
      ...input,
      ...(input.jobDir === undefined ? {} : { jobDir: moved(input.jobDir) }),
      ...(input.env === undefined
        ? {}
        : { env: input.env.map((one) => (one.value === undefined ? one : { ...one, value: moved(one.value) })) }),
    },
  };
}
