import { describe, expect, it } from "vitest";
import { ago, bytes, duration, number, percent, shortNumbers } from "../src/text/format.ts";
import { visible } from "../src/text/plain.ts";

describe("numbers", () => {
  it.each([
    [0, "0"], [1, "1"], [0.91234567, "0.9123"], [12345.6, "12,346"], [1.23456e-7, "1.235e-7"], [-0.5, "-0.5"], [3e12, "3.000e+12"],
    [Number.NaN, "NaN"], [Number.NEGATIVE_INFINITY, "−∞"],
  ])("%d is %s", (value, text) => expect(number(value)).toBe(text));
  it.each([[0, "0 B"], [1023, "1023 B"], [1536, "1.5 KiB"], [15 * 2 ** 30, "15 GiB"], [2 ** 30 - 1, "1 GiB"], [250 * 2 ** 30, "250 GiB"]])("%d bytes", (value, text) =>
    expect(bytes(value)).toBe(text));
  it.each([[0, "0 %"], [0.0018, "0.2 %"], [0.0099, "1 %"], [0.354, "35 %"], [1, "100 %"]])("%d as a share", (share, text) =>
    expect(percent(share)).toBe(text));
  it.each([
    ["Trial 2 succeeded: its metric is 0.4121691298106529 at step 4.", "Trial 2 succeeded: its metric is 0.4122 at step 4."],
    ["kind=sgd, x=-0.10647899, y=1.0000000000000002e-7.", "kind=sgd, x=-0.1065, y=1e-7."],
    ["2.15.123456 at 19:11:51.391557052Z, 10.0.0.1, 0.25", "2.15.123456 at 19:11:51.391557052Z, 10.0.0.1, 0.25"],
  ])("in a sentence are short: %s", (text, short) => expect(shortNumbers(text)).toBe(short));
});

describe("times", () => {
  it.each([[-5, "0 s"], [40, "40 ms"], [9400, "9.4 s"], [59_900, "59 s"], [61_000, "1 min 1 s"], [3_725_000, "1 h 2 min"], [90_000_000, "1 d 1 h"]])(
    "%d ms", (ms, text) => expect(duration(ms)).toBe(text));
  it.each([[0, "now"], [30_000, "30 s ago"], [-7_200_000, "in 2 h"]])("%d ms ago", (passed, text) => expect(ago(0, passed)).toBe(text));
});

describe("visible", () => {
  it.each([
    ["plain é 漢", "plain é 漢"],
    ["a\u202eb", "a⟨202E⟩b"],
    ["\u001b[31m", "^[[31m"],
    ["a\tb\nc", "a\tb\nc"],
    ["<script>", "<script>"],
  ])("%j", (text, seen) => expect(visible(text)).toBe(seen));
});
