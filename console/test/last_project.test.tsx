import { act, cleanup, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Frame } from "../src/components/Frame.tsx";
import { lastProject } from "../src/state/session.ts";

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ projects: [{ projectId: "demo" }] })));
});
afterEach(cleanup);

const show = async (project: string) => {
  render(<Frame project={project}>here</Frame>);
  await screen.findByRole("option", { name: "demo" });
};

it("remembers the project that is looked at", async () => {
  await show("demo");
  await waitFor(() => expect(lastProject()).toBe("demo"));
});

it("does not remember one that there is not", async () => {
  localStorage.setItem("trainyard.project", "demo");
  await show("demp");
  await act(async () => undefined); // what it does after it is shown
  expect(lastProject()).toBe("demo");
});
