import type { BucketJson } from "proto/storage/v1/storage_pb";
import { useRef, useState } from "preact/hooks";
import { sendJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { NameDialog } from "../components/buckets/NameDialog.tsx";
import { Usage } from "../components/buckets/Usage.tsx";
import { AsOf } from "../components/AsOf.tsx";
import { Button } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { InView } from "../components/InView.tsx";
import { Link } from "../components/Link.tsx";
import { NoProject } from "../components/NoProject.tsx";
import { Empty, Loaded } from "../components/Notices.tsx";
import { Text } from "../components/Text.tsx";
import { Time } from "../components/Time.tsx";
import { go } from "../router.ts";
import { useBuckets } from "../state/buckets.ts";
import { useEvery } from "../state/every.ts";
import { useRowFocus, useRows } from "../state/rows.ts";
import { useHomeProject } from "../state/projects.ts";
import { useSession } from "../state/session.ts";
import { bucketAddress, wrongBucketName } from "../text/objects.ts";
import "../components/buckets/Buckets.css";

const REFRESH_MS = 60_000;

const FIRST_PROJECT = "trainyard"; // that of `trainyard env`, where nobody has chosen one

/** A project's buckets; all, where nobody logs in. Keys: j k Enter. */
export function BucketsPage() {
  const home = useHomeProject();
  const named = useSession().authentication ?? false;
  const project = home ?? FIRST_PROJECT;
  const list = useBuckets(home === undefined || (home === null && named) ? null : project);
  useEvery(REFRESH_MS, list.reload);
  const [making, setMaking] = useState(false);
  const make = async (name: string) => {
    await sendJson<BucketJson>("POST", withQuery(paths.buckets(), { project }), { name });
    go(bucketAddress(name, ""));
  };
  if (home === null && named) return <NoProject />;
  return (
    <div class="stack">
      <div class="spread">
        <h1>{named ? <>Buckets of <Text value={project} longest={80} /></> : "Buckets"}</h1>
        <span class="row"><AsOf of={[list]} /><Button onClick={() => setMaking(true)}>New bucket</Button></span>
      </div>
      <Loaded of={list}>
        {(buckets) => buckets.length > 0
          ? <BucketTable buckets={buckets} changed={list.reload} />
          : (
            <Empty title={named ? `${project} has no buckets yet.` : "There are no buckets yet."}>
              Jobs write what they keep into buckets. Make one, and drop files in. <Link to="/start">First steps</Link>
            </Empty>
          )}
      </Loaded>
      {making && (
        <NameDialog title="New bucket" label="Name" verb="Create" wrong={wrongBucketName} act={make}
                    onClose={() => setMaking(false)} />
      )}
    </div>
  );
}

/** Rows at once. */
const ROWS_STEP = 200;

function BucketTable({ buckets, changed }: { readonly buckets: readonly BucketJson[]; readonly changed: () => void }) {
  const [removed, setRemoved] = useState<string>();
  const [most, setMost] = useState(ROWS_STEP);
  const { at, place } = useRows({
    name: "buckets",
    items: buckets,
    idOf: ({ name = "" }) => name,
    open: ({ name = "" }) => go(bucketAddress(name, "")),
  });
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useRowFocus(body, place);
  const shown = Math.max(most, at + 1);
  return (
    <div class="bucket-scroll">
      <table>
        <thead>
          <tr><th>Bucket</th><th>Created</th><th>In it</th><th><span class="hidden-text">Actions</span></th></tr>
        </thead>
        <tbody ref={body} onFocusIn={focused}>
          {buckets.slice(0, shown).map(({ name = "", timeCreated }, row) => (
            <tr key={name} data-row={row} class={row === at ? "current" : ""}>
              <td><Link to={bucketAddress(name, "")} class="bucket-name"><Text value={name} longest={80} /></Link></td>
              <td class="soft"><Time at={timeCreated} /></td>
              <td><InView><Usage bucket={name} prefix="" /></InView></td>
              <td class="number">
                <Button kind="quiet" label={`Delete the bucket ${name}`} onClick={() => setRemoved(name)}>Delete</Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {buckets.length > shown && (
        <Button kind="quiet" onClick={() => setMost(shown + ROWS_STEP)}>
          Show more of {buckets.length.toLocaleString("en-US")} buckets
        </Button>
      )}
      {removed !== undefined && (
        <Confirm title={`Delete the bucket ${removed}?`} verb="Delete" onClose={() => setRemoved(undefined)}
                 act={async () => {
                   await sendJson("DELETE", `${paths.buckets()}/${encodeURIComponent(removed)}`);
                   changed();
                 }}>
          A bucket with objects in it is not deleted: delete those first.
        </Confirm>
      )}
    </div>
  );
}
