import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ComparePage } from "../src/pages/ComparePage.tsx";

const names = Array.from({ length: 25 }, (_, at) => `job_${at + 1}`);

beforeEach(() => {
  history.replaceState(null, "", `/ui/p/demo/compare?jobs=${names.join()}`);
  vi.stubGlobal("fetch", async (path: string) => {
    const jobId = /^\/v1\/projects\/demo\/jobs\/(\w+)$/.exec(path)?.[1];
    return new Response(JSON.stringify(jobId === undefined ? {} : { jobId, state: "SUCCEEDED" }));
  });
});
afterEach(cleanup);

it("says that not all jobs are compared, and compares all when that is wanted", async () => {
  render(<ComparePage project="demo" />);
  expect((await screen.findByText(/^The first 20 of 25 jobs/)).getAttribute("role")).toBe("status");
  await waitFor(() => expect(screen.getAllByRole("columnheader").length).toBe(21));
  expect(screen.getByRole("button", { name: "Take job_25 away" })).toBeTruthy();
  fireEvent.click(screen.getByText("Compare all 25"));
  expect(location.search).toContain("most=all");
  await waitFor(() => expect(screen.getAllByRole("columnheader").length).toBe(26));
  expect(screen.queryByText(/of 25 jobs/)).toBeNull();
});

it("a job that is taken away leaves the focus at the next one", async () => {
  history.replaceState(null, "", "/ui/p/demo/compare?jobs=a,b");
  render(<ComparePage project="demo" />);
  fireEvent.click(screen.getByRole("button", { name: "Take a away" }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: "Take b away" })));
  fireEvent.click(screen.getByRole("button", { name: "Take b away" }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Add a job")));
});
