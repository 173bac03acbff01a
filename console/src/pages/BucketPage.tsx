import { FolderView } from "../components/buckets/FolderView.tsx";
import { ObjectView } from "../components/buckets/ObjectView.tsx";
import { usePlace, type PageProps } from "../router.ts";
import { folderOf, prefixOf } from "../text/objects.ts";
import "../components/buckets/Buckets.css";

/** A folder of a bucket, or one object of it. */
export function BucketPage({ bucket = "", path = "" }: PageProps) {
  const { query } = usePlace();
  const prefix = prefixOf(path, query);
  const object = query.get("object");
  if (object !== null) return <ObjectView key={`${bucket}/${object}`} bucket={bucket} prefix={folderOf(object)} name={object} />;
  return <FolderView key={`${bucket}/${prefix}`} bucket={bucket} prefix={prefix} />;
}
