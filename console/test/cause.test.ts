import { describe, expect, it } from "vitest";
import { causeOf } from "../src/text/cause.ts";
import { cloneOf, nextId } from "../src/text/clone.ts";
import { cpuShare, exitWords, progressWords } from "../src/text/replica_words.ts";
import { trialsInShort } from "../src/text/trials_in_short.ts";
import { areaPath, hourMarks, meanAndPeak, thinned } from "../src/text/use_strip.ts";

const MESSAGE = "The replica worker 1 exited.\n\nDiagnosis: import_missing. The program imports 'yaml'.\nWhat to do: Add it.\n";

describe("why", () => {
  it("it failed: the diagnosis of the replica, else of the message, else its first sentence", () => {
    const replicas = [
      { taskName: "a", exit: { cause: "STOPPED" as const } },
      { taskName: "b", exit: { cause: "EXITED" as const, exitCode: 1, diagnosis: { summary: "S", advice: "A" } } },
    ];
    expect(causeOf({ state: "FAILED", errorMessage: MESSAGE }, { replicas })).toMatchObject({
      tone: "bad",
      title: "S",
      advice: "A",
      replica: "b",
    });
    expect(causeOf({ state: "FAILED", errorMessage: MESSAGE }, undefined)).toMatchObject({
      title: "The program imports 'yaml'.",
      advice: "Add it.",
      replica: "",
    });
    expect(causeOf({ state: "FAILED", errorMessage: "One.\nTwo." }, undefined)).toMatchObject({
      title: "One.",
      whole: "One.\nTwo.",
    });
    expect(causeOf({ state: "FAILED" }, undefined)?.title).toBe("The job failed.");
  });
  it("it waits", () => {
    expect(causeOf({ state: "QUEUED" }, { waiting: { reason: "R", unblock: "U" } })).toMatchObject({
      tone: "wait",
      title: "R",
      advice: "U",
    });
    expect(causeOf({ state: "RUNNING" }, {})).toBeUndefined();
  });
});

describe("words", () => {
  it.each([
    [{ cause: "EXITED" as const }, "Done"],
    [{ cause: "EXITED" as const, exitCode: 2 }, "Status 2"],
    [{ cause: "SIGNALED" as const, signal: 9 }, "Killed by SIGKILL"],
    [{ cause: "OUT_OF_MEMORY" as const, memoryLimitBytes: "1073741824" }, "Out of memory at 1 GiB"],
  ])("of an end %j", (exit, words) => expect(exitWords(exit)).toBe(words));
  it.each([
    [{ done: "1024", total: "2048", unit: "bytes" }, "1 KiB of 2 KiB"],
    [{ done: "3", total: "12", unit: "packages" }, "3 of 12 packages"],
    [{}, ""],
  ])("of progress %j", (progress, words) => expect(progressWords(progress)).toBe(words));
  it("of use, between two samples", () => {
    const sample = (second: number, cpuSeconds: number) => ({ time: new Date(second * 1000).toISOString(), cpuSeconds, cpus: 2 });
    expect(cpuShare(sample(10, 30), sample(0, 20))).toBe(0.5);
    expect(cpuShare(sample(10, 30), undefined)).toBeUndefined();
  });
});

describe("a clone", () => {
  it.each([
    ["a", "a_2"],
    ["a_2", "a_3"],
    ["a_9", "a_10"],
    ["run_20261123_155116", "run_20261123_155116_2"],
  ])("of %s is %s", (id, next) => expect(nextId(id)).toBe(next));
  it("is one that is not taken", () => {
    expect(nextId("census_1", new Set(["census_2", "census_3", "census_5"]))).toBe("census_4");
    expect(nextId("census", new Set(["census_2"]))).toBe("census_3");
  });
  it("has folders of its own, and nothing that the server adds", () => {
    const job = {
      jobId: "a",
      state: "FAILED" as const,
      trainingInput: {
        jobDir: "gs://a/x/a",
        args: ["a"],
        env: [
          { name: "D", value: "gs://b/a/logs" },
          { name: "S", secret: true },
        ],
      },
    };
    expect(cloneOf(job, "a_2")).toEqual({
      jobId: "a_2",
      trainingInput: {
        jobDir: "gs://a/x/a_2",
        args: ["a"],
        env: [
          { name: "D", value: "gs://b/a_2/logs" },
          { name: "S", secret: true },
        ],
      },
    });
  });
});

it("the best trial is that of the goal", () => {
  const trial = (trialId: string, objectiveValue: number | "NaN") => ({
    trialId,
    state: "SUCCEEDED" as const,
    finalMetric: { objectiveValue },
  });
  const job = {
    trainingInput: { hyperparameters: { goal: "MINIMIZE" as const, maxTrials: 5 } },
    trainingOutput: { trials: [trial("1", 3), trial("2", 0), trial("3", "NaN")] },
  };
  expect(trialsInShort(job)).toMatchObject({ ended: 3, wanted: 5, best: { trialId: "2" } });
});

describe("a strip of use", () => {
  it("has gaps where nothing is known", () => expect(areaPath([0.5, -1, 1], 30, 10)).toBe("M0 10V5H10V10ZM20 10V0H30V10Z"));
  it("keeps peaks", () => expect(thinned([0, 1, 0, 0, 0, 0.5], 3)).toEqual([1, 0, 0.5]));
  it("has figures of what is known", () => expect(meanAndPeak([-1, 0.5, 1])).toEqual({ mean: 0.75, peak: 1 }));
  it("has marks at whole hours", () => expect(hourMarks(0, 86_400_000).length).toBeLessThanOrEqual(8));
});
