// A notebook (nbformat 4) as cells with what they showed. Pure. Its HTML, scripts and widgets are never used: a value that has
// them mostly has a text, too; else it is named.
import { withoutEscapes } from "./ansi_plain.ts";
import { imageType } from "./preview.ts";

export const NOTEBOOK_BYTES_MOST = 20 * 1024 * 1024;
const CELLS_MOST = 1000;
const TEXT_MOST = 100_000;

export type Output =
  | { readonly kind: "text" | "error"; readonly text: string }
  | { readonly kind: "image"; readonly type: string; readonly data: Uint8Array<ArrayBuffer> };

export interface Cell {
  readonly kind: "code" | "text";
  /** As beside it in Jupyter: "3"; "" if it did not run. */
  readonly count: string;
  readonly source: string;
  readonly outputs: readonly Output[];
}

export interface Notebook {
  readonly cells: readonly Cell[];
  /** There are more cells than that. */
  readonly more: boolean;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text, or a list of its lines. */
function textOf(value: unknown): string {
  const parts = Array.isArray(value) ? value : [value];
  return parts.filter((part) => typeof part === "string").join("");
}

function shown(text: string): string {
  const clean = withoutEscapes(text);
  return clean.length > TEXT_MOST ? `${clean.slice(0, TEXT_MOST)}\n… (the rest is in the file)` : clean;
}

/** null: it is no image that browsers show as a picture and nothing else. */
function image(base64: string): Output | null {
  try {
    const data = Uint8Array.from(atob(base64.replace(/\s/g, "")), (character) => character.charCodeAt(0));
    const type = imageType(data);
    return type === "" ? null : { kind: "image", type, data };
  } catch {
    return null;
  }
}

function outputsOf(output: unknown): readonly Output[] {
  if (!isObject(output)) return [];
  if (output.output_type === "stream") return [{ kind: "text", text: shown(textOf(output.text)) }];
  if (output.output_type === "error") {
    const traceback = listOf(output.traceback).map(textOf).join("\n");
    return [{ kind: "error", text: shown(traceback || `${textOf(output.ename)}: ${textOf(output.evalue)}`) }];
  }
  const data = isObject(output.data) ? output.data : {};
  const picture = image(textOf(data["image/png"] ?? data["image/jpeg"]));
  if (picture !== null) return [picture];
  const text = textOf(data["text/plain"] ?? data["text/markdown"]);
  if (text !== "") return [{ kind: "text", text: shown(text) }];
  if ("text/html" in data) return [{ kind: "text", text: "HTML output, not shown" }];
  const type = Object.keys(data).find((name) => !name.startsWith("text/"));
  return type === undefined ? [] : [{ kind: "text", text: `${shown(type)} output, not shown` }];
}

function cellOf(cell: unknown): Cell | null {
  if (!isObject(cell)) return null;
  const isCode = cell.cell_type === "code";
  return {
    kind: isCode ? "code" : "text",
    count: isCode && typeof cell.execution_count === "number" ? String(cell.execution_count) : "",
    source: shown(textOf(cell.source)),
    outputs: isCode ? listOf(cell.outputs).flatMap(outputsOf) : [],
  };
}

/** null: it is none of format 4. */
export function parseNotebook(text: string): Notebook | null {
  try {
    const notebook: unknown = JSON.parse(text);
    if (!isObject(notebook) || !Array.isArray(notebook.cells)) return null;
    const cells = notebook.cells.slice(0, CELLS_MOST).map(cellOf).filter((cell) => cell !== null);
    return { cells, more: notebook.cells.length > CELLS_MOST };
  } catch {
    return null;
  }
}
