// Finds the folder that holds a job's results. Pure.
import { address } from "./address.ts";

export interface JobFolder {
  readonly bucket: string;
  /** With a slash at its end. */
  readonly prefix: string;
  /** Of the console. */
  readonly page: string;
}

/** The folder of a bucket that a job-dir names; undefined: it names none. */
export function folderOf(jobDir: string | undefined): JobFolder | undefined {
  const found = /^gs:\/\/([^/]+)\/+(.*[^/])\/*$/.exec(jobDir ?? "");
  if (found === null) return undefined; // a whole bucket is no job's own
  const [, bucket = "", path = ""] = found;
  const parts = path.split("/").filter((part) => part !== "").map(encodeURIComponent);
  return { bucket, prefix: `${path}/`, page: [address`/buckets/${bucket}`, ...parts, ""].join("/") };
}
