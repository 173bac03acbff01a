import type { ObjectsJson } from "proto/storage/v1/storage_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, changing, getJson, send, withQuery } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";
import { go, setQuery, usePlace } from "../../router.ts";
import { useNarrow } from "../../state/narrow.ts";
import { filesOf } from "../../state/dropped.ts";
import { useObjects } from "../../state/objects.ts";
import { useRows } from "../../state/rows.ts";
import { type FileToSend, uploads, useArrived } from "../../state/uploads.ts";
import { bucketAddress, type Entry, folderOf } from "../../text/objects.ts";
import { plain } from "../../text/plain.ts";
import { AsOf } from "../AsOf.tsx";
import { ListEnd } from "../ListEnd.tsx";
import { Empty, Failure } from "../Notices.tsx";
import { VirtualRows } from "../VirtualRows.tsx";
import { Crumbs } from "./Crumbs.tsx";
import { DeleteEntry } from "./DeleteEntry.tsx";
import { EntryHead, EntryRow } from "./EntryRow.tsx";
import { FolderActions } from "./FolderActions.tsx";
import { NameDialog } from "./NameDialog.tsx";
import { Usage } from "./Usage.tsx";

const ROW_HEIGHT = 37;
const CARD_HEIGHT = 58;

interface Props {
  readonly bucket: string;
  readonly prefix: string;
}

/** What is in a folder. Files that are dropped on it are uploaded into it. */
export function FolderView({ bucket, prefix }: Props) {
  const begin = usePlace().query.get("begin") ?? "";
  const list = useObjects(bucket, prefix, begin);
  const [round, setRound] = useState(0);
  const [removed, setRemoved] = useState<Entry>();
  const [naming, setNaming] = useState(false);
  const [over, setOver] = useState(false);
  const narrow = useNarrow();
  const box = useRef<HTMLInputElement>(null);
  const changed = () => {
    list.reload();
    setRound((count) => count + 1);
  };
  useArrived(bucket, changed);
  const upload = (files: readonly FileToSend[]) => uploads.add(bucket, files);
  const isEmpty = list.complete && list.data.length === 0;
  useObjectInstead(bucket, prefix, isEmpty && begin === "");

  const { at, place } = useRows({
    name: `${bucket}/${prefix}${begin}`,
    items: list.data,
    idOf: (entry) => entry.name,
    open: (entry) => go(entry.object ? bucketAddress(bucket, prefix, entry.name) : bucketAddress(bucket, entry.name)),
    keys: {
      "/": () => box.current?.focus(),
      u: () => go(prefix === "" ? "/buckets" : bucketAddress(bucket, folderOf(prefix))),
    },
    words: { "/": "Look for names", u: "The folder around this one" },
  });
  const makeFolder = async (name: string) => {
    const query = { uploadType: "media", name: `${prefix}${name}/`, ifGenerationMatch: 0 };
    const init = { method: "POST", headers: changing("application/x-directory"), body: "" };
    await send(withQuery(paths.upload(bucket), query), init).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 412) throw error; // 412: it is there already
    });
    go(bucketAddress(bucket, `${prefix}${name}/`));
  };
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) void filesOf(event.dataTransfer, prefix).then(upload);
  };
  const dragged = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <div class={`stack folder${over ? " over" : ""}`} onDragOver={dragged} onDrop={dropped}
         onDragLeave={(event) => event.currentTarget === event.target && setOver(false)}>
      <div class="spread">
        <h1 class="hidden-text">{plain(prefix === "" ? `Bucket ${bucket}` : `Folder ${prefix}`)}</h1>
        <Crumbs bucket={bucket} prefix={prefix} />
        <span class="row">
          <Usage key={round} bucket={bucket} prefix={prefix} />
          <AsOf of={[{ ...list, reload: changed }]} />
        </span>
      </div>
      <FolderActions bucket={bucket} prefix={prefix} onFiles={upload} onNewFolder={() => setNaming(true)}
                     onDelete={() => setRemoved({ name: prefix, object: undefined })}>
        <input ref={box} class="field" type="search" aria-label="Names that begin with" placeholder="Begins with  ( / )"
               spellcheck={false} value={begin} onInput={(event) => setQuery({ begin: event.currentTarget.value })} />
      </FolderActions>
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {list.data.length > 0 && (
        <div class="entries" role="table" aria-label="In the folder" aria-rowcount={list.complete ? list.data.length : -1}>
          {!narrow && <EntryHead />}
          <VirtualRows count={list.data.length} rowHeight={narrow ? CARD_HEIGHT : ROW_HEIGHT} nearEnd={list.more}
            {...place}
            row={(row) => {
              const entry = list.data[row];
              if (entry === undefined) return null;
              return <EntryRow bucket={bucket} prefix={prefix} entry={entry} current={row === at} onDelete={setRemoved} />;
            }} />
        </div>
      )}
      <ListEnd of={list} />
      {isEmpty && (begin !== ""
        ? <Empty title={`No name here begins with ${begin}.`} />
        : <Empty title="Nothing is here yet.">Drop files or folders here.</Empty>)}
      {over && <div class="drop-here" aria-hidden="true">Drop to upload here</div>}
      {removed && <DeleteEntry bucket={bucket} entry={removed} onClose={() => setRemoved(undefined)} onDeleted={changed} />}
      {naming && (
        <NameDialog title="New folder" label="Name" verb="Create" wrong={(name) => (name.includes("/") ? "Without a slash." : "")}
                    act={makeFolder} onClose={() => setNaming(false)} />
      )}
    </div>
  );
}

/** An address from elsewhere may name an object as if it were a folder: that is shown instead. */
function useObjectInstead(bucket: string, prefix: string, isEmpty: boolean): void {
  useEffect(() => {
    const name = prefix.slice(0, -1);
    if (!isEmpty || name === "") return;
    const abort = new AbortController();
    const query = { prefix: name, delimiter: "/", maxResults: 1 };
    getJson<ObjectsJson>(withQuery(paths.objects(bucket), query), abort.signal).then(
      ({ items }) => items?.[0]?.name === name && go(bucketAddress(bucket, folderOf(name), name), { replace: true }),
      () => undefined,
    );
    return () => abort.abort();
  }, [bucket, prefix, isEmpty]);
}
