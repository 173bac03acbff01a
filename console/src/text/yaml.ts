// JSON values as YAML, as gcloud's --config reads it: block style, and quotes wherever a reader of YAML 1.1 or 1.2 could
// see something else in a text. Pure.
import { hasHidden, quotedText } from "./quoted.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** What some reader takes for true, false, nothing or a number, and not for a text. */
const WORD = /^(y|yes|n|no|on|off|true|false|null|nan|inf)$/i;
/** Begins with a letter, "/" or a flag, has no sign of YAML's that could mean something there. */
const PLAIN = /^(?:--?[A-Za-z]|[A-Za-z/]|_[A-Za-z])[A-Za-z0-9_/ .:@%+=,;()~^$?*!-]*$/;

/** The value with a line break at its end. */
export function toYaml(value: Json, indent = 0): string {
  return block(value, indent).join("\n") + "\n";
}

/** "key: value", over several lines if it has to be. */
export function entryLines(key: string, value: Json, indent: number): string[] {
  const head = `${" ".repeat(indent)}${scalar(key)}:`;
  if (isEmpty(value) || !isCollection(value)) return after(head, value, indent);
  return [head, ...block(value, Array.isArray(value) ? indent : indent + 2)];
}

function block(value: Json, indent: number): string[] {
  if (isEmpty(value) || !isCollection(value)) return after("", value, indent - 2).map((line) => line.trimStart());
  if (isList(value)) return value.flatMap((item) => itemLines(item, indent));
  return Object.entries(value).flatMap(([key, one]) => (one === undefined ? [] : entryLines(key, one, indent)));
}

/** "- value"; the first entry of a map is on the line of the dash. */
function itemLines(item: Json, indent: number): string[] {
  const dash = `${" ".repeat(indent)}-`;
  if (isEmpty(item) || !isCollection(item)) return after(dash, item, indent);
  const [first = "", ...rest] = block(item, indent + 2);
  return [`${dash} ${first.trimStart()}`, ...rest];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isCollection(value: Json): value is readonly Json[] | { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null;
}

function isEmpty(value: Json): boolean {
  return isCollection(value) && (isList(value) ? value : Object.values(value).filter((one) => one !== undefined)).length === 0;
}

/** A value that goes on the line of its key or dash. */
function after(head: string, value: Json, indent: number): string[] {
  const lead = head === "" ? "" : `${head} `;
  if (isCollection(value)) return [lead + (isList(value) ? "[]" : "{}")];
  if (typeof value === "string" && isLiteral(value)) {
    const inside = " ".repeat(Math.max(indent, 0) + 2);
    const whole = value.endsWith("\n");
    const lines = (whole ? value.slice(0, -1) : value).split("\n");
    return [`${lead}|${whole ? "" : "-"}`, ...lines.map((line) => (line === "" ? "" : inside + line))];
  }
  return [lead + (typeof value === "string" ? scalar(value) : number(value))];
}

function number(value: number | boolean | null): string {
  if (typeof value !== "number" || Number.isFinite(value)) return typeof value === "number" ? decimal(value) : String(value);
  return Number.isNaN(value) ? ".nan" : value > 0 ? ".inf" : "-.inf";
}

/** YAML 1.1 wants a point and the exponent's sign: 1e-7 is a text there. */
function decimal(value: number): string {
  const [digits = "", exponent] = String(value).split("e");
  if (exponent === undefined) return digits;
  return `${digits.includes(".") ? digits : `${digits}.0`}e${/^[+-]/.test(exponent) ? "" : "+"}${exponent}`;
}

/** Several lines that a literal block can hold as they are. */
function isLiteral(text: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length < 2 || hasHidden(text)) return false;
  // eslint-disable-next-line no-control-regex
  return (
    !/[\u0000-\u0009\u000b-\u001f]/.test(text) &&
    lines[0] !== "" &&
    !/^ /.test(text) &&
    lines.at(-1) !== "" &&
    lines.every((line) => line === line.trimEnd())
  );
}

/** A text in one line, quoted where it needs that. */
export function scalar(text: string): string {
  const plain = PLAIN.test(text) && !WORD.test(text) && !/: | #|^-.*- |[: ]$/.test(text) && !text.includes("://:");
  if (plain) return text;
  return quotedText(text);
}
