import { expect, it, vi } from "vitest";
import { FilterSource } from "../src/log/filter_source.ts";
import { PageSource } from "../src/log/page_source.ts";
import { LogSearch } from "../src/log/search.ts";
import type { AskLines, SourceEvents } from "../src/log/source.ts";

const events = () => ({ changed: vi.fn(), replaced: vi.fn(), total: vi.fn(), failed: vi.fn() }) satisfies SourceEvents;
const settled = () => new Promise((done) => setTimeout(done, 5));
const line = (number: number) => ({ number: String(number), text: `line ${number}` });

/** A log of which every tenth line matches a filter. */
function server(total: number, every = 1) {
  const asked: unknown[] = [];
  const ask: AskLines = async (query) => {
    asked.push(query);
    const count = Math.min(Number(query["count"]), 1000);
    const numbers: number[] = [];
    const isBack = "before" in query || "last" in query;
    let at = isBack ? Number(query["before"] ?? total) - 1 : Number(query["first"]);
    for (; at >= 0 && at < total && numbers.length < count; at += isBack ? -1 : 1) if (at % every === 0) numbers.push(at);
    if (isBack) numbers.reverse();
    const [next, previous] = isBack ? [Number(query["before"] ?? total), at + 1] : [at, Number(query["first"])];
    const lines = numbers.map(line);
    const or = (isThere: boolean, place: number) => String(isThere ? place : -1);
    return { total: String(total), lines, next: or(next < total, next), previous: or(previous > 0, previous) };
  };
  return { ask, asked };
}

it("fetches the page that is in view, then its neighbours, and only what came since", async () => {
  const { ask, asked } = server(10_000_000);
  const told = events();
  const source = new PageSource(ask, told, 2500);
  source.want(1950, 1990);
  await settled();
  expect(asked).toEqual([{ first: 1000, count: 1000 }, { first: 2000, count: 1000 }]);
  expect(source.row(1999)?.text).toBe("line 1999");
  source.close();
});

it("keeps a bounded number of pages", async () => {
  const { ask, asked } = server(1_000_000);
  const source = new PageSource(ask, events(), 1_000_000);
  for (let page = 0; page < 60; page += 1) {
    source.want(page * 1000 + 500, page * 1000 + 540);
    await settled();
  }
  expect(asked.length).toBe(60);
  expect(source.row(500)).toBeUndefined();
  expect(source.row(59_500)).toBeDefined();
});

it("says what failed, and tries again when asked", async () => {
  let broken = true;
  const told = events();
  const good = server(100).ask;
  const source = new PageSource((query, signal) => (broken ? Promise.reject(new Error("no")) : good(query, signal)), told, 100);
  source.want(0, 40);
  await settled();
  expect(told.failed.mock.lastCall?.[0]?.message).toBe("no");
  broken = false;
  source.retry();
  await settled();
  expect(told.failed.mock.lastCall?.[0]).toBeUndefined();
  expect(source.row(0)?.text).toBe("line 0");
});

it("grows a filtered log at both ends", async () => {
  const { ask } = server(100_000, 10);
  const told = events();
  const source = new FilterSource(ask, told, 0, 50_001);
  await settled();
  expect(told.replaced).toHaveBeenCalledWith(0);
  expect(source.numberOf(0)).toBeLessThan(50_001);
  expect(told.changed.mock.calls.some(([shift]) => shift === 1000)).toBe(true);
  const row = source.rowOf(50_001) ?? -1;
  expect(source.row(row)?.number).toBe(50_010);
  expect(source.rowOf(Infinity)).toBeUndefined();
  source.goTo(Infinity);
  await settled();
  expect(source.row(source.rows - 1)?.number).toBe(99_990);
  expect(source.rowOf(Infinity)).toBe(source.rows - 1);
});

it("searches to the end, bounded part by bounded part", async () => {
  const asked: unknown[] = [];
  const search = new LogSearch({ text: "x", regex: false }, async (query) => {
    asked.push(query);
    const from = Number(query["from"]);
    if (query["count"] === 1) return query["backward"] ? { lines: [line(from - 3)] } : { lines: [line(from + 5)] };
    return { lines: [line(from + 1)], searchedTo: String(from + 100), complete: from >= 200 };
  }, () => undefined);
  const searched = search.run();
  expect(await search.near(500, false)).toBe(506);
  await searched;
  expect([search.found, search.complete, search.searchedTo]).toEqual([[1, 101, 201], true, 300]);
  expect([await search.near(1, false), await search.near(101, true), await search.near(201, false)]).toEqual([101, 1, undefined]);
  expect([search.has(101), search.has(102), search.rank(101)]).toEqual([true, false, 2]);
});

it("says why a search failed", async () => {
  const search = new LogSearch({ text: "(", regex: true }, () => Promise.reject(new Error("missing )")), () => undefined);
  await search.run();
  expect(search.error?.message).toBe("missing )");
});
