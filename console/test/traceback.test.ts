import { expect, it } from "vitest";
import { nearestTraceback } from "../src/log/traceback.ts";

/** A log that is searched in parts of 100 lines. */
function log(total: number, ...tracebacks: number[]) {
  const asked: unknown[] = [];
  const search = async (query: Record<string, unknown>) => {
    asked.push(query);
    const backward = query["backward"] === true;
    const from = Math.min(Number(query["from"] ?? (backward ? total : 0)), total);
    const to = backward ? Math.max(from - 100, 0) : Math.min(from + 100, total);
    const found = tracebacks.filter((line) => (backward ? line >= to && line < from : line >= from && line < to));
    const line = backward ? found.at(-1) : found[0];
    const lines = line === undefined ? [] : [{ number: String(line) }];
    return { lines, searchedTo: String(to), complete: to === (backward ? 0 : total) };
  };
  return { search, asked };
}

it.each([
  ["the first one", { backward: false }, 250],
  ["the first one from a line on", { backward: false, from: 251 }, 900],
  ["the last one", { backward: true }, 900],
  ["the last one before a line", { backward: true, from: 900 }, 250],
  ["none behind the last", { backward: false, from: 901 }, undefined],
  ["none before the first", { backward: true, from: 250 }, undefined],
])("%s", async (_, place, line) => {
  const { search } = log(1000, 250, 900);
  expect(await nearestTraceback(search, { ...place, filter: {} })).toBe(line);
});

it("asks for what matches, part by part", async () => {
  const { search, asked } = log(250);
  const own = { query: "Traceback (most recent call last):", matchCase: true, count: 1, replica: "m", backward: true };
  expect(await nearestTraceback(search, { backward: true, filter: { replica: "m" } })).toBeUndefined();
  expect(asked).toEqual([undefined, 150, 50].map((from) => ({ ...own, from })));
});

it.each([[false, 10], [true, 10]])("ends where a search does not go on, backward %s", async (backward, from) => {
  const stuck = async () => ({ searchedTo: "10", complete: false });
  expect(await nearestTraceback(stuck, { backward, from, filter: {} })).toBeUndefined();
});
