import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { NewJobPage } from "../src/pages/NewJobPage.tsx";

const uploads: string[] = [];

beforeEach(() => {
  uploads.length = 0;
  sessionStorage.clear();
  history.replaceState(null, "", "/ui/p/demo/new");
  vi.stubGlobal("fetch", async (path: string) => {
    if (path.startsWith("/upload/")) uploads.push(path);
    return new Response("{}");
  });
});
afterEach(cleanup);

const choose = async (label: string, ...files: File[]) => {
  render(<NewJobPage project="demo" />);
  const yaml = (await screen.findByLabelText("The job as YAML")) as HTMLTextAreaElement;
  const input = screen.getByLabelText(label) as HTMLInputElement;
  Object.defineProperty(input, "files", { value: files });
  fireEvent.change(input);
  return yaml;
};

it("a program becomes the job that trainyard run would send", async () => {
  const yaml = await choose("Choose a program or notebook…", new File(["import torch"], "train.py"), new File(["1"], "a.csv"));
  await waitFor(() => expect(yaml.value).toContain("pythonModule: trainyard_program"));
  const [, job = ""] = /^jobId: (train_\d{8}_\d{6})$/m.exec(yaml.value) ?? [];
  expect(yaml.value).toContain(`- gs://demo-runs/${job}/packages/trainyard_program-0-py3-none-any.whl`);
  expect(yaml.value).toContain(`jobDir: gs://demo-runs/${job}\n  jobDirAsVariable: true`);
  expect(yaml.value).toContain("runtimeVersion: pytorch-2.15");
  expect(uploads).toHaveLength(1);
  expect(screen.getByText("2 files, 13 B")).toBeTruthy();
});

it("says what is wrong with the files, and sends nothing", async () => {
  const yaml = await choose("Choose a program or notebook…", new File(["1"], "a.csv"));
  expect(await screen.findByText(/There is no .py file and no notebook/)).toBeTruthy();
  expect(yaml.value).toContain("pythonModule: trainer.task");
  expect(uploads).toEqual([]);
});
