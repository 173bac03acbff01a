import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { NewJobPage } from "../src/pages/NewJobPage.tsx";

const asked: { method: string; path: string; body: unknown }[] = [];
let answers: Record<string, { status?: number; body: unknown }> = {};

beforeEach(() => {
  asked.length = 0;
  answers = {};
  sessionStorage.clear();
  history.replaceState(null, "", "/ui/p/demo/new");
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const method = init.method ?? "GET";
    asked.push({ method, path, body: init.body === undefined ? undefined : JSON.parse(String(init.body)) });
    const { status = 200, body = {} } = answers[`${method} ${path}`] ?? { body: {} };
    return new Response(JSON.stringify(body), { status });
  });
});
afterEach(cleanup);

const show = async () => {
  render(<NewJobPage project="demo" />);
  return (await screen.findByLabelText("The job as YAML")) as HTMLTextAreaElement;
};
const type = (field: HTMLElement, value: string) => fireEvent.input(field, { target: { value } });

it("the form changes the YAML, and the YAML the form", async () => {
  const yaml = await show();
  type(screen.getByLabelText("Job id"), "a_1");
  type(screen.getByLabelText("Packages"), "gs://b/1\n\ngs://b/2");
  type(screen.getByLabelText("Labels"), "team=vision\nx");
  expect(yaml.value).toBe(`jobId: a_1
trainingInput:
  region: us-central1
  scaleTier: BASIC
  pythonModule: trainer.task
  packageUris:
  - gs://b/1
  - gs://b/2
labels:
  team: vision
  x: ""
`);
  type(yaml, "jobId: b # mine\ntrainingInput:\n  masterConfig: {imageUri: x}\n");
  expect((screen.getByLabelText("Image") as HTMLInputElement).value).toBe("x");
  type(screen.getByLabelText("Image"), "z");
  expect(yaml.value).toBe("jobId: b # mine\ntrainingInput:\n  masterConfig:\n    imageUri: z\n");
  fireEvent.click(screen.getByText("Built-in algorithm"));
  fireEvent.click(await screen.findByText("Take them out"));
  expect(yaml.value).toContain("imageUri: gcr.io/cloud-ml-algos/linear_learner_cpu:latest");
});

it("says which line cannot be read, and submits nothing then", async () => {
  const yaml = await show();
  type(yaml, "jobId: a\ntrainingInput: [\n");
  expect(screen.getByText("A bracket is not closed.")).toBeTruthy();
  expect((screen.getByText("Submit") as HTMLButtonElement).disabled).toBe(true);
  expect((screen.getByLabelText("The usual fields") as HTMLFieldSetElement).disabled).toBe(true);
});

it("shows what the server says at its field and its line", async () => {
  const violations = [{ field: "training_input.scale_tier", description: "<b>Bad</b> tier." }];
  answers["POST /trainyard/v1/projects/demo/jobs:validate"] = { body: { violations, notes: ["A note."] } };
  type(await show(), "jobId: a\ntrainingInput:\n  region: us-central1\n  scaleTier: BASIC\n");
  expect((await screen.findAllByText("<b>Bad</b> tier.", { exact: false })).length).toBe(2);
  expect(screen.getByText("A note.")).toBeTruthy();
  expect(screen.getByText("Line 4")).toBeTruthy();
  expect(screen.getByLabelText("Machines").getAttribute("aria-invalid")).toBe("true");
});

it("does not begin red, and says what is wrong with what was typed", async () => {
  const violations = ["job_id", "training_input.region"].map((field) => ({ field, description: `Bad ${field}.` }));
  answers["POST /trainyard/v1/projects/demo/jobs:validate"] = { body: { violations } };
  await show();
  expect(await screen.findByText(/^Not complete yet/)).toBeTruthy();
  await waitFor(() => expect(asked.some(({ path }) => path.endsWith(":validate"))).toBe(true));
  expect(screen.queryByText(/^Bad/)).toBeNull();
  type(screen.getByLabelText("Job id"), "1");
  expect((await screen.findAllByText("Bad job_id.")).length).toBe(2);
  expect(screen.queryByText("Bad training_input.region.")).toBeNull();
});

it("keeps what was typed over a reload, but no secret", async () => {
  type(await show(), "jobId: typed\n");
  cleanup();
  const yaml = await show();
  expect(yaml.value).toBe("jobId: typed\n");
  type(yaml, "trainingInput:\n  env:\n  - name: T\n    value: x\n    secret: true\n");
  expect(Object.keys(sessionStorage)).toEqual([]);
});

it("creates the job and goes there, or says why not", async () => {
  answers["POST /v1/projects/demo/jobs"] = {
    status: 400,
    body: { error: { message: "Field: job_id Error: It is taken.", details: [{ fieldViolations: [{ field: "job_id" }] }] } },
  };
  type(await show(), "jobId: a\ntrainingInput:\n  workerCount: 2\n  runtimeVersion: 2.10\n");
  fireEvent.click(screen.getByText("Submit"));
  expect((await screen.findAllByText("It is taken.", { exact: false })).length).toBe(2);
  answers["POST /v1/projects/demo/jobs"] = { body: { jobId: "a" } };
  fireEvent.click(screen.getByText("Submit"));
  await waitFor(() => expect(location.pathname).toBe("/ui/p/demo/jobs/a"));
  expect(asked.at(-1)?.body).toEqual({ jobId: "a", trainingInput: { workerCount: 2, runtimeVersion: "2.10" } });
});

it("begins with another job's input", async () => {
  history.replaceState(null, "", "/ui/p/demo/new?from=old");
  answers["GET /v1/projects/demo/jobs/old"] = {
    body: { jobId: "old", state: "FAILED", trainingInput: { jobDir: "gs://b/old" } },
  };
  expect((await show()).value).toBe("jobId: old_2\ntrainingInput:\n  jobDir: gs://b/old_2\n");
});

it("shows hidden characters as signs, to be changed in the YAML", async () => {
  type(await show(), 'jobId: "a\\u202eb"\nlabels: {x: "a\\u202eb"}\n');
  expect((screen.getByLabelText("Job id") as HTMLInputElement).value).toBe("a⟨202E⟩b");
  expect((screen.getByLabelText("Job id") as HTMLInputElement).readOnly).toBe(true);
  expect((screen.getByLabelText("Labels") as HTMLTextAreaElement).disabled).toBe(true);
});
