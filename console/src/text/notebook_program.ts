// A notebook as a program: the rules of src/cli/run/notebook.cc. Pure.
import runner from "../../../src/cli/run/notebook_runner.py";
import { isNamed } from "./requirements.ts";

/** What Python is started with, and the script: as in src/cli/run/notebook.cc, a test compares them. */
export const NOTEBOOK_PROGRAM = "trainyard_notebook.py";
export const SCRIPT_FILE = "trainyard_cells.py";

export interface Script {
  readonly source: string;
  readonly requirements: readonly string[];
}

const PAGE = new Set(["matplotlib", "load_ext", "reload_ext", "autoreload", "config", "precision", "xmode", "colors"]);
const PLAIN_CELLS = new Set(["time", "capture"]);
const SHOWN_CELLS = new Set(["html", "HTML", "markdown", "latex", "javascript", "svg"]);
const PIP_SWITCHES = new Set(["-q", "--quiet", "-U", "--upgrade", "--user"]);
const PRELUDE = "try:\n    display\nexcept NameError:\n    def display(*things):\n        print(*things)\n";

interface Cell {
  readonly cell_type?: string;
  readonly source?: string | readonly string[];
}

/** Errors, in one sentence: what only a notebook can do. */
export function readNotebook(text: string): Script {
  const { cells, language } = parse(text);
  const requirements: string[] = [];
  const future: string[] = [];
  const code = cells.filter((cell) => cell.cell_type === "code");
  if (language !== "" && language !== "python") throw new Error(`The notebook is written in ${language}, not in Python.`);
  if (code.length === 0) throw new Error("The notebook has no code.");
  const parts = code.map((cell, at) => `# cell ${at + 1}\n${readCell(cell, at + 1, requirements, future)}`);
  return { source: future.map((line) => `${line}\n`).join("") + PRELUDE + parts.join(""), requirements };
}

/** The script, the notebook `file`, and the program that runs the cells of the script and writes their outputs into the notebook. */
export function notebookFiles(file: string, json: string, { source }: Script): [string, string][] {
  return [
    [SCRIPT_FILE, source],
    [file, json],
    [NOTEBOOK_PROGRAM, `${runner}\n\nif __name__ == "__main__":\n    run(${JSON.stringify(file)})\n`],
  ];
}

function parse(text: string): { cells: readonly Cell[]; language: string } {
  let read: { cells?: unknown; metadata?: { kernelspec?: { language?: unknown } } } | null;
  try {
    read = JSON.parse(text) as typeof read;
  } catch (error) {
    throw new Error(`This is not a notebook: it is not JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(read?.cells)) throw new Error("This is not a notebook of format 4: it has no list of cells.");
  return { cells: read.cells as readonly Cell[], language: String(read.metadata?.kernelspec?.language ?? "") };
}

function readCell({ source = "" }: Cell, number: number, requirements: string[], future: string[]): string {
  const lines = (typeof source === "string" ? source : source.join("")).split(/\r?\n/);
  const refuse = (line: string) =>
    new Error(`Cell ${number} has “${line}”, which only works in a notebook. Remove the line, or write it in Python.`);
  const first = lines.findIndex((line) => line !== "");
  const magic = /^%%(\w*)/.exec(lines[first] ?? "")?.[1];
  if (magic !== undefined) {
    if (SHOWN_CELLS.has(magic)) return "";
    if (!PLAIN_CELLS.has(magic)) throw refuse(lines[first] ?? "");
    lines[first] = ""; // kept, so that lines are numbered as on the page
  }
  let inFuture = false; // an import from __future__ has to come first, and goes on in brackets or behind a backslash
  return lines.map((line) => {
    if (inFuture || line.startsWith("from __future__ import")) {
      future.push(line);
      const all = future.join("\n");
      inFuture = line.endsWith("\\") || (all.lastIndexOf("(") > all.lastIndexOf(")"));
      return "\n";
    }
    const [, indent = "", code = ""] = /^([ \t]*)(.*)$/.exec(line) ?? [];
    const said = pythonOf(code, requirements);
    if (said === undefined) throw refuse(code);
    const isMark = /^# cell \d*$/.test(line); // the line that begins a cell of the script
    return `${indent}${said}${isMark ? " " : ""}\n`;
  }).join("");
}

/** undefined: it only works in a notebook. */
function pythonOf(code: string, requirements: string[]): string | undefined {
  if (code.startsWith("!")) return pip(code.slice(1), requirements);
  const magic = /^%([a-z]\w*)\s*/.exec(code);
  if (magic?.[1] === "pip") return pip(code.slice(1), requirements);
  if (magic?.[1] === "time") return code.slice(magic[0].length);
  if (magic) return PAGE.has(magic[1] ?? "") ? "pass" : undefined;
  return /^(\?\S*|\S+\?)$/.test(code) ? "pass" : code; // help on a name
}

function pip(command: string, requirements: string[]): string | undefined {
  const [tool = "", verb, ...words] = command.trim().split(/\s+/);
  if (!tool.startsWith("pip") || verb !== "install" || words.length === 0) return undefined;
  for (const word of words) {
    if (PIP_SWITCHES.has(word)) continue;
    const name = word.replace(/^(["'])(.*)\1$/, "$2");
    if (/^[-./]|[|;&$`]/.test(word) || !isNamed(name)) return undefined;
    requirements.push(name);
  }
  return "pass";
}
