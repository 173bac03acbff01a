import { describe, expect, it } from "vitest";
import { extent, lowerBound, nearest, padded, within } from "../src/text/columns.ts";
import { askedRange, columnsOf, isThinned, nameKey, need, withTail, xsOf } from "../src/text/curves.ts";
import { type JobLooks, jobLooks, lookOf, ownRuns, trialLook } from "../src/text/looks.ts";
import { listOf, listText, rangeOf, rangeText } from "../src/text/query_list.ts";
import { smooth } from "../src/text/smoothing.ts";
import { finder, found, grouped, runLabel } from "../src/text/tags.ts";

describe("smoothing", () => {
  it("counts the first values in full", () => {
    expect([...smooth([1, 2], 0.5)]).toEqual([1, (0.25 + 1) / 0.75]);
  });
  it("leaves values that are not finite, and counts them for nothing", () => {
    const with_ = smooth([1, Number.NaN, 2, Number.POSITIVE_INFINITY], 0.5);
    expect([...with_]).toEqual([1, Number.NaN, (0.25 + 1) / 0.75, Number.POSITIVE_INFINITY]);
  });
  it("leaves constant curves and a weight of 0 alone", () => {
    expect([...smooth([0.1, 0.1, 0.1], 0.9)]).toEqual([0.1, 0.1, 0.1]);
    expect([...smooth([3, 1, 2], 0)]).toEqual([3, 1, 2]);
  });
  it("stays within what it smooths", () => {
    const values = Array.from({ length: 1000 }, (_, at) => Math.sin(at) + at / 1000);
    const { min, max } = extent(smooth(values, 0.99)) ?? { min: 0, max: 0 };
    expect(min).toBeGreaterThan(-1);
    expect(max).toBeLessThan(2);
  });
});

describe("columns", () => {
  it.each([[0, 0], [1, 0], [1.5, 1], [3, 2], [4, 3]])("lower bound of %d", (x, at) => expect(lowerBound([1, 2, 3], x)).toBe(at));
  it.each([[0, 0], [1.4, 0], [1.6, 1], [9, 2]])("nearest to %d", (x, at) => expect(nearest([1, 2, 3], x)).toBe(at));
  it("has no nearest of none", () => expect(nearest([], 1)).toBe(-1));
  it("measures what is finite, and above 0 for a logarithmic axis", () => {
    expect(extent([Number.NaN, 2, -1, Number.POSITIVE_INFINITY])).toEqual({ min: -1, max: 2 });
    expect(extent([0, 2, -1, 5], { log: true })).toEqual({ min: 2, max: 5 });
    expect(extent([Number.NaN])).toBeUndefined();
  });
  it("leads a point out of the picture at each side", () => {
    expect(within([0, 1, 2, 3, 4], 1.5, 2.5)).toEqual([1, 4]);
    expect(within([0, 1, 2], -5, 9)).toEqual([0, 3]);
    expect(within([0, 1, 1, 2], 0, 1)).toEqual([0, 4]);
  });
  it("pads a single value too", () => expect(padded({ min: 5, max: 5 }, false)).toEqual({ min: 4.5, max: 5.5 }));
});

const curve = (steps: number[], points = steps.length) =>
  columnsOf({ steps, times: steps, values: steps, points: String(points) });

describe("curves", () => {
  it("reads numbers that JSON has no sign for", () => {
    expect([...columnsOf({ steps: [0, 1, 2], times: [0, 1, 2], values: ["NaN", "-Infinity", 1] }).values])
      .toEqual([Number.NaN, Number.NEGATIVE_INFINITY, 1]);
  });
  it.each([
    [undefined, "0", "nothing"], [undefined, "5", "whole"], [curve([0, 1]), "2", "nothing"], [curve([0, 1]), "3", "tail"],
    [curve([0, 1]), "1", "whole"], [curve([]), "3", "whole"], [curve([0, 1, 2, 3, 4]), "9", "whole"],
  ])("needs of %j with %s points: %s", (known, points, expected) => expect(need(known, { points }, 2)).toBe(expected));
  it("goes on where it ended", () => {
    const longer = withTail(curve([0, 1, 2]), curve([2, 3, 4]), 5);
    expect([...(longer?.steps ?? [])]).toEqual([0, 1, 2, 3, 4]);
    expect(longer?.points).toBe(5);
  });
  it("is asked for as a whole where the list promised more: the program began again", () => {
    expect(withTail(curve([0, 1, 2]), curve([2, 3]), 6)).toBeUndefined();
  });
  it("knows that it was thinned", () => {
    expect(isThinned(curve([0, 1], 10))).toBe(true);
    expect(isThinned(curve([0, 1]))).toBe(false);
  });
  it("goes along steps, times and times since a start", () => {
    const columns = columnsOf({ steps: [1, 2, 3], times: [100, 99, 105], values: [1, 1, 1] });
    expect([...xsOf(columns, "wall")]).toEqual([100, 100, 105]);
    expect([...xsOf(columns, "time", 90)]).toEqual([10, 10, 15]);
    expect(askedRange("time", { from: 5, to: 10 }, [100, 130])).toEqual({ axis: "TIME", from: 105, to: 140 });
  });
});

