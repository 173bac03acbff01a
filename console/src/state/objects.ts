// A folder's contents.
import type { ObjectsJson } from "proto/storage/v1/storage_pb";
import { useEffect } from "preact/hooks";
import { getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { entriesOf, type Entry } from "../text/objects.ts";
import { type Kept, type Paged, usePages } from "./pages.ts";

const PAGE_SIZE = 500;

/** Folders that were shown last: Back comes to the same row. */
const kept = new Map<string, Kept<readonly Entry[]>>();
const KEPT_MOST = 4;

/** @param begin  of the names within the folder that are wanted; "" is all */
export function useObjects(bucket: string, prefix: string, begin: string): Paged<readonly Entry[]> {
  const key = JSON.stringify([bucket, prefix, begin]);
  const list = usePages({
    key,
    none: [] as readonly Entry[],
    ask: async (pageToken, signal) => {
      const query = { prefix: prefix + begin, delimiter: "/", maxResults: PAGE_SIZE, pageToken };
      const page = await getJson<ObjectsJson>(withQuery(paths.objects(bucket), query), signal);
      return { entries: entriesOf(page, prefix), next: page.nextPageToken || null };
    },
    joined: (all, page) => [...all, ...page.entries],
    lengthOf: (all) => all.length,
    kept: (wanted) => kept.get(wanted),
    stays: true,
    renews: true,
  });
  const { begun, data, next } = list;
  useEffect(() => {
    if (!begun) return;
    kept.delete(key);
    kept.set(key, { data, next });
    for (const old of [...kept.keys()].slice(0, -KEPT_MOST)) kept.delete(old);
  }, [begun, data, next]);
  return list;
}
