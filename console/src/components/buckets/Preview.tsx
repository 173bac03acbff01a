import type { ObjectJson } from "proto/storage/v1/storage_pb";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { send } from "../../api/http.ts";
import { useAnswer } from "../../api/use.ts";
import { bytes, num } from "../../text/format.ts";
import { NOTEBOOK_BYTES_MOST } from "../../text/notebook.ts";
import { visible } from "../../text/plain.ts";
import {
  hexDump, IMAGE_BYTES_MOST, imageType, JSON_BYTES_MOST, kindOf, parseTable, prettyJson, TEXT_BYTES,
} from "../../text/preview.ts";
import { Button } from "../Button.tsx";
import { Empty, Loaded } from "../Notices.tsx";
import { EventFile } from "./EventFile.tsx";
import { ImagePreview } from "./ImagePreview.tsx";
import { objectLink } from "./links.ts";
import { NotebookPreview } from "./NotebookPreview.tsx";
import { TablePreview } from "./TablePreview.tsx";

interface Props {
  readonly bucket: string;
  readonly object: ObjectJson;
}

/** What is in an object, as far as it can be shown: by its first bytes, never as a page. */
export function Preview({ bucket, object }: Props) {
  const [wanted, setWanted] = useState(TEXT_BYTES);
  const [raw, setRaw] = useState(false);
  const { name = "" } = object;
  const size = num(object.size);
  const link = objectLink(bucket, name);
  const begin = useAnswer(size === 0 ? null : `${link} ${wanted}`, (signal) => firstBytes(link, wanted, signal));
  if (size === 0) return <Empty title="The object is empty." />;
  return (
    <Loaded of={begin}>
      {(data) => {
        const kind = kindOf(name, data);
        if (kind === "notebook" && !raw && size <= NOTEBOOK_BYTES_MOST) return <NotebookPreview link={link} showRaw={() => setRaw(true)} />;
        if (kind === "image" && size <= IMAGE_BYTES_MOST) return <ImagePreview link={link} type={imageType(data)} name={name} />;
        if (kind === "image") return <Empty title="The image is too large to be shown here.">Download it.</Empty>;
        if (kind === "events") return <EventFile bucket={bucket} name={name} />;
        if (kind === "binary") return <Lines label="First bytes" text={hexDump(data)} head="Binary file, first bytes" />;
        const text = new TextDecoder().decode(data).replaceAll("\r\n", "\n");
        const isWhole = data.length >= size;
        const more = isWhole ? null : (
          <>
            <span class="soft">The first {bytes(data.length)} of {bytes(size)}.</span>
            <Button onClick={() => setWanted(Math.min(wanted * 4, size))}>Show more</Button>
          </>
        );
        const pretty = kind === "json" && !raw && isWhole && size <= JSON_BYTES_MOST ? prettyJson(text) : null;
        const isShaped = pretty !== null || (kind === "csv" && !raw);
        const head = (
          <>
            {more}
            {(kind === "notebook" || ((kind === "csv" || kind === "json") && isWhole)) && (isShaped || raw) &&
              <Button pressed={raw} onClick={() => setRaw(!raw)}>Raw</Button>}
          </>
        );
        if (kind === "csv" && !raw) {
          return <TablePreview table={parseTable(text, /\.tsv$/i.test(name) ? "\t" : ",")} head={head} />;
        }
        return <Lines label="Text" text={pretty ?? text} head={head} />;
      }}
    </Loaded>
  );
}

/** Characters laid out together; those that are not in view cost nothing. */
const PIECE = 8000;

function Lines({ label, text, head }: { readonly label: string; readonly text: string; readonly head: ComponentChildren }) {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const newline = text.lastIndexOf("\n", at + PIECE);
    const end = newline > at && text.length > at + PIECE ? newline + 1 : at + PIECE;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return (
    <div class="stack">
      <div class="row">{head}</div>
      <div class="preview-text mono" tabIndex={0} role="region" aria-label={label}>
        {pieces.map((piece, at) => <bdi key={at}>{visible(piece)}</bdi>)}
      </div>
    </div>
  );
}

async function firstBytes(link: string, most: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await send(link, { signal, headers: { Range: `bytes=0-${most - 1}` } });
  return new Uint8Array(await answer.arrayBuffer()).subarray(0, most);
}
