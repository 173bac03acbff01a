// Makes generated/: the API's messages as TypeScript types, from ../proto. They are types only: nothing of them is in
// the bundle. Needs protoc.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const protos = join(here, "../proto");
const out = join(here, "generated");
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const folders = ["control/v1", "ml/v1", "logging/v2", "replica/v1", "storage/v1"].map((folder) => join("trainyard", folder));
const files = folders.flatMap((folder) => readdirSync(join(protos, folder)).map((file) => join(folder, file)));
execFileSync("protoc", [
  "-I", protos,
  `--plugin=${join(here, "node_modules/.bin/protoc-gen-es")}`,
  `--es_out=${out}`, "--es_opt=target=dts,json_types=true,import_extension=none",
  ...files,
], { stdio: "inherit" });
