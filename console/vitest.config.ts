import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** As esbuild's loader "text" in build.mjs. */
const pythonAsText = {
  name: "python as text",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(".py") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined),
};

/** How long a test may take, in milliseconds. It ends a test that hangs; it says nothing about speed: CI builds meanwhile. */
const TEST_LONGEST_MS = 300_000;

export default defineConfig({
  plugins: [pythonAsText],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  define: { LIVE_WORKER: '"/ui/live.js"' },
  test: {
    testTimeout: TEST_LONGEST_MS,
    hookTimeout: TEST_LONGEST_MS,
    projects: [
      { extends: true, test: { name: "rules", environment: "node", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        test: { name: "pages", environment: "happy-dom", include: ["test/**/*.test.tsx"], setupFiles: ["test/each_page.ts"] },
      },
    ],
  },
});
