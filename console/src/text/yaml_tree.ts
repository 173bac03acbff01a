// Reads YAML and remembers on which lines its parts are, so that a form can change one of them and leave the rest, comments
// included, as it is. Pure. Read is what people write in a job's YAML; anchors, aliases, tags and several documents are
// refused with their line.
import { FlowReader, unescape } from "./yaml_flow.ts";
import { type Entry, type Tree, YamlError } from "./yaml_types.ts";

export { type Entry, type Tree, YamlError };

/** The text as a tree; an empty one is an empty map. */
export function parseYaml(text: string): Tree {
  const reader = new BlockReader(text.split(/\r\n|\n/));
  return reader.document();
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#"'[\]{},&*!|>%@`?-][^#]*?|[?-][^\s#][^#]*?))\s*:(?=\s|$)/;

class BlockReader {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  document(): Tree {
    this.skip();
    if (/^---\s*(#.*)?$/.test(this.lines[this.at] ?? "")) this.at += 1;
    this.skip();
    if (this.at >= this.lines.length) return { kind: "map", entries: [], flow: false, line: 0, end: 0 };
    const tree = this.node(0);
    this.skip();
    if (this.at < this.lines.length) throw new YamlError(this.at, "This line is indented otherwise than what it belongs to.");
    return tree;
  }

  /** To the next line that has something. */
  private skip(): void {
    while (this.at < this.lines.length && /^\s*(#.*)?$/.test(this.lines[this.at] ?? "")) this.at += 1;
    const line = this.lines[this.at] ?? "";
    if (/^ *\t/.test(line)) throw new YamlError(this.at, "Indent with spaces: YAML takes no tabs.");
    if (/^(---|\.\.\.)(\s|$)/.test(line) && this.at > 0) throw new YamlError(this.at, "Only one document is read.");
  }

  private indent(): number {
    return /^ */.exec(this.lines[this.at] ?? "")?.[0].length ?? 0;
  }

  /** What begins on this line, at least that far in. */
  private node(column: number): Tree {
    const indent = Math.max(this.indent(), column);
    const text = (this.lines[this.at] ?? "").slice(indent);
    if (/^-(\s|$)/.test(text)) return this.list(indent);
    if (KEY.test(text)) return this.map(indent);
    return this.scalar(this.at, indent, -1);
  }

  private list(indent: number): Tree {
    const line = this.at;
    const items: Tree[] = [];
    let end = this.at;
    for (; this.at < this.lines.length && this.isAt(indent, /^-(\s|$)/); this.skip()) {
      const inside = indent + 1 + (/^-( *)/.exec(this.lineFrom(indent))?.[1]?.length ?? 0);
      const rest = this.lineFrom(inside).trim();
      const item =
        rest === "" || rest.startsWith("#")
          ? this.below(indent, false)
          : /^-(\s|$)/.test(rest)
            ? this.replaced(inside, () => this.list(inside))
            : KEY.test(rest)
              ? this.replaced(inside, () => this.map(inside))
              : this.scalar(this.at, inside, indent);
      items.push(item);
      end = Math.max(item.end, end + 1);
    }
    return { kind: "list", items, flow: false, line, end };
  }

  /** A map or list that begins behind a dash: the dash counts as indentation. */
  private replaced(column: number, read: () => Tree): Tree {
    const lines = this.lines as string[];
    const old = lines[this.at] ?? "";
    const at = this.at;
    lines[at] = " ".repeat(column) + old.slice(column);
    const tree = read();
    lines[at] = old;
    return tree;
  }

  private map(indent: number): Tree {
    const line = this.at;
    const entries: Entry[] = [];
    let end = this.at;
    for (; this.at < this.lines.length && this.indent() === indent && !this.isAt(indent, /^-(\s|$)/); this.skip()) {
      const found = KEY.exec(this.lineFrom(indent));
      if (found === null) throw new YamlError(this.at, "A key and a colon are missing here.");
      const key = found[1] !== undefined ? unescape(found[1], this.at) : (found[2]?.replaceAll("''", "'") ?? found[3] ?? "");
      if (entries.some((entry) => entry.key === key)) throw new YamlError(this.at, `${key} is there twice.`);
      const keyLine = this.at;
      const rest = this.lineFrom(indent + found[0].length);
      const value = /^\s*(#.*)?$/.test(rest)
        ? this.below(indent, true)
        : this.scalar(this.at, indent + found[0].length + (/^\s*/.exec(rest)?.[0].length ?? 0), indent);
      entries.push({ key, line: keyLine, indent, value });
      end = Math.max(value.end, keyLine + 1);
    }
    if (this.at < this.lines.length && this.indent() > indent) {
      throw new YamlError(this.at, "This line is indented otherwise than what it belongs to.");
    }
    return { kind: "map", entries, flow: false, line, end };
  }

  /** What a key or a dash with nothing behind it has: the lines below that are further in. */
  private below(indent: number, ofKey: boolean): Tree {
    const line = this.at;
    this.at += 1;
    this.skip();
    const deeper = this.at < this.lines.length && (this.indent() > indent || (ofKey && this.isAt(indent, /^-(\s|$)/)));
    return deeper ? this.node(0) : { kind: "text", text: "", quoted: false, line, end: line + 1 };
  }

  private lineFrom(column: number): string {
    return (this.lines[this.at] ?? "").slice(column);
  }

  private isAt(indent: number, what: RegExp): boolean {
    return this.indent() === indent && what.test(this.lineFrom(indent));
  }

  /** A text, or a collection in brackets. `parent`: how far in its key is. */
  private scalar(line: number, column: number, parent: number): Tree {
    const first = this.lineFrom(column);
    const style = /^([|>])([+-]?)([1-9]?)([+-]?)\s*(#.*)?$/.exec(first);
    if (style) return this.literal(line, parent, style[1] === ">", (style[2] ?? "") + (style[4] ?? ""), Number(style[3]));
    if (/^[&*!]/.test(first)) throw new YamlError(line, "Anchors, aliases and tags are not read here.");
    if (/^["'[{]/.test(first)) {
      const tree = new FlowReader(this.lines, line, column).whole();
      this.at = tree.end;
      return tree;
    }
    if (/^[%@`]/.test(first)) throw new YamlError(line, "A text that begins like this needs quotes.");
    const parts = [plain(first, line)];
    this.at += 1;
    for (
      let next = this.lines[this.at];
      next?.trim() && this.indent() > parent && !/^\s*#/.test(next);
      next = this.lines[this.at]
    ) {
      if (KEY.test(next.trim())) throw new YamlError(this.at, "This line is indented otherwise than what it belongs to.");
      parts.push(plain(next.trim(), this.at));
      this.at += 1;
    }
    return { kind: "text", text: parts.join(" "), quoted: false, line, end: this.at };
  }

  private literal(line: number, parent: number, folded: boolean, keep: string, given: number): Tree {
    this.at += 1;
    const found: string[] = [];
    let inside = given ? Math.max(parent, 0) + given : 0;
    for (let next = this.lines[this.at]; next !== undefined; next = this.lines[this.at]) {
      if (next.trim() !== "") {
        if (this.indent() <= parent) break;
        inside ||= this.indent();
        if (this.indent() < inside) break;
      }
      found.push(next.slice(inside));
      this.at += 1;
    }
    let blank = 0;
    while (found.at(-1)?.trim() === "") blank += found.pop() === undefined ? 0 : 1;
    const text = folded
      ? found
          .join("\n")
          .replace(/(?<=\S)\n(?=\S)/g, " ")
          .replace(/\n\n/g, "\n")
      : found.join("\n");
    const tail = keep === "-" || found.length === 0 ? "" : keep === "+" ? "\n".repeat(blank + 1) : "\n";
    return { kind: "text", text: text + tail, quoted: true, line, end: this.at - blank };
  }
}

function plain(text: string, line: number): string {
  const bare = text.replace(/\s+#.*$/, "").trimEnd();
  if (/:(\s|$)/.test(bare)) throw new YamlError(line, "A text with a colon and a space needs quotes.");
  return bare;
}
