import { describe, expect, it } from "vitest";
import { completions, hasTerm, terms, withoutTerm, withTerm } from "../src/text/job_filter.ts";

describe("terms", () => {
  it.each([
    ["", []],
    ["state=FAILED", ["state=FAILED"]],
    ["a=1 AND b=2", ["a=1", "b=2"]],
    ["(a=1 AND b=2) AND c=3", ["(a=1 AND b=2)", "c=3"]],
    ['a="x AND y" AND b=2', ['a="x AND y"', "b=2"]],
    ['a="\\" AND " AND b=2', ['a="\\" AND "', "b=2"]],
  ])("%s", (filter, expected) => expect(terms(filter)).toEqual(expected));
});

describe("a term", () => {
  it("is added once", () => {
    expect(withTerm("", "state", "FAILED")).toBe("state=FAILED");
    expect(withTerm("state=FAILED", "state", "FAILED")).toBe("state=FAILED");
    expect(withTerm("state=FAILED", "labels.team", "a b")).toBe('state=FAILED AND labels.team="a b"');
  });
  it("does not change what an OR beside it means", () => {
    expect(withTerm("a=1 OR b=2", "state", "FAILED")).toBe("(a=1 OR b=2) AND state=FAILED");
  });
  it("quotes what would end it", () => {
    expect(withTerm("", "labels.k", 'x" OR state="RUNNING')).toBe('labels.k="x\\" OR state=\\"RUNNING"');
    expect(withTerm("", "labels.a.b", "1")).toBe('labels."a.b"=1');
  });
  it("is found and removed", () => {
    expect(hasTerm("state = FAILED AND x=1", "state", "FAILED")).toBe(true);
    expect(hasTerm("state=FAILED", "state", "RUNNING")).toBe(false);
    expect(withoutTerm("state=FAILED AND x=1", "state")).toBe("x=1");
  });
});

describe("completions", () => {
  const summary = { labels: [{ key: "team", value: "vision", jobs: "3" }], byState: { RUNNING: "2" } };
  it("are fields, then values", () => {
    expect(completions("st", summary).map((one) => one.shown)).toEqual(["state=", "startTime="]);
    expect(completions("state=R", summary)).toEqual([{ text: "state=RUNNING", shown: "state=RUNNING", hint: "2 jobs", whole: true }]);
    expect(completions("x=1 AND labels.team=", summary).map((one) => one.text)).toEqual(["x=1 AND labels.team=vision"]);
  });
});
