import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { Preview } from "../src/components/buckets/Preview.tsx";
import { parseNotebook } from "../src/text/notebook.ts";
import { kindOf } from "../src/text/preview.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const PNG = btoa("\x89PNG\r\n\x1a\n rest");
const code = (source: unknown, ...outputs: unknown[]) => ({ cell_type: "code", execution_count: 2, source, outputs });
const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", source: ["# Title\n", "text"] },
    code(["x = 1\n", "x"], { output_type: "stream", name: "stdout", text: ["a\n", "\u001b[31mred\u001b[0m"] },
      { output_type: "execute_result", data: { "text/html": "<script>alert(1)</script>", "text/plain": "1" } }),
    code("plot", { output_type: "display_data", data: { "image/png": PNG, "text/plain": "<Figure>" } }),
    code("svg", { output_type: "display_data", data: { "image/png": btoa("<svg onload=alert(1)>"), "text/plain": "<Figure>" } }),
    code("bad", { output_type: "error", ename: "E", evalue: "no", traceback: ["Traceback", "E: no"] }, 7, null),
    "no cell",
  ],
});

it("reads cells and what they showed, and never a page", () => {
  const cells = parseNotebook(NOTEBOOK)?.cells ?? [];
  expect(cells.map((cell) => [cell.kind, cell.count, cell.source])).toEqual([
    ["text", "", "# Title\ntext"], ["code", "2", "x = 1\nx"], ["code", "2", "plot"], ["code", "2", "svg"], ["code", "2", "bad"],
  ]);
  expect(cells[1]?.outputs).toEqual([{ kind: "text", text: "a\nred" }, { kind: "text", text: "1" }]);
  expect(cells[2]?.outputs[0]).toMatchObject({ kind: "image", type: "image/png" });
  expect(cells[3]?.outputs).toEqual([{ kind: "text", text: "<Figure>" }]);
  expect(cells[4]?.outputs).toEqual([{ kind: "error", text: "Traceback\nE: no" }]);
});

it("names an output that it does not show", () => {
  const shownOf = (data: unknown) => parseNotebook(JSON.stringify({ cells: [code("x", { output_type: "display_data", data })] }))?.cells[0]?.outputs;
  expect(shownOf({ "text/html": "<b>1</b>" })).toEqual([{ kind: "text", text: "HTML output, not shown" }]);
  expect(shownOf({ "image/svg+xml": "<svg/>" })).toEqual([{ kind: "text", text: "image/svg+xml output, not shown" }]);
  expect(shownOf({ "text/plain": "" , "text/html": "<b>1</b>" })).toEqual([{ kind: "text", text: "HTML output, not shown" }]);
  expect(shownOf({})).toEqual([]);
});

it("knows what is no notebook", () => {
  expect([parseNotebook("{"), parseNotebook("[]"), parseNotebook('{"cells": 1}'), parseNotebook("null")]).toEqual([null, null, null, null]);
  expect(parseNotebook('{"cells": [{}]}')?.cells).toEqual([{ kind: "text", count: "", source: "", outputs: [] }]);
  expect(kindOf("a/b.ipynb", new TextEncoder().encode("{}"))).toBe("notebook");
});

it("shows a notebook as cells, and raw when asked", async () => {
  vi.stubGlobal("fetch", async () => new Response(NOTEBOOK));
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
  render(<Preview bucket="b" object={{ name: "n.ipynb", size: String(NOTEBOOK.length) }} />);
  expect((await screen.findByLabelText("Cell 1")).textContent).toBe("# Title\ntext");
  expect((await screen.findByAltText("Output 1 of cell 3")).getAttribute("src")).toBe("blob:x");
  expect(document.querySelector("script")).toBeNull();
  fireEvent.click(screen.getByText("Raw"));
  expect((await screen.findByLabelText("Text")).textContent).toContain('"cell_type":"markdown"');
});
