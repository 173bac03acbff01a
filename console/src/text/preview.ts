// What an object is, by its first bytes, and how it is shown. Pure. Nothing of it is ever shown as a page.

/** Read at first, and again with each "more". */
export const TEXT_BYTES = 256 * 1024;
export const IMAGE_BYTES_MOST = 20 * 1024 * 1024;
export const JSON_BYTES_MOST = 2 * 1024 * 1024;

export type Kind = "image" | "events" | "notebook" | "json" | "csv" | "text" | "binary";

const MAGIC: readonly (readonly [string, string])[] = [
  ["89504e470d0a1a0a", "image/png"],
  ["ffd8ff", "image/jpeg"],
  ["474946383761", "image/gif"],
  ["474946383961", "image/gif"],
  ["424d", "image/bmp"],
];

const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Its type, if it begins as an image that browsers show; "" else. SVG is text: it can have scripts in it. */
export function imageType(begin: Uint8Array): string {
  const hex = hexOf(begin.subarray(0, 12));
  if (hex.startsWith("52494646") && hex.slice(16) === "57454250") return "image/webp";
  return MAGIC.find(([magic]) => hex.startsWith(magic))?.[1] ?? "";
}

export function kindOf(name: string, begin: Uint8Array): Kind {
  if (imageType(begin) !== "") return "image";
  if (/(^|\/)events\.out\.tfevents\./.test(name)) return "events";
  if (isBinary(begin)) return "binary";
  if (/\.ipynb$/i.test(name)) return "notebook";
  if (/\.json$/i.test(name)) return "json";
  return /\.(csv|tsv)$/i.test(name) ? "csv" : "text";
}

/** Whether it is no text: a NUL, or too much that is no UTF-8. */
export function isBinary(begin: Uint8Array): boolean {
  const some = begin.subarray(0, 8192);
  if (some.includes(0)) return true;
  const text = new TextDecoder().decode(some);
  const wrong = text.split("\ufffd").length - 1;
  return wrong > 2 && wrong > text.length / 50;
}

/** The first bytes as people read them who want to know what it is: offset, hex, characters. */
export function hexDump(bytes: Uint8Array, most = 512): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
    const row = bytes.subarray(at, Math.min(at + 16, most));
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    const plain = [...row].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    rows.push(`${at.toString(16).padStart(6, "0")}  ${hex}  ${plain}`);
  }
  return rows.join("\n");
}

/** Indented, if it is JSON as a whole; null: it is not. */
export function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

export interface Table {
  readonly rows: readonly (readonly string[])[];
  /** There are more rows, or more columns. */
  readonly more: boolean;
}

/** RFC 4180, and tabs; the first rows and columns. */
export function parseTable(text: string, separator: "," | "\t", rowsMost = 200, columnsMost = 50): Table {
  const rows: string[][] = [];
  let row: string[] = [];
  let wide = false;
  let at = 0;
  const cell = (): string => {
    if (text[at] !== '"') {
      const begin = at;
      while (at < text.length && text[at] !== separator && text[at] !== "\n") at += 1;
      return text.slice(begin, at).replace(/\r$/, "");
    }
    let value = "";
    for (at += 1; at < text.length; at += 1) {
      if (text[at] !== '"') value += text[at];
      else if (text[at + 1] === '"') {
        value += '"';
        at += 1;
      } else break;
    }
    at += 1;
    while (at < text.length && text[at] !== separator && text[at] !== "\n") at += 1;
    return value;
  };
  while (at < text.length && rows.length < rowsMost) {
    const value = cell();
    if (row.length < columnsMost) row.push(value);
    else wide = true;
    if (text[at] === separator) at += 1;
    else {
      at += 1;
      rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push(row);
  return { rows, more: wide || at < text.length };
}
