import type { RuntimeJson } from "proto/control/v1/runtimes_pb";
import { useState } from "preact/hooks";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { go } from "../router.ts";
import { startExample } from "../state/example.ts";
import { address } from "../text/address.ts";
import type { Example } from "../text/examples.ts";
import { Button } from "./Button.tsx";
import { Failure } from "./Notices.tsx";
import "./ExampleCard.css";

interface Props {
  readonly example: Example;
  readonly project: string;
  /** What it runs in; undefined: not known yet. */
  readonly runtime: RuntimeJson | undefined;
}

/** A job to start with a click; then its page is shown. */
export function ExampleCard({ example, project, runtime }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const start = () => {
    setBusy(true);
    startExample(example, project).then(
      (job) => go(address`/p/${project}/jobs/${job}`),
      (reason: unknown) => {
        setError(asApiError(reason));
        setBusy(false);
      },
    );
  };
  return (
    <article class="example" aria-label={example.title}>
      <h3>{example.title}</h3>
      <p class="grow">{example.text}</p>
      {runtime?.state !== undefined && !/^built/.test(runtime.state) && (
        <p class="soft">The first job waits while its environment is made, once: a minute or more, with a network.</p>
      )}
      {example.program !== undefined && (
        <details>
          <summary>Its program</summary>
          <pre tabIndex={0}>{example.program}</pre>
        </details>
      )}
      {error && <Failure error={error} />}
      <Button kind="main" onClick={start} disabled={busy} label={`Start: ${example.title}`}>
        {busy ? "Starting…" : "Start"}
      </Button>
    </article>
  );
}
