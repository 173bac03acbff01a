// A program of the user's computer, as `trainyard run` sends it: docs/run.md, src/cli/run. Pure.
import { bytes as sizeText } from "./format.ts";
import { NOTEBOOK_PROGRAM, notebookFiles, readNotebook, SCRIPT_FILE } from "./notebook_program.ts";
import { readRequirements } from "./requirements.ts";
import { programWheel, type Wheel } from "./wheel.ts";

/** A file that was chosen, by its path below the folder or by its name. */
export interface Chosen {
  readonly path: string;
  readonly size: number;
}

// The limits of `trainyard run`: src/cli/run/program_files.h.
export const MODULES_MAX = 2_000;
export const MODULE_BYTES_MAX = 16 * 2 ** 20;
export const DATA_BYTES_MAX = 64 * 2 ** 20;
/** A folder of more files than this is refused: the browser has to list them all. */
export const ENTRIES_MAX = 20_000;

const JUNK = /^(\..*|__pycache__|venv|node_modules|site-packages|.*\.pyc|.*\.egg-info)$/;
const FIRST = ["__main__", "main", "train", "task"];

/** What is sent of the files that were chosen. */
export interface Plan<File extends Chosen> {
  readonly files: readonly File[];
  /** Programs at the top, the likeliest first. */
  readonly programs: readonly string[];
  /** The folder is a package: its program is started as a module of that name. */
  readonly isPackage: boolean;
  /** Data for which there is no room, the largest first. */
  readonly leftBehind: readonly File[];
}

/** Errors, in one sentence: there is no program, or too much of it. */
export function planProgram<File extends Chosen>(chosen: readonly File[]): Plan<File> {
  if (chosen.length > ENTRIES_MAX)
    throw new Error(`The folder has ${chosen.length} files; at most ${ENTRIES_MAX} are looked at. Choose the program's own folder.`);
  const seen = chosen.filter(({ path }) => !path.split("/").some((part) => JUNK.test(part)));
  const modules = seen.filter(({ path }) => path.endsWith(".py"));
  const size = modules.reduce((sum, file) => sum + file.size, 0);
  if (modules.length > MODULES_MAX || size > MODULE_BYTES_MAX)
    throw new Error(
      `${modules.length} Python files of ${sizeText(size)} together were chosen; at most ${MODULES_MAX} of ` +
        `${sizeText(MODULE_BYTES_MAX)} can be sent. Choose the program's own folder.`,
    );
  const data = seen.filter(({ path }) => !path.endsWith(".py")).sort((one, other) => one.size - other.size);
  let total = 0;
  const sent = data.filter(({ size: more }) => (total += more) <= DATA_BYTES_MAX);
  const programs = seen.map(({ path }) => path).filter((path) => /^[^/]+\.(py|ipynb)$/.test(path) && path !== "__init__.py");
  if (programs.length === 0) throw new Error("There is no .py file and no notebook among the files that were chosen.");
  const rank = (path: string) => (FIRST.indexOf(stem(path)) + FIRST.length + 1) % (FIRST.length + 1);
  return {
    files: [...modules, ...sent],
    programs: programs.sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1)),
    isPackage: seen.some(({ path }) => path === "__init__.py"),
    leftBehind: data.slice(sent.length).reverse(),
  };
}

function stem(path: string): string {
  return path.replace(/\.(py|ipynb)$/, "");
}

export interface Packed {
  readonly wheel: Wheel;
  /** Empty: the server's default. */
  readonly runtime: string;
  /** For the job's id: "train". */
  readonly name: string;
}

/**
 * The program and its files as a wheel. Errors, in one sentence.
 * @param files  the contents by path
 * @param folder  the name of the folder that was chosen, if it is a package; else empty
 */
export function packProgram(files: ReadonlyMap<string, Uint8Array>, program: string, folder: string): Packed {
  const text = (path: string) => {
    const bytes = files.get(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const requirements = readRequirements("requirements.txt", text);
  if (!files.has("requirements.txt") && /^\s*dependencies\s*=/m.test(text("pyproject.toml") ?? ""))
    throw new Error("The dependencies of pyproject.toml are not read here: write them into a requirements.txt, or use “trainyard run”.");
  const packed = new Map<string, string | Uint8Array>(files);
  const isNotebook = program.endsWith(".ipynb");
  if (isNotebook) {
    const json = text(program) ?? "";
    const notebook = readNotebook(json);
    for (const [path, content] of notebookFiles(program, json, notebook)) packed.set(path, content);
    requirements.push(...notebook.requirements);
  }
  const sources = new Map([...packed].flatMap(([path, content]) => {
    return path.endsWith(".py") ? [[path, typeof content === "string" ? content : new TextDecoder().decode(content)] as const] : [];
  }));
  const runtime = guessRuntime(sources, isNotebook ? SCRIPT_FILE : program);
  const command = [isNotebook ? NOTEBOOK_PROGRAM : program];
  if (isNotebook || folder === "") return { wheel: programWheel(packed, command, requirements), runtime, name: stem(program) };
  const below = new Map([...packed].map(([path, content]) => [`${folder}/${path}`, content] as const));
  const module = stem(program) === "__main__" ? folder : `${folder}.${stem(program)}`;
  return { wheel: programWheel(below, ["-m", module], requirements), runtime, name: folder };
}

const PYTORCH = "pytorch-2.15";
const TENSORFLOW = "2.15";
/** As in src/cli/run/program_package.cc: a test compares them. */
export const FRAMEWORKS: ReadonlyMap<string, string> = new Map([
  ...["torch", "torchvision", "torchaudio", "lightning", "pytorch_lightning"].map((name) => [name, PYTORCH] as const),
  ...["tensorflow", "tf_keras", "keras", "tensorflow_datasets"].map((name) => [name, TENSORFLOW] as const),
]);

/** The first framework that the program, or a file that it imports, imports; "" for none. */
export function guessRuntime(sources: ReadonlyMap<string, string>, program: string): string {
  const reached = [program];
  for (const path of reached) {
    const folder = path.replace(/[^/]*$/, "");
    for (const name of importsOf(sources.get(path) ?? "")) {
      const version = FRAMEWORKS.get(name);
      if (version !== undefined) return version;
      for (const other of sources.keys()) {
        const isOfName = [name, folder + name].some((place) => other === `${place}.py` || other.startsWith(`${place}/`));
        if (isOfName && !reached.includes(other)) reached.push(other);
      }
    }
  }
  return "";
}

function importsOf(source: string): string[] {
  return source.split("\n").flatMap((line) => {
    const [, from, names] = /^\s*(?:from\s+\.?(\w+)|import\s+([^#]+))/.exec(line) ?? [];
    return from !== undefined ? [from] : (names ?? "").split(",").flatMap((name) => /\w+/.exec(name) ?? []);
  });
}
