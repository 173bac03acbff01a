// @vitest-environment happy-dom
import { beforeEach, expect, it, vi } from "vitest";
import { startExample } from "../src/state/example.ts";
import { uploadToRuns } from "../src/state/runs.ts";
import { EXAMPLES } from "../src/text/examples.ts";

const asked: { path: string; project: string | undefined }[] = [];
let refusal = "";

beforeEach(() => {
  asked.length = 0;
  refusal = "";
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push({ path, project: (init.headers as Record<string, string>)["X-Trainyard-Bucket-Project"] });
    if (refusal === "") return new Response("{}");
    return new Response(JSON.stringify({ error: { message: refusal } }), { status: 400 });
  });
});

const upload = (project: string) => uploadToRuns(project, "a/b.whl", "application/zip", new Blob(["x"]));

it("an upload says for which project it is", async () => {
  expect(await upload("demo")).toBe("gs://demo-runs/a/b.whl");
  await startExample(EXAMPLES[0]!, "demo");
  expect(asked.map(({ project }) => project)).toEqual(["demo", "demo", undefined]); // the last one creates the job
});

it("a refusal says what to do", async () => {
  refusal = "gs://demo-runs is no bucket of project demo";
  await expect(upload("demo")).rejects.toThrow(
    "gs://demo-runs is no bucket of project demo. If nobody has it, make it in Buckets. Upload the files to another bucket",
  );
  refusal = "Invalid object name";
  await expect(upload("demo")).rejects.toThrow(/^Invalid object name$/);
});

it("a project that no bucket can be named after gets none", async () => {
  await expect(upload("example.com:demo")).rejects.toThrow("No bucket can be named after project example.com:demo. Upload");
  await expect(startExample(EXAMPLES[0]!, "example.com:demo")).rejects.toThrow("No bucket can be named after");
  expect(asked).toEqual([]);
});
