// Python programs as wheels: what a job's packageUris take, with nothing to build. Pure.
import programMain from "../../../clients/python/trainyard/_program_main.py";
import { zip, type ZipFile } from "./zip.ts";

export interface Wheel {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A program of one file. `module`: what pythonModule of a job is. */
export function wheelOf(module: string, source: string): Wheel {
  return wheel(module, [{ name: `${module}.py`, content: source }], []);
}

/** pythonModule of a program that was packed as `trainyard run` packs it. */
export const PROGRAM_MODULE = "trainyard_program";

/** The wheel of `trainyard run`: docs/adr/0035. `files`: by path in the program's folder. `command`: of Python. */
export function programWheel(
  files: ReadonlyMap<string, string | Uint8Array>,
  command: readonly string[],
  requirements: readonly string[],
): Wheel {
  const own = [...files].map(([path, content]) => ({ name: `${PROGRAM_MODULE}/files/${path}`, content }));
  const members: ZipFile[] = [
    { name: `${PROGRAM_MODULE}/__init__.py`, content: "" },
    { name: `${PROGRAM_MODULE}/__main__.py`, content: programMain },
    { name: `${PROGRAM_MODULE}/command.json`, content: `${JSON.stringify(command)}\n` },
    ...own.sort((one, other) => (one.name < other.name ? -1 : 1)),
  ];
  return wheel(PROGRAM_MODULE, members, requirements);
}

function wheel(module: string, members: readonly ZipFile[], requirements: readonly string[]): Wheel {
  const info = `${module}-0.dist-info`;
  const needs = requirements.map((requirement) => `Requires-Dist: ${requirement}\n`).join("");
  const files = [
    ...members,
    { name: `${info}/METADATA`, content: `Metadata-Version: 2.1\nName: ${module.replaceAll("_", "-")}\nVersion: 0\n${needs}` },
    { name: `${info}/WHEEL`, content: "Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n" },
  ];
  // Hashes in RECORD may be left out. Source: the wheel format, "signed wheel files".
  const record = [...files.map(({ name }) => `${quoted(name)},,`), `${info}/RECORD,,`].join("\n");
  return { name: `${module}-0-py3-none-any.whl`, bytes: zip([...files, { name: `${info}/RECORD`, content: `${record}\n` }]) };
}

/** A field of a CSV line. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
