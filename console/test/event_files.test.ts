import { expect, it } from "vitest";
import { curvesBeside, jobsAround } from "../src/text/event_files.ts";

it("looks for the job by the folders around the file", () => {
  expect(jobsAround("b", "a/t/events.out")).toBe([
    "gs://b/", "gs://b", "gs://b/a/", "gs://b/a", "gs://b/a/t/", "gs://b/a/t",
  ].map((dir) => `trainingInput.jobDir="${dir}"`).join(" OR "));
  expect(jobsAround("b", 'x" OR state="FAILED/e')).toContain('trainingInput.jobDir="gs://b/x\\" OR state=\\"FAILED"');
  expect(jobsAround("b", "d/".repeat(99)).split(" OR ").length).toBeLessThan(30);
});

it("knows which curves are in the file's folder", () => {
  const item = (tag: string, run: string, trialId = "", hypertune = false) => ({ name: { tag, run, trialId, hypertune } });
  const list = {
    places: ["gs://b/job", "gs://b/other"],
    items: [
      item("loss", "eval"), item("loss", "train"), item("root", "."), item("best", "eval", "3"), item("told", "", "3", true),
    ],
  };
  const tags = (name: string) => curvesBeside(list, "b", name).map((one) => one.name?.tag);
  expect([tags("job/eval/e"), tags("job/e"), tags("job/3/eval/e"), tags("job/3/e"), tags("jobs/eval/e")])
    .toEqual([["loss"], ["root"], ["best"], [], []]);
});
