// What YAML is read into. Pure.

interface Place {
  /** From 0. */
  readonly line: number;
  /** The line after its last one. */
  readonly end: number;
}
export type Tree = Place &
  (
    | { readonly kind: "text"; readonly text: string; readonly quoted: boolean }
    | { readonly kind: "list"; readonly items: readonly Tree[]; readonly flow: boolean }
    | { readonly kind: "map"; readonly entries: readonly Entry[]; readonly flow: boolean }
  );
export interface Entry {
  readonly key: string;
  readonly line: number;
  /** Of its key, in characters. */
  readonly indent: number;
  readonly value: Tree;
}

/** Why a text is not read. */
export class YamlError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}
