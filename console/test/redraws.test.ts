import { expect, it, vi } from "vitest";
import { FilterSource } from "../src/log/filter_source.ts";
import { PageSource } from "../src/log/page_source.ts";
import type { AskLines } from "../src/log/source.ts";
import { Folds, writtenOver } from "../src/text/redraws.ts";

const settled = () => new Promise((done) => setTimeout(done, 5));
const line = (redraw: boolean, replica = "a") => ({ redraw, replica, trial: "" });
const events = () => ({ changed: vi.fn(), replaced: vi.fn(), total: vi.fn(), failed: vi.fn() });

it("a state is written over by the next one of its replica, and stays before a line", () => {
  expect(writtenOver([line(true), line(false, "b"), line(true), line(false), line(true)])).toEqual([true, false, false, false, false]);
  expect(writtenOver([line(true), line(true, "b"), line(true)])).toEqual([true, false, false]);
});

it("rows and lines find each other", () => {
  const folds = new Folds();
  folds.set(1, [11, 12]);
  folds.set(0, [0, 2]);
  expect([0, 1, 2, 7, 8, 9].map((row) => folds.lineOf(row))).toEqual([1, 3, 4, 9, 10, 13]);
  expect([1, 3, 10, 11, 12, 13].map((at) => folds.rowOf(at))).toEqual([0, 1, 8, 9, 9, 9]);
  expect(folds.set(0, [0, 2])).toBe(false);
  expect(folds.set(0, [])).toBe(true);
  expect(folds.count).toBe(2);
});

/** A bar of 500 states, a line, and a bar that goes on. */
function server(total: () => number): AskLines {
  return async (query) => {
    const first = "last" in query ? 0 : Number(query["first"]);
    const last = Math.min(total(), first + Number(query["count"]));
    const lines = Array.from({ length: Math.max(last - first, 0) }, (_, at) => first + at)
      .map((number) => ({ number: String(number), text: `${number}`, replica: "a", ...(number === 500 ? {} : { redraw: true }) }));
    return { total: String(total()), lines, next: "-1", previous: "-1" };
  };
}

it("a bar is one row, whose newest state is shown", async () => {
  let total = 700;
  const told = events();
  const source = new PageSource(server(() => total), told, total);
  source.want(0, 40);
  await settled();
  const texts = () => Array.from({ length: source.rows }, (_, row) => source.row(row)?.text);
  expect(texts()).toEqual(["499", "500", "699"]);
  expect([source.numberOf(0), source.rowOf(10), source.rowOf(500)]).toEqual([499, 0, 1]);
  total = 900;
  source.grow(total);
  source.want(0, 3);
  await settled();
  expect(texts()).toEqual(["499", "500", "899"]);
  source.close();
});

it("also in a log that is filtered", async () => {
  const source = new FilterSource(server(() => 700), events(), 0, 0);
  await settled();
  expect(Array.from({ length: source.rows }, (_, row) => source.row(row)?.text)).toEqual(["499", "500", "699"]);
});

it("what comes at the end in view has its rows when its text is here", async () => {
  let total = 700;
  const told = events();
  const source = new PageSource(server(() => total), told, total);
  source.want(0, 700);
  await settled();
  source.want(0, source.rows);
  told.changed.mockClear();
  total = 760;
  source.grow(total);
  expect([source.rows, source.row(2)?.text, told.changed.mock.calls.length]).toEqual([3, "699", 0]);
  await settled();
  expect([source.rows, source.row(2)?.text]).toEqual([3, "759"]);
  source.close();
});
