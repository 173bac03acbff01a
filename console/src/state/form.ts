import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { isAbout } from "../text/job_yaml.ts";
import type { Json } from "../text/yaml.ts";
import { textAt, textsAt, withField } from "../text/yaml_edit.ts";
import { parseYaml, type Tree } from "../text/yaml_tree.ts";
import type { Problem } from "./job_check.ts";

/** The text that a form is a view of: its fields read it and change it. */
export interface FormText {
  readonly text: string;
  readonly tree: Tree;
  readonly problems: readonly Problem[];
  readonly change: (text: string) => void;
  /** Hears which fields were typed in. */
  readonly touch: (path: readonly string[]) => void;
}

const NOTHING: FormText = { text: "", tree: parseYaml(""), problems: [], change: () => undefined, touch: () => undefined };
export const FormContext = createContext<FormText>(NOTHING);

/** One field of the form. */
export interface FormValue {
  readonly text: string;
  readonly texts: readonly string[];
  /** "" and empty lists take the field away. */
  readonly set: (value: Json) => void;
  readonly problems: readonly string[];
}

export function useField(path: readonly string[]): FormValue {
  const form = useContext(FormContext);
  return {
    text: textAt(form.tree, path),
    texts: textsAt(form.tree, path),
    set: (value) => {
      form.touch(path);
      form.change(withField(form.text, path, isNothing(value) ? undefined : value));
    },
    problems: form.problems.filter(({ field }) => isAbout(field, path)).map(({ text }) => text),
  };
}

function isNothing(value: Json): boolean {
  return value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
