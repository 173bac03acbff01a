// Text that anybody may have written, made safe to look at. Pure.

/**
 * Characters that are not seen, or that change how their neighbours are shown: controls but tab and newline, formats (bidi,
 * zero width, tags), line and paragraph separators, and what fonts ignore (fillers, variation selectors). Each gets a sign
 * of its own.
 */
export const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return `^${String.fromCharCode(0x40 + code)}`;
  if (code === 0x7f) return "^?";
  return `\u27e8${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

/** The text with control characters, direction marks and invisible ones as signs: "a\u202eb" -> "a⟨202E⟩b", an escape -> "^[". */
export function visible(text: string): string {
  return text.replace(HIDDEN, sign);
}

/** Its beginning, where it is longer than that. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`; // no half of a character
}

/** For attributes and titles, where there are no components: short, and without hidden characters. */
export function plain(text: string, longest = 500): string {
  return visible(cut(text, longest));
}
