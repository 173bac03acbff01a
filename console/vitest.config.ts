import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** As esbuild's loader "text" in build.mjs. */
const pythonAsText = {
  name: "python as text",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(".py") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined),
};

export default defineConfig({
  plugins: [pythonAsText],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  define: { LIVE_WORKER: '"/ui/live.js"' },
  test: { environment: "happy-dom", include: ["test/**/*.test.ts", "test/**/*.test.tsx"] },
});
