import { type Upload, uploads, useUploads } from "../state/uploads.ts";
import { bytes, count } from "../text/format.ts";
import { Button } from "./Button.tsx";
import { Text } from "./Text.tsx";
import "./UploadList.css";

const SHOWN_MOST = 30;

/** What is on its way into buckets, and what did not arrive: on every page, until the reader closes it. */
export function UploadList() {
  const all = useUploads();
  if (all.length === 0) return null;
  const of = (state: Upload["state"]) => all.filter((upload) => upload.state === state);
  const [done, failed, exist] = [of("done"), of("failed"), of("exists")];
  const left = all.length - done.length - failed.length - exist.length;
  const size = all.reduce((sum, { file }) => sum + file.size, 0);
  const sent = all.reduce((sum, upload) => sum + arrived(upload), 0);
  const shown = [...of("sending"), ...failed, ...exist];
  return (
    <section class="panel uploads" aria-label="Uploads">
      <div class="head spread">
        <span role="status">
          {left > 0 ? `Uploading ${count(left, "file")}` : `${count(done.length, "file")} uploaded`}
          , {bytes(sent)} of {bytes(size)}
          {failed.length > 0 && `, ${failed.length.toLocaleString("en-US")} failed`}
        </span>
        <span class="row">
          {failed.length > 0 && <Button onClick={() => uploads.again("failed")}>Try {count(failed.length, "file")} again</Button>}
          {exist.length > 0 && (
            <Button kind="danger" onClick={() => uploads.again("exists")}>Replace {count(exist.length, "object")}</Button>
          )}
          <Button kind="quiet" onClick={() => uploads.clear()}>{left > 0 ? "Stop" : "Close"}</Button>
        </span>
      </div>
      <progress max={Math.max(size, 1)} value={size === 0 ? 1 : sent} aria-label="Uploaded" />
      {shown.length > 0 && (
        <ul class="body">
          {shown.slice(0, SHOWN_MOST).map(({ bucket, name, file, sent: part, state, message }, at) => (
            <li key={at} class={state}>
              <Text value={`${bucket}/${name}`} longest={120} />
              <span class="soft">
                {state === "sending" ? `${bytes(part)} of ${bytes(file.size)}` : <Text value={message} longest={300} />}
              </span>
            </li>
          ))}
          {shown.length > SHOWN_MOST && <li class="soft">and {count(shown.length - SHOWN_MOST, "other")}</li>}
        </ul>
      )}
    </section>
  );
}

function arrived({ state, sent, file }: Upload): number {
  if (state === "failed" || state === "exists") return 0;
  return state === "done" ? file.size : Math.min(sent, file.size);
}
