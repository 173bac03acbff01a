import { expect, it } from "vitest";
import { afterChanges, shown } from "../src/text/job_rows.ts";

const row = (jobId: string, createTime: string, state: "RUNNING" | "FAILED" = "RUNNING") => ({ jobId, createTime, state }) as const;
const list = { jobs: [row("b", "2026-01-02"), row("a", "2026-01-01")], waiting: [] };

it("changes rows in place, and takes deleted ones away", () => {
  const changed = afterChanges(list, { changes: [{ jobId: "a", job: row("a", "2026-01-01", "FAILED") }, { jobId: "b" }] }, false);
  expect(changed).toEqual({ jobs: [row("a", "2026-01-01", "FAILED")], waiting: [] });
});

it("lets new jobs wait until they are wanted, each once", () => {
  const one = afterChanges(list, { changes: [{ jobId: "c", job: row("c", "2026-01-03") }] }, false);
  const two = afterChanges(one, { changes: [{ jobId: "c", job: row("c", "2026-01-03", "FAILED") }, { jobId: "d", job: row("d", "2026-01-04") }] }, false);
  expect(two.jobs).toEqual(list.jobs);
  expect(shown(two).jobs.map((job) => job.jobId)).toEqual(["d", "c", "b", "a"]);
  expect(afterChanges(two, { changes: [{ jobId: "c" }] }, true).jobs.map((job) => job.jobId)).toEqual(["d", "b", "a"]);
});

it("leaves older jobs that are not loaded alone", () => {
  expect(afterChanges(list, { changes: [{ jobId: "old", job: row("old", "2025-01-01") }] }, true)).toEqual(list);
});
