import { useAnswer } from "../../api/use.ts";
import type { LogRequests } from "../../log/requests.ts";
import { ansiParts } from "../../text/ansi.ts";
import { duration, exact, time } from "../../text/format.ts";
import { visible } from "../../text/plain.ts";
import { Copy } from "../Copy.tsx";
import { Dialog } from "../Dialog.tsx";
import { Loaded } from "../Notices.tsx";
import { Text } from "../Text.tsx";

interface Props {
  readonly requests: LogRequests;
  readonly line: number;
  /** When the job began, ms since 1970. */
  readonly begin: number | undefined;
  readonly onClose: () => void;
}

/** Characters laid out together: those that are not in view cost nothing. */
const PIECE = 8000;

/** All of one line: its whole text and its fields. */
export function LineDialog({ requests, line, begin, onClose }: Props) {
  const answer = useAnswer(`line ${line}`, async () => (await requests.whole(line)) ?? {});
  return (
    <Dialog title={`Line ${line.toLocaleString("en-US")}`} onClose={onClose}>
      <Loaded of={answer}>
        {(data) => {
          const ms = time(data.time);
          const text = ansiParts(data.text ?? "").map((part) => part.text).join("");
          const fields = data.json === undefined ? "" : JSON.stringify(data.json, null, 2);
          return (
            <div class="stack log-line-whole">
              <p class="soft">
                {ms !== undefined && <>{exact(ms)}{begin !== undefined && `, ${duration(ms - begin)} after the start`} · </>}
                <Text value={String(data.severity ?? "DEFAULT")} />
                {data.severityOfStream && ", as all of stderr: the program named no severity"} · <Text value={data.replica} />
                {data.trialId && <> · trial <Text value={data.trialId} /></>}
              </p>
              <Long text={text} label="Text" />
              {fields !== "" && <Long text={fields} label="Fields" />}
              <div class="actions"><Copy text={data.text ?? ""} label="Copy text" /></div>
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function Long({ text, label }: { readonly text: string; readonly label: string }) {
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, at) => text.slice(at * PIECE, (at + 1) * PIECE));
  return (
    <div class="log-long mono" tabIndex={0} role="region" aria-label={label}>
      {pieces.map((piece, at) => <bdi key={at} class="log-piece">{visible(piece)}</bdi>)}
    </div>
  );
}
