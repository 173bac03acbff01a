import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, sendJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError } from "../api/use.ts";
import { Button } from "./Button.tsx";
import { Labels } from "./Labels.tsx";
import { Failure } from "./Notices.tsx";
import "./LabelEditor.css";

interface Props {
  readonly project: string;
  readonly job: string;
  readonly labels: Record<string, string> | undefined;
  readonly saved: () => void;
}

/** A job's labels, and a small form to change them. */
export function LabelEditor({ project, job, labels, saved }: Props) {
  const [pairs, setPairs] = useState<readonly (readonly [string, string])[]>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const place = useRef<HTMLElement>(null);
  /** What gets the focus once it is there: it must not be lost with what was pressed. */
  const wanted = useRef("");
  useEffect(() => {
    if (wanted.current === "") return;
    place.current?.querySelector<HTMLElement>(wanted.current)?.focus();
    wanted.current = "";
  });
  const keyOf = (at: number) => `[aria-label="Key of label ${at + 1}"]`;
  if (pairs === undefined) {
    const begin = () => {
      wanted.current = keyOf(0);
      setPairs([...Object.entries(labels ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)), ["", ""]]);
    };
    return (
      <span class="row" ref={place}>
        <Labels labels={labels} />
        <Button kind="quiet" onClick={begin}>
          Edit labels
        </Button>
      </span>
    );
  }
  const close = () => {
    wanted.current = "button:last-child";
    setPairs(undefined);
    setError(undefined);
  };
  const change = (at: number, key: string, value: string) => setPairs(pairs.with(at, [key, value]));
  const add = () => {
    wanted.current = keyOf(pairs.length);
    setPairs([...pairs, ["", ""]]);
  };
  const remove = (at: number) => {
    wanted.current = pairs.length > 1 ? keyOf(Math.min(at, pairs.length - 2)) : ".add button";
    setPairs(pairs.toSpliced(at, 1));
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  };
  const save = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const wanted = Object.fromEntries(pairs.filter(([key, value]) => key !== "" || value !== ""));
    sendJson("PATCH", withQuery(paths.job(project, job), { updateMask: "labels" }), { labels: wanted })
      .then(
        () => (saved(), close()),
        (reason: unknown) => setError(asApiError(reason)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <form class="label-editor" onSubmit={save} onKeyDown={pressed} aria-label="Labels" ref={place as RefObject<HTMLFormElement>}>
      {pairs.map(([key, value], at) => (
        <div key={at} class="pair">
          <input
            class="field mono"
            aria-label={`Key of label ${at + 1}`}
            placeholder="key"
            value={key}
            onInput={(event) => change(at, event.currentTarget.value, value)}
          />
          <input
            class="field mono"
            aria-label={`Value of label ${at + 1}`}
            placeholder="value"
            value={value}
            onInput={(event) => change(at, key, event.currentTarget.value)}
          />
          <Button kind="quiet" label={`Remove label ${at + 1}`} onClick={() => remove(at)}>
            ✕
          </Button>
        </div>
      ))}
      {error && <Failure error={error} />}
      <div class="row">
        <Button kind="main" type="submit" disabled={busy}>
          {busy ? "Saving…" : "Save"}
        </Button>
        <span class="add"><Button onClick={add}>Add</Button></span>
        <Button kind="quiet" onClick={close}>
          Keep as it was
        </Button>
      </div>
    </form>
  );
}
