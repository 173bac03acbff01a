import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { NOTEBOOK_PROGRAM, readNotebook, SCRIPT_FILE } from "../src/text/notebook_program.ts";
import { DATA_BYTES_MAX, FRAMEWORKS, guessRuntime, packProgram, planProgram } from "../src/text/program.ts";
import { readRequirements } from "../src/text/requirements.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (archive: Uint8Array) => new TextDecoder().decode(archive);
const plan = (...files: (readonly [string, number])[]) => planProgram(files.map(([path, size]) => ({ path, size })));

describe("a program of this computer", () => {
  it("is the likeliest of the files at the top", () =>
    expect(plan(["util.py", 1], ["a/main.py", 1], ["train.py", 1], ["x.ipynb", 1]).programs).toEqual(["train.py", "util.py", "x.ipynb"]));
  it("has no junk with it, and only so much data", () => {
    const { files, leftBehind } = plan(
      ["train.py", 1], [".git/a", 1], ["venv/b.py", 1], ["c.csv", DATA_BYTES_MAX], ["d.csv", DATA_BYTES_MAX + 1], ["e.csv", 5]);
    expect(files.map(({ path }) => path)).toEqual(["train.py", "e.csv"]);
    expect(leftBehind.map(({ path }) => path)).toEqual(["d.csv", "c.csv"]);
  });
  it("is needed", () => expect(() => plan(["a.csv", 1])).toThrow("no .py file and no notebook"));
  it("becomes a wheel with its files, its requirements and its runtime version", () => {
    const files = new Map([["train.py", bytes("import net\n")], ["net.py", bytes("import torch.nn as nn\n")], ["requirements.txt", bytes("tqdm # bar\n")]]);
    const { wheel, runtime, name } = packProgram(files, "train.py", "");
    expect([wheel.name, runtime, name]).toEqual(["trainyard_program-0-py3-none-any.whl", "pytorch-2.15", "train"]);
    expect(textOf(wheel.bytes)).toContain('["train.py"]\n');
    expect(textOf(wheel.bytes)).toContain("Requires-Dist: tqdm\n");
    expect(textOf(wheel.bytes)).toContain("trainyard_program/files/net.py");
  });
  it("is a module of its package", () => {
    const { wheel } = packProgram(new Map([["__init__.py", bytes("")], ["task.py", bytes("")]]), "task.py", "trainer");
    expect(textOf(wheel.bytes)).toContain('["-m","trainer.task"]\n');
    expect(textOf(wheel.bytes)).toContain("trainyard_program/files/trainer/task.py");
  });
  it("that is a notebook is sent with the script of its cells and what runs them, under names that trainyard run has", () => {
    const cells = [{ cell_type: "markdown", source: "x" }, { cell_type: "code", source: ["!pip install -q 'tqdm'\n", "print(1)"] }];
    const { wheel, name } = packProgram(new Map([["a.ipynb", bytes(JSON.stringify({ cells }))], ["a.py", bytes("")]]), "a.ipynb", "folder");
    expect(name).toBe("a");
    expect(textOf(wheel.bytes)).toContain(`["${NOTEBOOK_PROGRAM}"]\n`);
    expect(textOf(wheel.bytes)).toContain(`trainyard_program/files/${SCRIPT_FILE}`);
    expect(textOf(wheel.bytes)).toContain("# cell 1\npass\nprint(1)\n");
    expect(textOf(wheel.bytes)).toContain('\n\nif __name__ == "__main__":\n    run("a.ipynb")\n');
    expect(readFileSync("../src/cli/run/notebook.h", "utf8")).toContain(`kNotebookProgram = "${NOTEBOOK_PROGRAM}"`);
    expect(readFileSync("../src/cli/run/notebook.cc", "utf8")).toContain(`kScriptFile = "${SCRIPT_FILE}"`);
    expect(textOf(wheel.bytes)).toContain("Runs a notebook's cells one after the other");
    expect(textOf(wheel.bytes)).toContain("Requires-Dist: tqdm\n");
  });
  it("asks for a runtime only by what it imports itself", () => {
    const sources = new Map([["a.py", "import os, keras\n"], ["b.py", "from c import d\n"], ["c.py", ""], ["e.py", "import torch\n"]]);
    expect(["a.py", "b.py", "e.py"].map((program) => guessRuntime(sources, program))).toEqual(["2.15", "", "pytorch-2.15"]);
  });
});

it("the frameworks choose the runtime versions that trainyard run chooses", () => {
  const own = readFileSync("../src/cli/run/program_package.cc", "utf8");
  const versions = new Map([...own.matchAll(/(k\w+) = "([\w.-]+)";/g)].map(([, name = "", version = ""]) => [name, version]));
  const frameworks = [...own.matchAll(/\{"(\w+)", (k\w+)\}/g)].map(([, name = "", version = ""]) => [name, versions.get(version)]);
  expect([...FRAMEWORKS]).toEqual(frameworks);
});

describe("a notebook", () => {
  const notebook = (...cells: string[]) => JSON.stringify({ cells: cells.map((source) => ({ cell_type: "code", source })) });
  it("loses what only a page needs", () =>
    expect(readNotebook(notebook("%matplotlib inline\n%time f()\nhelp?\n", "%%html\n<b>", "%%time\ng()")).source).toContain(
      "# cell 1\npass\nf()\npass\n\n# cell 2\n# cell 3\n\ng()\n"));
  it("begins with its imports from __future__", () =>
    expect(readNotebook(notebook("from __future__ import annotations\nx = 1")).source).toMatch(/^from __future__ import annotations\ntry:/));
  it.each([["%%bash\nls", "%%bash"], ["!ls", "!ls"], ["%run a.py", "%run a.py"], ["!pip install -r a.txt", "!pip install -r a.txt"]])(
    "with %j is refused", (cell, said) => expect(() => readNotebook(notebook("x = 1", cell))).toThrow(`Cell 2 has “${said}”`));
  it("has cells", () => expect(() => readNotebook("{}")).toThrow("no list of cells"));
  it("is JSON", () => expect(() => readNotebook("<<<<<<< HEAD")).toThrow("This is not a notebook: it is not JSON: "));
});

describe("requirements", () => {
  const read = (text: string, others: Record<string, string> = {}) =>
    readRequirements("requirements.txt", (path) => ({ "requirements.txt": text, ...others })[path]);
  it("are named, one a line", () =>
    expect(read("a==1 # why\n\n# no\nb @ https://h/b.whl#x\n-r more.txt\nc \\\n  >=2", { "more.txt": "d" })).toEqual([
      "a==1", "b @ https://h/b.whl#x", "d", "c   >=2"]));
  it.each([["--index-url https://h", "an option of pip"], ["./local", "a path"], ["https://h/x.whl", "does not name"], ["-r gone", "not chosen"]])(
    "cannot be %s", (line, why) => expect(() => read(line)).toThrow(why));
});
