import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Failure } from "./Notices.tsx";

interface Props {
  /** Names what is destroyed: "Delete the job census_1?" */
  readonly title: string;
  /** The button: "Delete" */
  readonly verb: string;
  readonly onClose: () => void;
  readonly act: () => Promise<void>;
  readonly children?: ComponentChildren;
}

/** Asks before something is destroyed, does it, and stays open with the reason if that failed. */
export function Confirm({ title, verb, onClose, act, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const run = () => {
    setBusy(true);
    act().then(onClose, (reason: unknown) => {
      setError(asApiError(reason));
      setBusy(false);
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Failure error={error} />}
      <div class="actions">
        <Button onClick={onClose}>Keep</Button>
        <Button kind="danger" onClick={run} disabled={busy}>{busy ? "Working…" : verb}</Button>
      </div>
    </Dialog>
  );
}
