import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { plain } from "../text/plain.ts";
import "./Dialog.css";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question over the page. It is there as long as its parent renders it; Escape closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus(); // a dialog that is taken away does not do it
    };
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-label={plain(title)} onClose={onClose}>
      <h2><bdi>{plain(title)}</bdi></h2>
      {children}
    </dialog>
  );
}
