import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Text } from "./Text.tsx";
import "./FormField.css";

/** What a control of a field needs. */
export interface ControlProps {
  readonly id: string;
  readonly class: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

interface Props {
  readonly name: string;
  readonly hint?: string;
  /** What is wrong with it. */
  readonly problems: readonly string[];
  readonly children: (control: ControlProps) => ComponentChildren;
}

/** A control with its name above it and what is wrong below it. */
export function FormField({ name, hint, problems, children }: Props) {
  const id = useId();
  const about = problems.length > 0 || hint ? `${id}-about` : undefined;
  return (
    <div class="form-field">
      <label class="name" for={id}>
        {name}
      </label>
      {children({ id, class: "field", "aria-invalid": problems.length > 0, "aria-describedby": about })}
      {about && (
        <div id={about}>
          {problems.map((problem) => (
            <p key={problem} class="problem">
              <Text value={problem} longest={500} />
            </p>
          ))}
          {problems.length === 0 && hint && <p class="hint">{hint}</p>}
        </div>
      )}
    </div>
  );
}
