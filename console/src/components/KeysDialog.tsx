import { useState } from "preact/hooks";
import { keyWords } from "../state/keys.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Link } from "./Link.tsx";
import "./KeysDialog.css";

const FOCUSED = [
  ["Tab", "To the next link or control"],
  ["← → + − 0", "On a chart: read values, zoom, show all"],
  ["Esc", "Close, or leave a box"],
] as const;

const NAMES: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", " ": "Space" };

/** What the keys of this page do. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const [own] = useState(keyWords);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {[...own, ...FOCUSED].map(([keys, does]) => (
          <div key={keys}>
            <dt>{keys.split(" ").map((key) => <kbd key={key}>{NAMES[key] ?? key}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <span class="start" onClick={onClose}><Link to="/start">First steps</Link></span>
        <Button onClick={onClose} autoFocus>Close</Button>
      </div>
    </Dialog>
  );
}