describe("tags", () => {
  const item = (tag: string, run = "", trialId = "") => ({ name: { jobId: "j", tag, run, trialId } });
  it("are in groups by their folder, in the order of people", () => {
    const groups = grouped([item("loss"), item("layer10/w"), item("layer2/w"), item("/odd"), item("loss", "eval")]);
    expect(groups.map(({ name, tags }) => [name, tags.map(({ tag, items }) => `${tag} ${items.length}`)]))
      .toEqual([["", ["/odd 1", "loss 2"]], ["layer2", ["layer2/w 1"]], ["layer10", ["layer10/w 1"]]]);
  });
  it("have their runs in the order of people", () => {
    const [group] = grouped([item("loss", "", "10"), item("loss", "", "9"), item("loss")]);
    expect(group?.tags[0]?.items.map((one) => one.name?.trialId)).toEqual(["", "9", "10"]);
  });
  it("are found by regular expressions; what is none is text", () => {
    expect(found([item("loss"), item("acc")], finder("^lo"), finder(""), 1).items).toHaveLength(1);
    expect(finder("a(").literal).toBe(true);
    expect(finder("a(").matches("x A( y")).toBe(true);
  });
  it("have runs that are told apart", () => {
    expect(runLabel({ jobId: "j" }, 1)).toBe("j");
    expect(runLabel({ jobId: "j", trialId: "3", run: "eval" }, 1)).toBe("trial 3/eval");
    expect(runLabel({ jobId: "j", hypertune: true }, 2)).toBe("j (reported)");
    expect(runLabel({ jobId: "j", trialId: "3", hypertune: true }, 1)).toBe("trial 3");
    expect(runLabel({ jobId: "j", trialId: "3" }, 1)).toBe("trial 3/.");
  });
  it("do not take one name for another", () => {
    expect(nameKey({ run: "a", tag: "b" })).not.toBe(nameKey({ run: "ab", tag: "" }));
  });
});

describe("looks", () => {
  it("take the next free colour, then a dash", () => {
    const names = Array.from({ length: 13 }, (_, at) => `n${at}`);
    const look = lookOf(names, () => 3);
    expect(new Set(names.slice(0, 12).map((name) => look.get(name)?.color)).size).toBe(12);
    expect(look.get("n0")).toEqual({ color: 3, dash: 0 });
    expect(look.get("n12")).toEqual({ color: 3, dash: 1 });
  });
});

describe("looks of several jobs", () => {
  const runs = (job: string, count: number, trials = false) => Array.from({ length: count }, (_, at) => (
    { job, label: `${job} ${at}`, trial: trials ? String(at + 1) : "" }));
  const pairs = (looks: JobLooks) => [...looks.runs.values()].map(({ color, dash }) => `${color} ${dash}`);

  it("keep a job's colour for its few runs", () => {
    const looks = jobLooks([...runs("a", 2), ...runs("b", 1)]);
    expect(looks.runs.get("a 0")?.color).toBe(looks.colors.get("a"));
    expect(looks.runs.get("a 1")?.color).toBe(looks.colors.get("a"));
    expect(looks.runs.get("b 0")?.color).toBe(looks.colors.get("b"));
    expect(looks.colors.get("a")).not.toBe(looks.colors.get("b"));
    expect(jobLooks([...runs("a", 2), ...runs("a", 2), ...runs("b", 1)])).toEqual(looks); // a run is in several charts
    expect(looks.runs.get("a 0")?.dash).not.toBe(looks.runs.get("b 0")?.dash);
  });
  it("are never alike, whatever the jobs have", () => {
    const looks = jobLooks([...runs("t", 12, true), ...runs("u", 12, true), ...Array.from({ length: 15 }, (_, at) => runs(`j${at}`, 3)).flat()]);
    expect(new Set(pairs(looks)).size).toBe(12 + 12 + 45);
    expect(looks.colors.get("t")).toBeUndefined();
    expect(looks.runs.get("t 6")).toEqual(trialLook("7"));
  });
  it("stay as jobs are added, at either end", () => {
    const first = jobLooks([...runs("a", 2), ...runs("t", 5, true)]);
    const later = jobLooks([...runs("0", 2), ...runs("a", 2), ...runs("t", 9, true), ...runs("b", 1)], first);
    for (const [label, look] of first.runs) expect(later.runs.get(label)).toEqual(look);
    expect(new Set(pairs(later)).size).toBe(14);
  });
  it("of one job: trials have theirs of all pages, other runs a colour each", () => {
    const { runs: looks } = jobLooks(ownRuns(["eval", "train", "trial 1", "trial 2", "trial 3", "trial 4", "trial 4/eval"]));
    expect(looks.get("eval")?.color).not.toBe(looks.get("train")?.color);
    expect(looks.get("trial 4")).toEqual(trialLook("4"));
    expect(looks.get("trial 4/eval")?.color).toBe(trialLook("4").color);
  });
  it("are taken again where there are none left", () => {
    const looks = jobLooks(runs("a", 100));
    expect(new Set(pairs(looks)).size).toBe(72);
  });
});

describe("lists and ranges of an address", () => {
  it("come back as they were", () => {
    const names = ["a,b", "%2C", "train/eval", "é 漢"];
    expect(listOf(listText(names))).toEqual(names);
    expect(listOf("%E0%A4%A,b")).toEqual(["%E0%A4%A", "b"]);
    expect(listOf(null)).toEqual([]);
  });
  it.each([["1", "2", { from: 1, to: 2 }], ["2", "1", null], ["x", "2", null], [null, "2", null]])(
    "%s to %s", (from, to, range) => expect(rangeOf(from, to)).toEqual(range));
  it("are short", () => {
    expect(rangeText({ from: 12.3456789, to: 5000.123 })).toEqual({ from: "12.3", to: "5000.1" });
    expect(rangeText({ from: 1795449600.123456, to: 1795449610.5 })).toEqual({ from: "1795449600.123", to: "1795449610.5" });
    expect(rangeText({ from: 1e-6, to: 2e-6 })).toEqual({ from: "0.000001", to: "0.000002" });
    expect(rangeText(null)).toEqual({ from: null, to: null });
  });
});
