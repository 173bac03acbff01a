// Names of objects, folders and buckets, and their addresses. Pure. A name may have anything in it.
import type { ObjectJson, ObjectsJson } from "proto/storage/v1/storage_pb";
import { address } from "./address.ts";

/** A row of a listing: a folder, which is a prefix that ends in "/", or an object. */
export interface Entry {
  readonly name: string;
  /** undefined: a folder. */
  readonly object: ObjectJson | undefined;
}

/** A page's folders and objects in the order of their names; the folder's own empty object is left out. */
export function entriesOf(page: ObjectsJson, prefix: string): Entry[] {
  const folders = (page.prefixes ?? []).map((name) => ({ name, object: undefined }));
  const objects = (page.items ?? []).map((object) => ({ name: object.name ?? "", object }));
  return [...folders, ...objects].filter(({ name }) => name !== prefix).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** "a/b/" -> "b/", "a/b" -> "b". */
export function lastPart(name: string): string {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return end <= 0 ? name : name.slice(name.lastIndexOf("/", end - 1) + 1);
}

/** The folder that an object or a folder is in; "" is the bucket. */
export function folderOf(name: string): string {
  return name.slice(0, name.length - lastPart(name).length);
}

/** Each folder on the way to this one, itself last: "a/b/" -> ["a/", "a/b/"]. */
export function foldersTo(prefix: string): string[] {
  const found: string[] = [];
  for (let at = prefix.indexOf("/"); at >= 0; at = prefix.indexOf("/", at + 1)) found.push(prefix.slice(0, at + 1));
  return found;
}

/** The console's address of a folder, below /ui; of an object in it, if one is named. */
export function bucketAddress(bucket: string, prefix: string, object?: string): string {
  const parts = prefix.split("/").slice(0, -1);
  // Browsers take "." and ".." out of paths, and an empty part at the end looks like none.
  const fits = parts.every((part) => part !== "" && part !== "." && part !== "..");
  const query = new URLSearchParams();
  if (!fits) query.set("prefix", prefix);
  if (object !== undefined) query.set("object", object);
  const path = address`/buckets/${bucket}` + (fits ? parts.map((part) => `/${encodeURIComponent(part)}`).join("") : "");
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The folder that an address means. */
export function prefixOf(path: string, query: URLSearchParams): string {
  return query.get("prefix") ?? (path === "" ? "" : `${path}/`);
}

/** What a bucket may be called, as Cloud Storage has it: why not, or "". */
export function wrongBucketName(name: string): string {
  if (name === "") return "";
  if (name.length < 3 || name.length > 63) return "3 to 63 characters.";
  if (!/^[a-z0-9._-]+$/.test(name)) return "Only small letters, digits, and . _ -";
  return /^[a-z0-9].*[a-z0-9]$/.test(name) ? "" : "It begins and ends with a letter or a digit.";
}
