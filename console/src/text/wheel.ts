// A Python program of one file as a wheel: what a job's packageUris take, with nothing to build. Pure.
import { zip } from "./zip.ts";

export interface Wheel {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** `module`: what pythonModule of a job is. */
export function wheelOf(module: string, source: string): Wheel {
  const info = `${module}-0.dist-info`;
  const files = [
    { name: `${module}.py`, text: source },
    { name: `${info}/METADATA`, text: `Metadata-Version: 2.1\nName: ${module.replaceAll("_", "-")}\nVersion: 0\n` },
    { name: `${info}/WHEEL`, text: "Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n" },
  ];
  // Hashes in RECORD may be left out. Source: the wheel format, "signed wheel files".
  const record = [...files.map(({ name }) => `${name},,`), `${info}/RECORD,,`].join("\n");
  return { name: `${module}-0-py3-none-any.whl`, bytes: zip([...files, { name: `${info}/RECORD`, text: `${record}\n` }]) };
}
