// Where objects and folders are downloaded from. Only for links with "download": an object is never opened as a page.
import { withQuery } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";

export function objectLink(bucket: string, name: string): string {
  return withQuery(paths.object(bucket, name), { alt: "media" });
}

export function folderLink(bucket: string, prefix: string, format: "zip" | "tar"): string {
  return `${paths.folder(bucket, prefix, ":download")}&format=${format}`;
}
