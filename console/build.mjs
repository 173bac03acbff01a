// Makes dist/ (or the folder that is named): what the server embeds. The same sources give the same bytes on every
// machine, so dist/ is committed, and a test compares it with what the sources give.
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "dist"));

const common = {
  absWorkingDir: here,
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  loader: { ".py": "text" }, // what a notebook is sent with: src/cli/run
  target: "es2022",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
};

// The name that an entry got.
function outputOf(result, entry, ending) {
  const outputs = Object.entries(result.metafile.outputs);
  const script = outputs.find(([, file]) => file.entryPoint === entry);
  const found = ending === ".css" ? script?.[1].cssBundle : script?.[0];
  if (!found) throw new Error(`${entry} gave no ${ending}`);
  return basename(found);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const worker = await build({ ...common, entryPoints: { live: "src/live/worker.ts" } });
const main = await build({
  ...common,
  splitting: true,
  entryPoints: { main: "src/main.tsx" },
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { LIVE_WORKER: JSON.stringify("/ui/" + outputOf(worker, "src/live/worker.ts", ".js")) },
});
// The main style sheet has the styles of the pages that are loaded later, too: esbuild's own files for them are not used.
const style = outputOf(main, "src/main.tsx", ".css");
for (const name of readdirSync(out)) if (name.includes(".css") && !name.startsWith(style)) rmSync(join(out, name));
// What the main script imports is asked for beside it, not after it.
const script = outputOf(main, "src/main.tsx", ".js");
const imports = main.metafile.outputs[Object.keys(main.metafile.outputs).find((name) => basename(name) === script)].imports;
const preloads = imports
  .filter(({ kind }) => kind === "import-statement")
  .map(({ path }) => `<link rel="modulepreload" href="/ui/${basename(path)}" />`);
const page = readFileSync(join(here, "index.html"), "utf8")
  .replace("<!-- PRELOADS -->", preloads.join("\n    "))
  .replace("MAIN_JS", script)
  .replace("MAIN_CSS", style);
writeFileSync(join(out, "index.html"), page);
