// JSON values as a Python program writes them. Pure.
import { quotedText } from "./quoted.ts";
import type { Json } from "./yaml.ts";

export function toPython(value: Json | undefined, indent = 0): string {
  const inside = " ".repeat(indent + 4);
  const end = `\n${" ".repeat(indent)}`;
  if (value === undefined || value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quotedText(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? String(value) : `float("${Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf"}")`;
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => `${inside}${toPython(item, indent + 4)},`);
    return items.length === 0 ? "[]" : `[\n${items.join("\n")}${end}]`;
  }
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  const lines = entries.map(([key, one]) => `${inside}${toPython(key)}: ${toPython(one, indent + 4)},`);
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}${end}}`;
}
