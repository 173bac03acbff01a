// Words of a shell's command line. Pure.
import { hasHidden } from "./quoted.ts";

/** What a terminal would act on while a command is pasted. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/** One word, in quotes where it needs them; with control characters or hidden ones in those of bash and zsh: $'\x1b'. */
export function word(text: string): string {
  if (text !== "" && /^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text;
  if (CONTROL.test(text) || hasHidden(text)) return `$'${Array.from(text, ansiC).join("")}'`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function ansiC(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (!CONTROL.test(character) && !hasHidden(character)) return character;
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

/** A command over several lines, each after the first one indented. */
export function commandLines(parts: readonly string[]): string {
  return parts.join(" \\\n    ");
}

/** "<<'END'" and the text with its end: a delimiter that no line of the text is. */
export function hereDocument(text: string): { readonly mark: string; readonly body: string } {
  const lines = new Set(text.split("\n"));
  let name = "END";
  for (let count = 1; lines.has(name); count += 1) name = `END_${count}`;
  return { mark: `<<'${name}'`, body: `${text.endsWith("\n") ? text : `${text}\n`}${name}` };
}
