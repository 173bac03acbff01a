import { bucketAddress, foldersTo, lastPart } from "../../text/objects.ts";
import { Link } from "../Link.tsx";
import { Text } from "../Text.tsx";

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  /** The object that is shown; undefined: the folder is. */
  readonly object?: string | undefined;
}

/** Where one is in a bucket, and the way back. */
export function Crumbs({ bucket, prefix, object }: Props) {
  const folders = ["", ...foldersTo(prefix)];
  return (
    <nav class="crumbs" aria-label="Folders">
      <Link to="/buckets">Buckets</Link>
      {folders.map((folder, at) => {
        const name = folder === "" ? bucket : lastPart(folder).slice(0, -1) || "(no name)";
        const isHere = at === folders.length - 1 && object === undefined;
        return (
          <span key={folder}>
            <span aria-hidden="true" class="soft">/</span>
            <Link to={bucketAddress(bucket, folder)} current={isHere}><Text value={name} longest={80} /></Link>
          </span>
        );
      })}
      {object !== undefined && (
        <span aria-current="page">
          <span aria-hidden="true" class="soft">/</span>
          <Text value={lastPart(object)} longest={200} />
        </span>
      )}
    </nav>
  );
}
