import type { JobJson } from "proto/ml/v1/ml_pb";
import { useState } from "preact/hooks";
import { type ApiError, sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError } from "../api/use.ts";
import { go } from "../router.ts";
import { freeId } from "../state/draft.ts";
import { hasEnded } from "../state/job.ts";
import { address } from "../text/address.ts";
import { cloneOf } from "../text/clone.ts";
import { folderOf } from "../text/job_folder.ts";
import { folderLink } from "./buckets/links.ts";
import { Button } from "./Button.tsx";
import { Confirm } from "./Confirm.tsx";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { Link } from "./Link.tsx";
import { Failure } from "./Notices.tsx";

interface Props {
  readonly project: string;
  readonly job: string;
  /** undefined: it is not known yet. */
  readonly data: JobJson | undefined;
}

/** What can be done with a job, on each of its views. */
export function JobActions({ project, job, data }: Props) {
  const [asked, setAsked] = useState<"cancel" | "delete">();
  const close = () => setAsked(undefined);
  const folder = folderOf(data?.trainingInput?.jobDir);
  return (
    <div class="job-actions">
      {data && <Rerun project={project} job={data} />}
      <Link class="button plain" to={`${address`/p/${project}/new`}?from=${encodeURIComponent(job)}`}>
        <Icon name="copy" /> Clone and edit
      </Link>
      {folder && <Link class="button plain" to={folder.page} title="What the job left in its folder"><Icon name="folder" /> Folder</Link>}
      {folder && (
        <a class="button plain" href={folderLink(folder.bucket, folder.prefix, "zip")} download="" title="The job's folder as a zip file">
          <Icon name="download" /> Download
        </a>
      )}
      {data && !hasEnded(data) && <Button kind="danger" onClick={() => setAsked("cancel")}><Icon name="stop" /> Cancel job</Button>}
      {data && hasEnded(data) && <Button kind="danger" onClick={() => setAsked("delete")}><Icon name="trash" /> Delete</Button>}
      {asked === "cancel" && (
        <Confirm title={`Cancel the job ${job}?`} verb="Cancel job" onClose={close}
                 act={async () => void (await sendJson("POST", paths.cancel(project, job), {}))}>
          Its replicas are stopped; what they wrote stays.
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm title={`Delete the job ${job}?`} verb="Delete" onClose={close}
                 act={async () => {
                   await sendJson("DELETE", paths.status(project, job));
                   go(address`/p/${project}/jobs`, { replace: true });
                 }}>
          Its log, its measurements and its entry in the list are removed. Files in buckets stay.
        </Confirm>
      )}
    </div>
  );
}

/** The same job once more, under the next free id. */
function Rerun({ project, job }: { readonly project: string; readonly job: JobJson }) {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<ApiError>();
  const again = async () => {
    const jobId = await freeId(project, job.jobId ?? "");
    await sendJson("POST", paths.jobs(project), cloneOf(job, jobId));
    go(address`/p/${project}/jobs/${jobId}`);
  };
  const run = () => {
    setBusy(true);
    again().catch((reason: unknown) => setRefused(asApiError(reason))).finally(() => setBusy(false));
  };
  return (
    <>
      <Button onClick={run} disabled={busy} title="Submits the same job under a new id">
        <Icon name="again" /> {busy ? "Submitting…" : "Rerun"}
      </Button>
      {refused && (
        <Dialog title="The job was not submitted again." onClose={() => setRefused(undefined)}>
          <Failure error={refused} />
          <div class="actions"><Button onClick={() => setRefused(undefined)}>Close</Button></div>
        </Dialog>
      )}
    </>
  );
}
