import { describe, expect, it } from "vitest";
import { columnName, columnsOf, columnsText, gridOf, leastWidth } from "../src/text/job_columns.ts";
import { groupedRows, jobOrderOf, nextOrder, orderedJobs, ownColumns, ownValues } from "../src/text/job_order.ts";
import { readViews, viewQuery, withView } from "../src/text/job_views.ts";
import { lastValues, parametersOf } from "../src/text/compare.ts";

const jobs = [
  { jobId: "a_10", labels: { team: "x" }, metric: { tag: "auc", value: 0.5 }, startTime: "2026-01-01T00:00:00Z", endTime: "2026-01-01T00:01:00Z" },
  { jobId: "a_9", metric: { tag: "auc", value: 0.9 }, startTime: "2026-01-01T00:00:00Z", endTime: "2026-01-01T00:00:01Z" },
  { jobId: "b", labels: { team: "b" } },
];
const given = new Map([["a_10", new Map<`p:${string}`, string>([["p:lr", "0.1"]])], ["b", new Map<`p:${string}`, string>([["p:lr", "0.02"]])]]);
const own = ownValues(jobs, given);

describe("the table of jobs", () => {
  it.each([
    [null, ["a_10", "a_9", "b"]], ["job", ["a_9", "a_10", "b"]], ["-m:auc", ["a_9", "a_10", "b"]], ["p:lr", ["b", "a_10", "a_9"]],
    ["elapsed", ["a_9", "a_10", "b"]], ["nonsense", ["a_10", "a_9", "b"]],
  ])("by %s", (sort, ids) => expect(orderedJobs(jobs, jobOrderOf(sort), own, 0).map(({ jobId }) => jobId)).toEqual(ids));

  it("a head sorts up, then down, then not at all", () => {
    expect([null, "who", "-who"].map((sort) => nextOrder("who", jobOrderOf(sort)))).toEqual(["who", "-who", null]);
  });

  it("is grouped by a label, those without it last", () => {
    const rows = groupedRows(jobs, "team").map((row) => (row.kind === "job" ? row.job.jobId : `${row.value}: ${row.jobs}`));
    expect(rows).toEqual(["b: 1", "b", "x: 1", "a_10", "undefined: 1", "a_9"]);
  });

  it("has parameters and reported values as columns", () => {
    expect(ownColumns(own)).toEqual(["m:auc", "p:lr"]);
    expect(columnsText(["m:auc", "what", "p:lr"], false)).toBe("what,m:auc,p:lr");
    expect(columnsOf("what,p:lr,x:y", false)).toEqual(["what", "p:lr"]);
    expect([columnName("p:lr"), columnName("cause")]).toEqual(["lr", "Cause"]);
    expect(gridOf(["p:lr"])).toContain("minmax(70px, 1fr)");
    expect(parametersOf({ trainingInput: { args: ["--lr=0.1", "data", "--fast"] } })).toEqual(new Map([["p:lr", "0.1"], ["p:fast", "yes"]]));
  });
});

it("the last value of a curve is a column, that of a trial is not", () => {
  const items = [{ name: { tag: "loss", run: "eval" }, lastValue: 0.25 }, { name: { tag: "loss" }, lastValue: 0.5 },
                 { name: { tag: "loss", trialId: "3" }, lastValue: 9 }];
  expect([...lastValues(items)]).toEqual([["m:loss (eval)", 0.25], ["m:loss", 0.5]]);
  const values = ownValues([{ jobId: "a", metric: { tag: "loss", value: 1 } }], new Map([["a", lastValues(items)]]));
  expect(values.get("a")?.get("m:loss")).toBe(0.5);
});

it("views are queries under names", () => {
  const query = viewQuery(new URLSearchParams("filter=state%3DFAILED&sort=-created&marked=a&before=x"));
  expect(query).toBe("filter=state%3DFAILED&sort=-created");
  const views = withView(withView([], { name: "b", query }), { name: "a", query: "" });
  expect(readViews(JSON.stringify(withView(views, { name: "b", query: "x=1" })))).toEqual([{ name: "a", query: "" }, { name: "b", query: "x=1" }]);
  for (const wrong of [null, "", "{}", "[1, null, {}]", "[{\"name\": 1}]"]) expect(readViews(wrong)).toEqual([]);
});

it("a table is as wide as its columns need", () => {
  expect(leastWidth(["created"])).toBe(134 + 160 + 92 + 2 * 12 + 28);
});
