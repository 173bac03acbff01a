import { bytes, num } from "../../text/format.ts";
import { bucketAddress, type Entry, lastPart } from "../../text/objects.ts";
import { plain } from "../../text/plain.ts";
import { Button } from "../Button.tsx";
import { Link } from "../Link.tsx";
import { Text } from "../Text.tsx";
import { Time } from "../Time.tsx";
import { objectLink } from "./links.ts";

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly entry: Entry;
  readonly current: boolean;
  readonly onDelete: (entry: Entry) => void;
}

export function EntryHead() {
  return (
    <div class="entry-row head" role="row">
      {["Name", "Size", "Changed", "Type"].map((name) => <span key={name} role="columnheader">{name}</span>)}
      <span role="columnheader"><span class="hidden-text">Actions</span></span>
    </div>
  );
}

/** A folder or an object in a listing. */
export function EntryRow({ bucket, prefix, entry: { name, object }, current, onDelete }: Props) {
  const part = lastPart(name);
  const to = object === undefined ? bucketAddress(bucket, name) : bucketAddress(bucket, prefix, name);
  return (
    <div class={`entry-row${current ? " current" : ""}`} role="row" aria-selected={current}>
      <span role="cell" class="entry-name">
        <span aria-hidden="true">{object === undefined ? "▸ " : "  "}</span>
        <Link to={to} title={name}><Text value={part === "/" ? "(no name)/" : part} longest={300} /></Link>
      </span>
      <span role="cell" class="number">{object ? bytes(num(object.size)) : ""}</span>
      <span role="cell" class="soft entry-time">{object && <Time at={object.updated} />}</span>
      <span role="cell" class="soft entry-type"><Text value={object?.contentType ?? ""} longest={60} /></span>
      <span role="cell" class="entry-actions">
        {object && (
          <a class="button quiet" href={objectLink(bucket, name)} download={part} aria-label={`Download ${plain(part)}`}>↓</a>
        )}
        <Button kind="quiet" label={`Delete ${part}`} title="Delete" onClick={() => onDelete({ name, object })}>✕</Button>
      </span>
    </div>
  );
}
