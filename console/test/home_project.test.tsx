import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { App } from "../src/app.tsx";
import "../src/pages/later.ts"; // before the first test waits for a page

const asked: string[] = [];
let projects: { projectId: string }[] = [];

beforeEach(() => {
  localStorage.clear();
  localStorage.setItem("trainyard.secret", "s");
  document.cookie = "x=y";
  asked.length = 0;
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (path === "/trainyard/v1/session") {
      return new Response(JSON.stringify({ authentication: true, principal: "user:ann@example.com" }));
    }
    return new Response(JSON.stringify(path === "/v1/projects" ? { projects } : {}));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = (path: string) => {
  history.replaceState(null, "", `/ui${path}`);
  render(<App />);
};

it("a new member's console is her project's before any job is there", async () => {
  projects = [{ projectId: "sound" }, { projectId: "vision" }];
  show("/buckets");
  await screen.findByText("sound has no buckets yet.");
  expect(asked).toContain("/storage/v1/b?project=sound&maxResults=1000");
  expect(screen.getByText("New job").getAttribute("href")).toBe("/ui/p/sound/new");
  fireEvent.change(screen.getByLabelText("Project"), { target: { value: "vision" } });
  await screen.findByText("vision has no buckets yet.");
  await waitFor(() => expect(location.search).toBe("?project=vision"));
});

it.each(["/", "/buckets"])("who has no role is told who gives one: %s", async (path) => {
  projects = [];
  show(path);
  await screen.findByText("You have no role in any project yet.");
  expect(screen.getByText(/add-iam-policy-binding PROJECT --member=user:ann@example.com --role=roles\/trainyard.member/)).toBeTruthy();
});
