import type { FolderRemovalJson } from "proto/control/v1/folders_pb";
import { useState } from "preact/hooks";
import { sendJson } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";
import { count, num } from "../../text/format.ts";
import { plain } from "../../text/plain.ts";
import type { Entry } from "../../text/objects.ts";
import { Confirm } from "../Confirm.tsx";
import { Usage } from "./Usage.tsx";

interface Props {
  readonly bucket: string;
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Deletes an object, or a folder with all that is in it, once that was confirmed. */
export function DeleteEntry({ bucket, entry: { name, object }, onClose, onDeleted }: Props) {
  const [deleted, setDeleted] = useState(0);
  const shown = plain(name, 200);
  const remove = async () => {
    if (object !== undefined) await sendJson("DELETE", paths.object(bucket, name));
    else {
      for (let all = 0, more = true; more;) {
        const part = await sendJson<FolderRemovalJson>("DELETE", paths.folder(bucket, name));
        all += num(part.objects);
        more = part.more ?? false;
        setDeleted(all);
      }
    }
    onDeleted();
  };
  if (object !== undefined) {
    return (
      <Confirm title={`Delete the object ${shown}?`} verb="Delete" onClose={onClose} act={remove}>
        It is in the bucket {bucket}, and cannot be got back.
      </Confirm>
    );
  }
  return (
    <Confirm title={`Delete ${name === "" ? `all that is in the bucket ${bucket}` : `the folder ${shown}`}?`} verb="Delete"
             onClose={onClose} act={remove}>
      <p>All that is in it goes with it: <Usage bucket={bucket} prefix={name} />. It cannot be got back.</p>
      <p role="status" class="soft">{deleted > 0 ? `${count(deleted, "object")} deleted so far…` : ""}</p>
    </Confirm>
  );
}
