import { useContext, useRef, useState } from "preact/hooks";
import { FormContext } from "../state/form.ts";
import { type Field, lostBy, type ProgramKind, withKind, written } from "../text/new_job.ts";
import { Button } from "./Button.tsx";
import { Confirm } from "./Confirm.tsx";
import { Text } from "./Text.tsx";

const KINDS: readonly (readonly [ProgramKind, string])[] = [
  ["package", "Python package"],
  ["container", "Container"],
  ["algorithm", "Built-in algorithm"],
];

interface Props {
  readonly kind: ProgramKind;
  readonly onChange: (kind: ProgramKind) => void;
}

/** What the job runs. Another kind takes away what it does not have: it is asked first if somebody wrote that. */
export function KindChoice({ kind, onChange }: Props) {
  const form = useContext(FormContext);
  const [asked, setAsked] = useState<ProgramKind>();
  const before = useRef(new Map<ProgramKind, readonly Field[]>());
  const change = (next: ProgramKind) => {
    before.current.set(kind, lostBy(form.text, next));
    onChange(next);
    form.change(withKind(form.text, next, before.current.get(next)));
  };
  const choose = (next: ProgramKind) => {
    if (written(lostBy(form.text, next)).length > 0) setAsked(next);
    else change(next);
  };
  return (
    <div class="kinds" role="group" aria-label="What it runs">
      {KINDS.map(([one, name]) => (
        <Button key={one} pressed={one === kind} onClick={() => one !== kind && choose(one)}>
          {name}
        </Button>
      ))}
      {asked && (
        <Confirm
          title="Take these fields out of the YAML?"
          verb="Take them out"
          onClose={() => setAsked(undefined)}
          act={async () => change(asked)}
        >
          <p>
            A job of the kind “{nameOf(asked)}” does not have them. They come back with “{nameOf(kind)}” as long as this
            page is open.
          </p>
          <ul class="lost">
            {written(lostBy(form.text, asked)).map(({ path, value }) => (
              <li key={path.join()}>
                <code>{path.join(".")}</code>: <Text value={wordsOf(value)} longest={300} class="mono" />
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </div>
  );
}

const nameOf = (kind: ProgramKind) => KINDS.find(([one]) => one === kind)?.[1];

function wordsOf(value: Field["value"]): string {
  return typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value);
}
