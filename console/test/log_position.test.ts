import { expect, it } from "vitest";
import { lastSpot, moved, shareOf, spotAtShare, spotFor, TOP } from "../src/text/log_position.ts";

const fixed = () => 18;
const MANY = 10_000_000;
const last = lastSpot(MANY, 900, fixed);

it("ends with the last row at the lower edge", () => {
  expect(last).toEqual({ row: MANY - 50, offset: 0 });
  expect(lastSpot(3, 900, fixed)).toEqual(TOP);
  expect(lastSpot(10, 100, (row) => (row === 9 ? 250 : 18))).toEqual({ row: 9, offset: 150 });
});

it("moves pixel for pixel, and stops at both ends", () => {
  expect(moved({ row: 5, offset: 10 }, 20, last, fixed)).toEqual({ row: 6, offset: 12 });
  expect(moved({ row: 5, offset: 10 }, -20, last, fixed)).toEqual({ row: 4, offset: 8 });
  expect(moved({ row: 1, offset: 0 }, -500, last, fixed)).toEqual(TOP);
  expect(moved({ row: MANY - 51, offset: 0 }, 500, last, fixed)).toEqual(last);
  expect(moved({ row: 0, offset: 5 }, 30, last, (row) => 10 * (row + 1))).toEqual({ row: 2, offset: 5 });
});

it("finds any row by the bar and back", () => {
  for (const share of [0, 0.1, 0.5, 0.999999, 1]) {
    expect(shareOf(spotAtShare(share, last, fixed), last, fixed)).toBeCloseTo(share, 9);
  }
  expect(spotAtShare(0.5, last, fixed).row).toBe((MANY - 50) / 2);
  expect(shareOf(TOP, TOP, fixed)).toBe(0);
});

it("puts a row where it is wanted", () => {
  expect(spotFor(1000, 0.5, 900, last, fixed)).toEqual({ row: 975, offset: 0 });
  expect(spotFor(3, 0.5, 900, last, fixed)).toEqual(TOP);
  expect(spotFor(MANY - 1, 0.5, 900, last, fixed)).toEqual(last);
});
