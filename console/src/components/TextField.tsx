import { useField } from "../state/form.ts";
import { visible } from "../text/plain.ts";
import { FormField } from "./FormField.tsx";
import { LinesField } from "./LinesField.tsx";

interface Props {
  readonly name: string;
  /** Where it is in the job. */
  readonly path: readonly string[];
  readonly hint?: string;
  readonly placeholder?: string;
  /** What may be chosen; other values may be typed. */
  readonly list?: string;
  /** It is a list, a line each. */
  readonly lines?: boolean;
  readonly number?: boolean;
}

/** A field of the job that is typed. */
export function TextField({ name, path, hint, placeholder, list, lines, number }: Props) {
  const field = useField(path);
  return (
    <FormField name={name} problems={field.problems} {...(hint === undefined ? {} : { hint })}>
      {(control) =>
        lines ? (
          <LinesField
            control={control}
            values={field.texts}
            onChange={field.set}
            {...(placeholder === undefined ? {} : { placeholder })}
          />
        ) : (
          <input
            {...control}
            type="text"
            inputMode={number ? "numeric" : "text"}
            list={list}
            placeholder={placeholder}
            spellcheck={false}
            autoComplete="off"
            value={visible(field.text)}
            readOnly={field.text !== visible(field.text)}
            title={field.text === visible(field.text) ? undefined : "A value with hidden characters is changed in the YAML."}
            onInput={({ currentTarget: { value } }) => field.set(number && /^\d{1,15}$/.test(value) ? Number(value) : value)}
          />
        )
      }
    </FormField>
  );
}
