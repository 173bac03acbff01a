import type { ObjectJson } from "proto/storage/v1/storage_pb";
import { useState } from "preact/hooks";
import { getJson } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";
import { useAnswer } from "../../api/use.ts";
import { go } from "../../router.ts";
import { bytes, num } from "../../text/format.ts";
import { bucketAddress, lastPart } from "../../text/objects.ts";
import { plain } from "../../text/plain.ts";
import { Button } from "../Button.tsx";
import { Copy } from "../Copy.tsx";
import { Loaded } from "../Notices.tsx";
import { Text } from "../Text.tsx";
import { Time } from "../Time.tsx";
import { Crumbs } from "./Crumbs.tsx";
import { DeleteEntry } from "./DeleteEntry.tsx";
import { objectLink } from "./links.ts";
import { Preview } from "./Preview.tsx";

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly name: string;
}

/** One object: what is known of it, and what is in it. */
export function ObjectView({ bucket, prefix, name }: Props) {
  const object = useAnswer<ObjectJson>(`${bucket}/${name}`, (signal) => getJson(paths.object(bucket, name), signal));
  const [removing, setRemoving] = useState(false);
  return (
    <div class="stack">
      <h1 class="hidden-text">Object {plain(lastPart(name))}</h1>
      <Crumbs bucket={bucket} prefix={prefix} object={name} />
      <Loaded of={object}>
        {(data) => (
          <>
            <div class="folder-actions">
              <span>{bytes(num(data.size))}</span>
              <span class="soft"><Text value={data.contentType ?? "no type"} longest={100} /></span>
              <span class="soft">changed <Time at={data.updated} /></span>
              <span class="grow" />
              <Copy text={`gs://${bucket}/${name}`} label="Copy gs:// path" />
              <a class="button plain" href={objectLink(bucket, name)} download={lastPart(name)}>Download</a>
              <Button kind="danger" onClick={() => setRemoving(true)}>Delete</Button>
            </div>
            <Preview key={data.generation} bucket={bucket} object={data} />
            {removing && (
              <DeleteEntry bucket={bucket} entry={{ name, object: data }} onClose={() => setRemoving(false)}
                           onDeleted={() => go(bucketAddress(bucket, prefix))} />
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
