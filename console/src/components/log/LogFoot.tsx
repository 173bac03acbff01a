import { useState } from "preact/hooks";
import { hrefOf } from "../../log/use.ts";
import type { LogState } from "../../log/state.ts";
import type { LogRequests } from "../../log/requests.ts";
import { type LineRange, printRange } from "../../text/log_lines.ts";
import { zone } from "../../text/format.ts";
import { Button } from "../Button.tsx";
import { Copy, writeClipboard } from "../Copy.tsx";

interface Props {
  readonly state: LogState | undefined;
  readonly requests: LogRequests;
  readonly chosen: LineRange | null;
  readonly running: boolean;
  readonly onClear: () => void;
  readonly onDetails: (line: number) => void;
  readonly onFollow: () => void;
}

/** Copied at once; more of it is downloaded. */
const COPIED_MOST = 20_000;

/** Where the reader is, what can be done with the chosen lines, and whether the end is followed. */
export function LogFoot({ state, requests, chosen, running, onClear, onDetails, onFollow }: Props) {
  const shown = (line: number) => line.toLocaleString("en-US");
  const total = state?.total ?? 0;
  const isSeen = state !== undefined && state.rows > 0;
  return (
    <div class="log-foot">
      <span class="soft">
        {isSeen ? `Lines ${shown(state.first)}–${shown(state.last)} of ${shown(total)}` : `${shown(total)} lines`}, times in {zone(Date.now())}
      </span>
      {chosen && (
        <span class="log-chosen" role="group" aria-label="Chosen lines">
          <strong>{chosen.first === chosen.last ? "Line " : "Lines "}{printRange(chosen)}</strong>
          <Copy text={location.origin + hrefOf(printRange(chosen))} label="Copy link" />
          {chosen.last - chosen.first < COPIED_MOST && <CopyLines requests={requests} range={chosen} />}
          <Button kind="quiet" title="All of it (Enter)" onClick={() => onDetails(chosen.first)}>Details</Button>
          <Button kind="quiet" label="Choose no line" title="Choose no line (Escape)" onClick={onClear}>✕</Button>
        </span>
      )}
      <span class="grow" />
      <span class="log-downloads nowrap">
        <span class="soft">Download:</span>
        <a href={requests.download("text")} download="">text</a>
        <a href={requests.download("json")} download="">JSON</a>
        <a href={requests.preparation()} download="" title="What pip and uv printed">installation</a>
      </span>
      {state?.following
        ? <span class="log-following" role="status">{running ? "Following the end" : "At the end"}</span>
        : <Button kind={running ? "main" : "plain"} onClick={onFollow}>{running ? "Follow ↓" : "To the end ↓"}</Button>}
    </div>
  );
}

function CopyLines({ requests, range }: { readonly requests: LogRequests; readonly range: LineRange }) {
  const [face, setFace] = useState("Copy text");
  const copy = () => {
    requests.texts(range).then(writeClipboard).then(() => setFace("Copied"), () => setFace("Not copied"))
      .finally(() => setTimeout(() => setFace("Copy text"), 1500));
  };
  return <Button kind="quiet" onClick={copy}><span aria-live="polite">{face}</span></Button>;
}
