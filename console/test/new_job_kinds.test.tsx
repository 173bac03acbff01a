import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NewJobPage } from "../src/pages/NewJobPage.tsx";
import { lostBy, withKind, written } from "../src/text/new_job.ts";

let answers: Record<string, unknown> = {};
let asked: string[] = [];

beforeEach(() => {
  answers = {};
  asked = [];
  sessionStorage.clear();
  history.replaceState(null, "", "/ui/p/demo/new");
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return new Response(JSON.stringify(answers[path.split("?")[0] ?? ""] ?? {}));
  });
});
afterEach(cleanup);

const show = async () => {
  render(<NewJobPage project="demo" />);
  return (await screen.findByLabelText("The job as YAML")) as HTMLTextAreaElement;
};
const type = (field: HTMLElement, value: string) => fireEvent.input(field, { target: { value } });
const kinds = () => within(screen.getByRole("group", { name: "What it runs" }));
const PACKAGE = "jobId: a\ntrainingInput:\n  pythonModule: mine.task # mine\n  packageUris:\n  - gs://b/1\n  runtimeVersion: 2.10\n";

describe("another kind of program", () => {
  it("takes nothing away that somebody wrote before it was asked", async () => {
    const yaml = await show();
    type(yaml, PACKAGE);
    fireEvent.click(kinds().getByText("Container"));
    expect(yaml.value).toBe(PACKAGE);
    const dialog = await screen.findByRole("dialog", { name: "Take these fields out of the YAML?" });
    expect(dialog.textContent).toContain("trainingInput.packageUris: gs://b/1");
    expect(dialog.textContent).toContain("trainingInput.pythonModule: mine.task");
    expect(dialog.textContent).toContain("trainingInput.runtimeVersion: 2.10");
    fireEvent.click(within(dialog).getByText("Keep"));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(yaml.value).toBe(PACKAGE);
    expect(kinds().getByText("Python package").getAttribute("aria-pressed")).toBe("true");
  });
  it("brings back what it had, and the focus", async () => {
    const yaml = await show();
    type(yaml, PACKAGE);
    kinds().getByText("Container").focus();
    fireEvent.click(kinds().getByText("Container"));
    fireEvent.click(await screen.findByText("Take them out"));
    await waitFor(() => expect(yaml.value).toBe('jobId: a\ntrainingInput:\n  masterConfig:\n    imageUri: ""\n'));
    expect(document.activeElement).toBe(kinds().getByText("Container"));
    fireEvent.click(kinds().getByText("Python package"));
    expect(screen.queryByRole("dialog")).toBeNull();
    for (const text of ["pythonModule: mine.task", "- gs://b/1", 'runtimeVersion: "2.10"']) expect(yaml.value).toContain(text);
    expect(yaml.value).not.toContain("imageUri");
  });
  it("is not asked about where a new job has only what it began with", async () => {
    const yaml = await show();
    fireEvent.click(kinds().getByText("Container"));
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(yaml.value).toContain('imageUri: ""');
    type(screen.getByLabelText("Image"), "");
    expect(kinds().getByText("Container").getAttribute("aria-pressed")).toBe("true");
  });
});

it("an image of somebody's own is lost by an algorithm, other fields of the machine are not", () => {
  const text = "trainingInput:\n  masterConfig:\n    imageUri: mine\n    acceleratorConfig: {count: 1}\n";
  expect(written(lostBy(text, "algorithm")).map(({ value }) => value)).toEqual(["mine"]);
  expect(lostBy(text, "container")).toEqual([]);
  expect(withKind(text, "package")).toBe("trainingInput:\n  masterConfig:\n    acceleratorConfig: {count: 1}\n");
});

it("begins anew once that was said twice", async () => {
  const yaml = await show();
  type(yaml, "jobId: mine\n");
  fireEvent.click(screen.getByText("Begin anew"));
  expect(yaml.value).toBe("jobId: mine\n");
  fireEvent.click(await screen.findByText("Discard"));
  await waitFor(() => expect(yaml.value).toContain("jobId: job_"));
});

it("a clone has an id that no job has, and shells if they are wanted", async () => {
  history.replaceState(null, "", "/ui/p/demo/new?from=run_1&shells=1");
  answers["/v1/projects/demo/jobs/run_1"] = { jobId: "run_1", trainingInput: { jobDir: "gs://b/run_1" } };
  answers["/trainyard/v1/projects/demo/jobs"] = { jobs: [{ jobId: "run_1" }, { jobId: "run_2" }, { jobId: "run_3" }] };
  expect((await show()).value).toBe("jobId: run_4\ntrainingInput:\n  jobDir: gs://b/run_4\n  enableWebAccess: true\n");
  expect(asked).toContain("/trainyard/v1/projects/demo/jobs?filter=jobId%3Arun_&pageSize=100");
});
