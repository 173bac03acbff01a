import { useState } from "preact/hooks";
import { Button } from "./Button.tsx";

/** Copies a text; says that it did. */
export function Copy({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState<string>();
  const copy = () => {
    writeClipboard(text).then(() => setSaid("Copied"), () => setSaid("Not copied")).finally(() => setTimeout(() => setSaid(undefined), 1500));
  };
  return (
    <Button kind="quiet" onClick={copy} label={`${label}: ${text.slice(0, 60)}`}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}

/** navigator.clipboard is there on https and localhost only. */
export async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field); // beside an open dialog nothing can be chosen
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("The browser does not let it.");
}
