// Texts in double quotes, for YAML, JSON and Python alike, with nothing in them that a terminal or a page would not show.
// Pure.
import { HIDDEN } from "./plain.ts";

/** What is hidden, and what is broken. Above U+FFFF the three languages share no escape: that stays as it is. */
const ALL_HIDDEN = new RegExp(`(?![\\u{10000}-\\u{10ffff}])${HIDDEN.source}|\\p{Cs}|[\\ufffe\\uffff]`, "gu");

export function hasHidden(text: string): boolean {
  return text.search(ALL_HIDDEN) >= 0;
}

/** "a\u202eb" with the mark written as an escape. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replace(ALL_HIDDEN, escaped);
}

/** JSON over several lines, the same way. */
export function quotedJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(ALL_HIDDEN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
