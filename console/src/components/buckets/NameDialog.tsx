import { useState } from "preact/hooks";
import type { ApiError } from "../../api/http.ts";
import { asApiError } from "../../api/use.ts";
import { Button } from "../Button.tsx";
import { Dialog } from "../Dialog.tsx";
import { Failure } from "../Notices.tsx";

interface Props {
  readonly title: string;
  readonly label: string;
  readonly verb: string;
  /** Why a name cannot be taken, or "". */
  readonly wrong: (name: string) => string;
  readonly act: (name: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a name, and makes something of it. */
export function NameDialog({ title, label, verb, wrong, act, onClose }: Props) {
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const reason = wrong(name);
  const make = (event: Event) => {
    event.preventDefault();
    if (name === "" || reason !== "") return;
    setBusy(true);
    act(name).then(onClose, (failure: unknown) => {
      setError(asApiError(failure));
      setBusy(false);
    });
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={make}>
        <label class="stack name-label">
          {label}
          <input class="field mono" type="text" required spellcheck={false} value={name} aria-invalid={reason !== ""}
                 aria-describedby="name-reason" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <p id="name-reason" class="name-reason">{reason}</p>
        {error && <Failure error={error} />}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={busy || name === "" || reason !== ""}>{busy ? "Working…" : verb}</Button>
        </div>
      </form>
    </Dialog>
  );
}
