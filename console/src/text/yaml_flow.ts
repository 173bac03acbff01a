// The part of YAML that is written in quotes and brackets: "a", 'b', [c, d], {e: f}. Pure.
import { type Entry, type Tree, YamlError } from "./yaml_types.ts";

export class FlowReader {
  constructor(
    private readonly lines: readonly string[],
    private line: number,
    private column: number,
  ) {}

  /** One value, with nothing but a comment behind it. */
  whole(): Tree {
    const tree = this.value();
    const rest = (this.lines[this.line] ?? "").slice(this.column);
    if (!/^\s*$|^\s+#/.test(rest)) throw new YamlError(this.line, "Something is left over at the end of this line.");
    return { ...tree, end: this.line + 1 };
  }

  private value(): Tree {
    this.space();
    const line = this.line;
    const next = this.peek();
    if (next === "[") return this.list(line);
    if (next === "{") return this.map(line);
    if (next === '"' || next === "'") return { kind: "text", text: this.quoted(next), quoted: true, line, end: this.line + 1 };
    if (/[&*!|>%@`]/.test(next)) throw new YamlError(line, "Anchors, aliases and tags are not read here.");
    const found = /^(?:[^,[\]{}:#\n]|:(?![\s,[\]{}]|$)|(?<=\S)#)*/.exec((this.lines[line] ?? "").slice(this.column))?.[0] ?? "";
    this.column += found.length;
    return { kind: "text", text: found.trim(), quoted: false, line, end: line + 1 };
  }

  private list(line: number): Tree {
    const items: Tree[] = [];
    this.column += 1;
    for (this.space(); this.peek() !== "]"; this.space()) {
      items.push(this.value());
      this.space();
      if (this.peek() === ",") this.column += 1;
      else if (this.peek() !== "]") throw new YamlError(this.line, "A comma or a ] is missing here.");
    }
    this.column += 1;
    return { kind: "list", items, flow: true, line, end: this.line + 1 };
  }

  private map(line: number): Tree {
    const entries: Entry[] = [];
    this.column += 1;
    for (this.space(); this.peek() !== "}"; this.space()) {
      const { line: keyLine, column: indent } = this;
      const key = this.value();
      if (key.kind !== "text") throw new YamlError(keyLine, "A key has to be a text.");
      this.space();
      const missing: Tree = { kind: "text", text: "", quoted: false, line: keyLine, end: keyLine + 1 };
      let value: Tree = missing;
      if (this.peek() === ":") {
        this.column += 1;
        value = this.value();
      }
      entries.push({ key: key.text, line: keyLine, indent, value });
      this.space();
      if (this.peek() === ",") this.column += 1;
      else if (this.peek() !== "}") throw new YamlError(this.line, "A comma or a } is missing here.");
    }
    this.column += 1;
    return { kind: "map", entries, flow: true, line, end: this.line + 1 };
  }

  private quoted(quote: string): string {
    const begin = this.line;
    let found = "";
    for (this.column += 1; ; this.column += 1) {
      const character = (this.lines[this.line] ?? "")[this.column];
      if (character === undefined) {
        this.line += 1;
        if (this.line >= this.lines.length) throw new YamlError(begin, "The quote at the end is missing.");
        this.column = (/^\s*/.exec(this.lines[this.line] ?? "")?.[0].length ?? 0) - 1;
        if (quote === '"' && /(?<!\\)(?:\\\\)*\\$/.test(found)) found = found.slice(0, -1);
        else
          found =
            found.replace(/[ \t]+$/, "") + ((this.lines[this.line] ?? "").trim() === "" ? "\n" : found.endsWith("\n") ? "" : " ");
      } else if (character === "\\" && quote === '"') {
        found += character + ((this.lines[this.line] ?? "")[this.column + 1] ?? "");
        this.column += 1;
      } else if (character === quote) {
        this.column += 1;
        if (quote === "'" && this.peek() === "'") found += "'";
        else return quote === '"' ? unescape(found, begin) : found;
      } else found += character;
    }
  }

  private peek(): string {
    return (this.lines[this.line] ?? "")[this.column] ?? "";
  }

  /** To the next character that means something; at the end there is none. */
  private space(): void {
    for (;;) {
      const rest = (this.lines[this.line] ?? "").slice(this.column);
      const blank = /^\s*(?:#.*)?$/.test(rest) ? rest.length : (/^\s*/.exec(rest)?.[0].length ?? 0);
      this.column += blank;
      if (this.peek() !== "") return;
      if (this.line + 1 >= this.lines.length) throw new YamlError(this.line, "A bracket is not closed.");
      this.line += 1;
      this.column = 0;
    }
  }
}

/** The inside of double quotes. */
export function unescape(text: string, line: number): string {
  const named: Record<string, string> = {
    n: "\n",
    t: "\t",
    r: "\r",
    b: "\b",
    f: "\f",
    v: "\v",
    a: "\x07",
    e: "\x1b",
    "0": "\0",
    N: "\x85",
    _: "\xa0",
    L: "\u2028",
    P: "\u2029",
  };
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/g, (_, code: string) => {
    if (code.length > 1) {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) throw new YamlError(line, `There is no character \\${code}.`);
      return code.startsWith("u") ? String.fromCharCode(point) : String.fromCodePoint(point);
    }
    return named[code] ?? code;
  });
}
