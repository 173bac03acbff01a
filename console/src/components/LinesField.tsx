import { useState } from "preact/hooks";
import { visible } from "../text/plain.ts";
import type { ControlProps } from "./FormField.tsx";

interface Props {
  readonly control: ControlProps;
  readonly values: readonly string[];
  readonly placeholder?: string;
  readonly onChange: (values: string[]) => void;
}

/** A list, a line each. While it is typed in, the text is the reader's own: an empty line may be the next value. */
export function LinesField({ control, values, placeholder, onChange }: Props) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? visible(values.join("\n"));
  const inYaml = typed === undefined && values.some((value) => value === "" || value.includes("\n") || value !== visible(value));
  const input = (next: string) => {
    setTyped(next);
    onChange(next.split("\n").filter((line) => line !== ""));
  };
  return (
    <textarea
      {...control}
      rows={Math.min(Math.max(text.split("\n").length, 2), 12)}
      spellcheck={false}
      placeholder={placeholder}
      value={text}
      disabled={inYaml}
      title={inYaml ? "Values that are empty, of several lines or with hidden characters are changed in the YAML." : undefined}
      onInput={(event) => input(event.currentTarget.value)}
      onBlur={() => setTyped(undefined)}
    />
  );
}
