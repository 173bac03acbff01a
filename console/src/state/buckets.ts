import type { BucketJson, BucketsJson } from "proto/storage/v1/storage_pb";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useAnswer } from "../api/use.ts";

const PAGE = 1000;

/** All buckets, by name. */
export function useBuckets(): Resource<readonly BucketJson[]> {
  return useAnswer("buckets", async (signal) => {
    const all: BucketJson[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page: BucketsJson = await getJson(withQuery(paths.buckets(), { maxResults: PAGE, pageToken }), signal);
      all.push(...(page.items ?? []));
      pageToken = page.nextPageToken || undefined;
    }
    return all;
  });
}
