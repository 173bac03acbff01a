import { expect, it } from "vitest";
import { clockMs, lineOf, parseGoal, parseRange, placesOf, printRange } from "../src/text/log_lines.ts";

it("reads a line as it is sent", () => {
  expect(lineOf({ severity: "DEFAULT", text: "a", json: { step: 1 } }))
    .toEqual({
      number: 0, ms: Number.NaN, severity: "", ofStream: false, replica: "", trial: "", text: "a", bytes: 0, redraw: false, fields: '{"step":1}',
    });
  expect(lineOf({ number: "7", severity: "ERROR", textBytes: "12345", json: {} }))
    .toMatchObject({ number: 7, severity: "ERROR", bytes: 12345, fields: "" });
  expect(lineOf({ json: { created: 1.5, levelname: "INFO", lineno: 0, pathname: "/a.py", step: 2 } }).fields).toBe('{"step":2}');
  expect(clockMs(new Date(2026, 0, 2, 3, 4, 5, 6).getTime())).toBe("03:04:05.006");
  expect(clockMs(Number.NaN)).toBe("");
});

it("reads chosen lines of an address", () => {
  expect(parseRange("5")).toEqual({ first: 5, last: 5 });
  expect(parseRange("9-5")).toEqual({ first: 5, last: 9 });
  for (const wrong of [null, "", "-1", "x", "1-2-3", "1".repeat(30)]) expect(parseRange(wrong)).toBeNull();
  expect([printRange({ first: 5, last: 5 }), printRange({ first: 5, last: 9 })]).toEqual(["5", "5-9"]);
});

const near = new Date(2026, 10, 23, 12, 0, 0).getTime();

it.each([
  ["12,345", { line: 12345 }],
  [" 7 ", { line: 7 }],
  ["14:05", { ms: new Date(2026, 10, 23, 14, 5).getTime() }],
  ["9:05:07.5", { ms: new Date(2026, 10, 23, 9, 5, 7, 500).getTime() }],
  ["2026-01-31", { ms: new Date(2026, 0, 31).getTime() }],
  ["2026-01-31 14:05", { ms: new Date(2026, 0, 31, 14, 5).getTime() }],
  ["2026-01-31T14:05:00Z", { ms: Date.UTC(2026, 0, 31, 14, 5) }],
  ["", null], ["noon", null], ["25:00", null], ["2026-13-01", null],
])("goes to %s", (text, goal) => expect(parseGoal(text, near)).toEqual(goal));

it("finds a text wherever it is", () => {
  expect(placesOf("aAbaa", "aa", 9)).toEqual([[0, 2], [3, 5]]);
  expect(placesOf("aaaa", "a", 2)).toEqual([[0, 1], [1, 2]]);
  expect(placesOf("x", "", 9)).toEqual([]);
  expect(placesOf("\u0130 i", "i", 9)).toEqual([]);
});
