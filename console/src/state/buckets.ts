import type { BucketJson, BucketsJson } from "proto/storage/v1/storage_pb";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useAnswer } from "../api/use.ts";

const PAGE = 1000;

/**
 * Buckets by name: those of the project. A server that does not ask who one is has none of its own for each project, and answers
 * all. null asks nothing.
 */
export function useBuckets(project: string | null): Resource<readonly BucketJson[]> {
  return useAnswer(project, async (signal) => {
    const all: BucketJson[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page: BucketsJson = await getJson(withQuery(paths.buckets(), { project: project ?? "", maxResults: PAGE, pageToken }), signal);
      all.push(...(page.items ?? []));
      pageToken = page.nextPageToken || undefined;
    }
    return all;
  });
}
