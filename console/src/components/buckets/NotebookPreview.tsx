import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/http.ts";
import { useAnswer } from "../../api/use.ts";
import { type Cell, type Output, parseNotebook } from "../../text/notebook.ts";
import { visible } from "../../text/plain.ts";
import { Button } from "../Button.tsx";
import { Empty, Loaded } from "../Notices.tsx";
import "./Notebook.css";

interface Props {
  readonly link: string;
  readonly showRaw: () => void;
}

/** A notebook's cells with the texts and pictures that they showed. */
export function NotebookPreview({ link, showRaw }: Props) {
  const file = useAnswer(link, async (signal) => (await send(link, { signal })).text());
  return (
    <Loaded of={file}>
      {(text) => {
        const notebook = parseNotebook(text);
        return (
          <div class="stack">
            <div class="row">
              <Button pressed={false} onClick={showRaw}>Raw</Button>
              {notebook?.more && <span class="soft">Only the first cells are shown.</span>}
            </div>
            {notebook === null
              ? <Empty title="This is no notebook of format 4." />
              : notebook.cells.length === 0
                ? <Empty title="The notebook has no cells." />
                : <ol class="notebook">{notebook.cells.map((cell, at) => <CellView key={at} cell={cell} at={at + 1} />)}</ol>}
          </div>
        );
      }}
    </Loaded>
  );
}

function CellView({ cell, at }: { readonly cell: Cell; readonly at: number }) {
  return (
    <li class={`notebook-cell ${cell.kind}`}>
      {cell.kind === "code" && <span class="soft mono">[{cell.count || " "}]</span>}
      <div class="stack">
        {cell.source !== "" && (
          <pre class="notebook-source" tabIndex={0} role="region" aria-label={`Cell ${at}`}><bdi>{visible(cell.source)}</bdi></pre>
        )}
        {cell.outputs.map((output, place) => <OutputView key={place} output={output} label={`Output ${place + 1} of cell ${at}`} />)}
      </div>
    </li>
  );
}

function OutputView({ output, label }: { readonly output: Output; readonly label: string }) {
  if (output.kind === "image") return <Picture output={output} label={label} />;
  return (
    <pre class={`notebook-output ${output.kind}`} tabIndex={0} role="region" aria-label={label}>
      <bdi>{visible(output.text)}</bdi>
    </pre>
  );
}

function Picture({ output, label }: { readonly output: Output & { readonly kind: "image" }; readonly label: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([output.data], { type: output.type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [output]);
  return <>{url !== "" && <img class="preview-image" src={url} alt={label} />}</>;
}
