import type { ComponentChildren } from "preact";
import { plain } from "../text/plain.ts";
import "./Button.css";

interface Props {
  readonly onClick?: () => void;
  readonly kind?: "plain" | "main" | "danger" | "quiet";
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly pressed?: boolean;
  /** What it does, where its face is only a sign. */
  readonly label?: string;
  readonly title?: string;
  /** Of a dialog's buttons: it has the focus when the dialog opens. */
  readonly autoFocus?: boolean;
  readonly children: ComponentChildren;
}

/** Names and hints may be of somebody else: they are shown as text. */
export function Button({ kind = "plain", type = "button", pressed, label, title, children, ...rest }: Props) {
  return (
    <button class={`button ${kind}`} type={type} aria-pressed={pressed} aria-label={label && plain(label)}
            title={title && plain(title)} {...rest}>
      {children}
    </button>
  );
}
