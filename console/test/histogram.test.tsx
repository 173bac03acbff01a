import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { HistogramView } from "../src/components/HistogramView.tsx";
import { barsOf, inWords, shapesOf } from "../src/text/histogram.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("reads bins and nothing else", () => {
  expect(barsOf([[0, 1, 5], "x", [1, "y", 2], [1, 2], null])).toEqual([{ left: 0, right: 1, count: 5 }]);
  expect([barsOf({}), barsOf(undefined)]).toEqual([[], []]);
});

it("draws the density, since bins have different widths", () => {
  const bars = barsOf([[0, 1, 4], [1, 3, 4], [3, 4, 0]]);
  expect(shapesOf(bars, 400, 100)).toEqual([
    { x: 0, width: 100, height: 100 }, { x: 100, width: 200, height: 50 }, { x: 300, width: 100, height: 0 },
  ]);
  expect(shapesOf(barsOf([[2, 2, 7]]), 400, 100)).toEqual([{ x: 0, width: 400, height: 100 }]);
  expect(shapesOf([], 400, 100)).toEqual([]);
});

it("says in words what it draws", async () => {
  expect(inWords([], String)).toBe("No values.");
  vi.stubGlobal("fetch", async () => new Response("[[-1, 0, 2], [0, 3, 5]]"));
  render(<HistogramView source="/trainyard/v1/x" label="weights, step 3" />);
  expect((await screen.findByRole("img")).getAttribute("aria-label")).toBe("weights, step 3: 7 values from -1 to 3");
  expect(document.querySelectorAll("rect")).toHaveLength(2);
});
