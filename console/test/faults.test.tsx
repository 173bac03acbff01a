// What readers stumbled over, each by itself.
import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { reasonOf } from "../src/api/http.ts";
import { WHOLE } from "../src/components/chart_axes.ts";
import { JobLayout } from "../src/components/JobLayout.tsx";
import { MachineFigures } from "../src/components/MachineFigures.tsx";
import { exact, zone } from "../src/text/format.ts";
import { folderOf } from "../src/text/job_folder.ts";
import { programName, timeWord } from "../src/text/job_words.ts";
import { diskName, roomWords } from "../src/text/machine_words.ts";
import { ceilingOf, USE_KINDS } from "../src/text/machine_use.ts";
import { said } from "../src/state/job_check.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the machine", () => {
  it("jobs that share it asked for more than there is", () => {
    expect(roomWords(2, 28, String)).toBe("of 2; jobs asked for 28 and share it");
    expect(roomWords(2, 1, String)).toBe("of 2; jobs asked for 1");
    expect(roomWords(2, undefined, String)).toBe("of 2");
  });
  it("no sentence ends in the middle for who may not see names", () => {
    expect(diskName({})).toBe("Disk");
    render(<MachineFigures machine={{ cpus: 2, disks: [{ bytes: "2048", bytesFree: "1024", holds: ["data"] }] }} held={undefined} />);
    expect(screen.getByText("of 2 KiB")).toBeTruthy();
  });
});

describe("times", () => {
  it.each([[0, "UTC"], [-60, "UTC+1"], [210, "UTC-3:30"]])("name their zone: %d", (offset, word) => {
    vi.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(offset);
    expect(zone(0)).toBe(word);
    expect(exact(0).endsWith(` ${word}`)).toBe(true);
  });
  it.each([["RUNNING", "running for"], ["SUCCEEDED", "took"], ["PREPARING", "preparing for"]])("a job that is %s %s", (state, word) =>
    expect(timeWord(state)).toBe(word));
});

describe("charts", () => {
  it("what is counted has whole ticks", () => expect(WHOLE.every(Number.isInteger)).toBe(true));
  it.each([[0.02, 0.05], [0.3, 0.5], [0.97, 1], [1.2, 1]])("shares up to %d end at %d", (most, ceiling) => {
    const kind = USE_KINDS[0]!;
    const series = { type: kind.type, task: "a", times: new Float64Array([1]), values: new Float64Array([most]) };
    expect(ceilingOf([series, { ...series, type: "other", values: new Float64Array([9]) }], kind)).toBe(ceiling);
  });
});

describe("refusals", () => {
  it("are sentences", () => expect(reasonOf("Field: name Error: The id is taken.")).toBe("The id is taken."));
  it("are not about what nobody typed yet", () => {
    const problems = ["", "job_id", "training_input.region"].map((field) => ({ field, line: undefined, text: "x" }));
    expect(said(problems, []).map(({ field }) => field)).toEqual([""]);
    expect(said(problems, [["trainingInput", "region"]]).map(({ field }) => field)).toEqual(["", "training_input.region"]);
  });
});

it.each([
  ["gs://b/a/j 1/", { bucket: "b", prefix: "a/j 1/", page: "/buckets/b/a/j%201/" }], ["gs://b", undefined], ["/home/x", undefined],
])("the folder of %s", (uri, folder) => expect(folderOf(uri)).toEqual(folder));

describe("a job's views", () => {
  const show = (job: object) => {
    const answers = (path: string) => (path === "/v1/projects/p/jobs/j" ? job : {});
    vi.stubGlobal("fetch", async (path: string) => new Response(JSON.stringify(answers(path))));
    return render(<JobLayout project="p" job="j" tab="Overview">{() => null}</JobLayout>);
  };
  const names = () => [...document.querySelectorAll(".tabs a")].map((tab) => tab.textContent);

  it("a shell is where there is one, and nothing that ended is live", async () => {
    const { unmount } = show({ jobId: "j", state: "RUNNING", trainingInput: { enableWebAccess: true } });
    expect(names()).toEqual([]);
    await screen.findByText("Shell");
    unmount();
    show({ jobId: "j", state: "SUCCEEDED", trainingInput: { enableWebAccess: true, hyperparameters: {} }, startTime: "2026-01-01T00:00:00Z" });
    await screen.findByText("Trials");
    expect(names()).not.toContain("Shell");
    expect(screen.queryByText("Live")).toBeNull();
    expect(screen.getByText(/took/)).toBeTruthy();
  });

  it("the next view begins with what is known of the job", async () => {
    const { unmount } = show({ jobId: "j", state: "FAILED", trainingInput: {} });
    await screen.findByText("Failed");
    unmount();
    vi.stubGlobal("fetch", () => new Promise(() => undefined));
    render(<JobLayout project="p" job="j" tab="Logs">{() => null}</JobLayout>);
    expect(names()).toContain("Logs");
    expect(screen.getByText("Failed")).toBeTruthy();
  });
});

it("a program that was sent by run has its file's name", () => {
  expect(programName("trainyard_program", "train_20261123_101502")).toBe("train");
  expect(programName("trainyard_program", "my_net_20261123_101502_2")).toBe("my_net");
  expect(programName("trainyard_program", "livejob")).toBe("livejob");
  expect(programName("trainer.task", "train_20261123_101502")).toBe("trainer.task");
  expect(programName(undefined, "a")).toBe("");
});
