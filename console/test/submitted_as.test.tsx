import { fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { JobRowView } from "../src/components/JobRowView.tsx";
import { ConfigPage } from "../src/pages/ConfigPage.tsx";
import { OverviewPage } from "../src/pages/OverviewPage.tsx";
import { orderedJobs } from "../src/text/job_order.ts";
import { nameOf, submittedWords, vertexKindOf } from "../src/text/submitted_as.ts";

const ID = "vertex_7110512376444053982";
const submittedAs = { api: "aiplatform", collection: "trainingPipelines", location: "us-central1", number: "7110512376444053982" };
const job = { jobId: ID, displayName: "census\u202e", state: "SUCCEEDED", createTime: "2026-11-28T00:00:00Z" } as const;
let answers: Record<string, unknown> = {};

beforeEach(() => {
  history.replaceState(null, "", `/ui/p/p/jobs/${ID}`);
  answers = {
    [`/v1/projects/p/jobs/${ID}`]: { ...job, trainingInput: { pythonModule: "m" } },
    [`/trainyard/v1/projects/p/jobs/${ID}`]: { state: "SUCCEEDED", submittedAs },
    "/aiplatform/v1/projects/p/locations/us-central1/customJobs/7110512376444053982": {
      displayName: "census-custom-job",
      jobSpec: { workerPoolSpecs: [{ replicaCount: "1", containerSpec: { imageUri: "i" } }] },
    },
  };
  vi.stubGlobal("fetch", async (path: string) => {
    const body = answers[path];
    return new Response(JSON.stringify(body ?? { error: { message: "No permission" } }), { status: body === undefined ? 403 : 200 });
  });
});
afterEach(() => vi.unstubAllGlobals());

it("what a job was submitted as is said in words", () => {
  const words = (collection: string) => submittedWords({ ...submittedAs, collection });
  expect(words("customJobs")).toBe("Vertex AI custom job, us-central1");
  expect(words("hyperparameterTuningJobs")).toBe("Vertex AI tuning job, us-central1");
  expect(words("trainingPipelines")).toBe("Vertex AI training pipeline, us-central1");
  expect(words("ofANewerServer")).toBe("ofANewerServer, us-central1");
  expect(submittedWords(undefined)).toBe("");
  expect([nameOf(job), nameOf({ jobId: "a" }), nameOf(undefined)]).toEqual([job.displayName, "a", ""]);
});

it("a pipeline is shown as the job behind it", () => {
  expect(vertexKindOf(submittedAs, job)).toBe("customJobs");
  expect(vertexKindOf(submittedAs, { trainingInput: { hyperparameters: {} } })).toBe("hyperparameterTuningJobs");
  expect(vertexKindOf(undefined, job)).toBeUndefined();
});

it("a row has the display name, and says what the job was submitted as", () => {
  const row = (columns: readonly ("what" | "submitted")[], card = false) => (
    <JobRowView project="p" job={{ ...job, submittedAs }} current={false} card={card} columns={columns} onLabel={() => undefined} />
  );
  const { container, rerender } = render(row(["what"]));
  expect(screen.getByText("census⟨202E⟩").closest("a")?.getAttribute("href")).toBe(`/ui/p/p/jobs/${ID}`);
  expect(screen.getByText("Vertex AI training pipeline, us-central1").closest("span")?.title).toContain(ID);
  rerender(row(["submitted"]));
  expect(screen.getAllByText("Vertex AI training pipeline, us-central1").length).toBe(1);
  rerender(row([], true));
  expect(container.textContent).toContain("Vertex AI training pipeline, us-central1");
});

it("jobs are in the order of the names that are shown", () => {
  const jobs = [{ jobId: "b" }, { jobId: "vertex_1", displayName: "a", submittedAs }, { jobId: "c" }];
  const by = (column: "job" | "submitted") => orderedJobs(jobs, { column, descending: false }, new Map(), 0).map(({ jobId }) => jobId);
  expect(by("job")).toEqual(["vertex_1", "b", "c"]);
  expect(by("submitted")).toEqual(["vertex_1", "b", "c"]);
});

it("a job's page has the display name as its title, and the id behind it", async () => {
  render(<OverviewPage project="p" job={ID} />);
  expect((await screen.findByText("census⟨202E⟩")).closest("h1")?.textContent).toBe(`census⟨202E⟩ ${ID}`);
  expect((await screen.findByText("Vertex AI training pipeline, us-central1")).closest("dd")?.textContent).toContain("7110512376444053982");
  await waitFor(() => expect(document.title).toBe("census⟨202E⟩ (vertex_7110512376444053982) · Trainyard"));
});

it("it can be copied as gcloud ai and as a program with the SDK", async () => {
  render(<ConfigPage project="p" job={ID} />);
  fireEvent.click(await screen.findByText("Vertex SDK"));
  expect(document.body.textContent).toContain('aiplatform.CustomJob(\n    display_name="census-custom-job"');
  fireEvent.click(screen.getByText("gcloud ai"));
  expect(location.search).toBe("");
  expect(document.body.textContent).toContain("gcloud ai custom-jobs create");
  fireEvent.click(screen.getByText("gcloud"));
  expect(document.body.textContent).toContain("gcloud ai-platform jobs submit training");
});

it("where Vertex AI does not show it, the job of ml v1 is there", async () => {
  delete answers["/aiplatform/v1/projects/p/locations/us-central1/customJobs/7110512376444053982"];
  render(<ConfigPage project="p" job={ID} />);
  expect(await screen.findByText("No permission")).toBeTruthy();
  expect(screen.queryByText("gcloud ai")).toBeNull();
  expect(document.body.textContent).toContain("gcloud ai-platform jobs submit training");
});
