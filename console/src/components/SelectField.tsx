import { useField } from "../state/form.ts";
import { cut, visible } from "../text/plain.ts";
import { FormField } from "./FormField.tsx";

export interface Choice {
  readonly value: string;
  readonly name: string;
}

interface Props {
  readonly name: string;
  readonly path: readonly string[];
  /** "" takes the field away. */
  readonly choices: readonly Choice[];
  readonly hint?: string;
}

/** A field of the job that is chosen; a value that is none of the choices is one more. */
export function SelectField({ name, path, choices, hint }: Props) {
  const field = useField(path);
  const all = choices.some(({ value }) => value === field.text)
    ? choices
    : [...choices, { value: field.text, name: visible(cut(field.text, 80)) }];
  return (
    <FormField name={name} problems={field.problems} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <select {...control} value={field.text} onChange={(event) => field.set(event.currentTarget.value)}>
          {all.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}
