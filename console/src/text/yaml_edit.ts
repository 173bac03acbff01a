// Fields of a YAML text, read and changed in place: what is not changed stays as it was written. Pure.
import { entryLines, type Json } from "./yaml.ts";
import { type Entry, parseYaml, type Tree } from "./yaml_tree.ts";

/** Keys of maps and numbers of list items: ["trainingInput", "args", 0]. */
export type Path = readonly (string | number)[];

/** What is there; undefined: nothing. */
export function treeAt(tree: Tree, path: Path): Tree | undefined {
  let at: Tree | undefined = tree;
  for (const step of path) {
    if (at === undefined) return undefined;
    at = typeof step === "number" ? itemOf(at, step) : entryOf(at, step)?.value;
  }
  return at;
}

function entryOf(tree: Tree, key: string): Entry | undefined {
  return tree.kind === "map" ? tree.entries.find((entry) => entry.key === key) : undefined;
}

function itemOf(tree: Tree, at: number): Tree | undefined {
  return tree.kind === "list" ? tree.items[at] : undefined;
}

/** A text's value; "" where there is none. */
export function textAt(tree: Tree, path: Path): string {
  const found = treeAt(tree, path);
  return found?.kind === "text" ? found.text : "";
}

/** The texts of a list. */
export function textsAt(tree: Tree, path: Path): string[] {
  const found = treeAt(tree, path);
  return found?.kind === "list" ? found.items.map((item) => (item.kind === "text" ? item.text : "")) : [];
}

/** The text with this value at a path of keys; undefined takes it away, and the maps that are empty then. */
export function withField(text: string, path: readonly string[], value: Json | undefined): string {
  const tree = parseYaml(text);
  const lines = text.split(/\r\n|\n/);
  let map = tree;
  for (let depth = 0; depth < path.length; depth += 1) {
    const key = path[depth] ?? "";
    const entry = entryOf(map, key);
    const isLast = depth === path.length - 1;
    if (entry === undefined) {
      if (value === undefined) return text;
      const indent = map.kind === "map" && map.entries[0] !== undefined ? map.entries[0].indent : 0;
      const at = map.kind === "map" && map.entries.length > 0 ? map.end : lines.findLastIndex((line) => line.trim() !== "") + 1;
      return replaced(lines, at, at, entryLines(key, nested(path.slice(depth + 1), value), indent));
    }
    const next = entry.value;
    const editable = next.kind === "map" && !next.flow && next.entries.length > 0;
    if (isLast || !editable) {
      const whole = isLast ? value : merged(next, path.slice(depth + 1), value);
      if (whole === undefined) return without(text, lines, tree, path.slice(0, depth + 1));
      return replaced(lines, entry.line, next.end, entryLines(key, whole, entry.indent));
    }
    map = next;
  }
  return text;
}

function replaced(lines: readonly string[], from: number, to: number, by: readonly string[]): string {
  const text = lines.toSpliced(from, to - from, ...by).join("\n");
  return text.endsWith("\n") || text === "" ? text : `${text}\n`;
}

/** Takes the entry away, or the outermost map that has nothing but it. */
function without(text: string, lines: readonly string[], tree: Tree, path: readonly string[]): string {
  let map = tree;
  let gone: Entry | undefined;
  for (const key of path) {
    const entry = entryOf(map, key);
    if (entry === undefined) return text;
    if (gone === undefined || (map.kind === "map" && map.entries.length > 1)) gone = entry;
    map = entry.value;
  }
  return gone === undefined ? text : replaced(lines, gone.line, gone.value.end, []);
}

function nested(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}

/** A map in brackets, or nothing yet, with a value further in. */
function merged(tree: Tree, path: readonly string[], value: Json | undefined): Json | undefined {
  const old = tree.kind === "map" ? (toJson(tree) as Record<string, Json | undefined>) : {};
  const [key = "", ...rest] = path;
  const inner =
    rest.length === 0
      ? value
      : merged(entryOf(tree, key)?.value ?? { ...tree, kind: "map", entries: [], flow: true }, rest, value);
  const { [key]: _, ...others } = old;
  const whole = inner === undefined ? others : { ...others, [key]: inner };
  return Object.keys(whole).length === 0 ? undefined : whole;
}

/** All of it, with texts as they are: what they mean in a job is job_yaml.ts's. */
export function toJson(tree: Tree): Json | undefined {
  if (tree.kind === "list") return tree.items.map((item) => toJson(item) ?? "");
  if (tree.kind === "text") return tree.text;
  return Object.fromEntries(tree.entries.map((entry) => [entry.key, toJson(entry.value)]));
}
