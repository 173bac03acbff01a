import { act, cleanup, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MachinePage } from "../src/pages/MachinePage.tsx";

let answers: Record<string, unknown> = {};
let asked: string[] = [];
let sizes: (answer: unknown) => void = () => undefined;

beforeEach(() => {
  localStorage.clear();
  asked = [];
  answers = { "/trainyard/v1/machine": { hostName: "yard", cpus: 2, memoryBytes: "1024" } };
  const slow = new Promise((done) => (sizes = done));
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const answer = path === "/trainyard/v1/runtimes" ? await slow : (answers[path] ?? {});
    return new Response(JSON.stringify(answer));
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it("shows all the rest while sizes are added up", async () => {
  render(<MachinePage />);
  expect(await screen.findByText("yard")).toBeTruthy();
  expect(await screen.findByText("Queue is empty")).toBeTruthy();
  expect(await screen.findByText("No image is kept.")).toBeTruthy();
  expect(screen.getByText("Adding up the sizes of what is built…").getAttribute("role")).toBe("status");
  await act(async () => sizes({ runtimes: [{ version: "2.15", state: "built", sizeBytes: "1536" }] }));
  expect(await screen.findByText("1.5 KiB")).toBeTruthy();
  expect(screen.queryByText(/Adding up/)).toBeNull();
});

it.each([[5, 3], [400, 1]])("of %d jobs it asks %d times in half a minute", async (count, times) => {
  answers["/trainyard/v1/usage"] = { jobs: Array.from({ length: count }, (_, at) => ({ project: "p", jobId: `j${at}` })) };
  vi.useFakeTimers();
  render(<MachinePage />);
  const pass = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  await pass(1);
  asked = [];
  for (let second = 0; second < 31; second += 1) await pass(1000);
  expect(asked.filter((path) => path === "/trainyard/v1/usage").length).toBe(times);
  expect(asked.filter((path) => path === "/trainyard/v1/machine").length).toBe(3);
});

it("no job has more than all, and a machine that others use is not free", async () => {
  answers["/trainyard/v1/usage"] = { machine: { cpusHeld: 4 }, jobs: [{ project: "p", jobId: "big", holds: true, machineShare: 2 }] };
  const { unmount } = render(<MachinePage />);
  expect(await screen.findByText("all, shared")).toBeTruthy();
  unmount();
  answers["/trainyard/v1/usage"] = { machine: { cpusHeld: 4 } };
  render(<MachinePage />);
  expect(await screen.findByText("Only jobs of other projects hold room.")).toBeTruthy();
  expect(screen.queryByText(/the machine is free/)).toBeNull();
});

it("a tuning job holds no replicas of its own", async () => {
  answers["/trainyard/v1/usage"] = {
    jobs: [{ project: "p", jobId: "tuned", holds: true, state: "RUNNING" },
           { project: "p", jobId: "tuned", trialId: "1", holds: true, state: "RUNNING", replicas: 2, cpus: 4, memoryBytes: "16106127360" }],
  };
  render(<MachinePage />);
  const rows = (await screen.findAllByRole("row")).map((row) => row.textContent ?? "");
  expect(rows.find((row) => row.startsWith("tuned, trial 1"))).toContain("2415 GiB");
  expect(rows.find((row) => row.startsWith("tunedp"))).not.toContain("0 B");
});

it("a job on a cluster names its nodes, and has no share of the machine", async () => {
  answers["/trainyard/v1/usage"] = {
    jobs: [{ project: "p", jobId: "there", holds: true, state: "RUNNING", nodes: ["node1", "node2"],
             devices: [{ type: "nvidia-tesla-t4", index: "0", node: "node1" }] }],
    projects: [{ project: "p", quotas: [{ resource: "gpus", limit: "2" }, { resource: "gpus", limit: "16", engine: "slurm" }] }],
  };
  render(<MachinePage />);
  const rows = (await screen.findAllByRole("row")).map((row) => row.textContent ?? "");
  expect(rows.find((row) => row.startsWith("there"))).toContain("on node1, node2nvidia-tesla-t4 node1:0");
  expect(rows.some((row) => row.includes("2 gpus, 16 gpus@slurm"))).toBe(true);
});
