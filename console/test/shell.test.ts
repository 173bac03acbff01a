// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { allowTerminalStyles } from "../src/shell/style_policy.ts";
import { endOf, shellTargets } from "../src/text/shell_session.ts";

const uri = (task: string) => `http://elsewhere:1/trainyard/v1/projects/p/jobs/j/replicas/${task}:shell?token=t`;

it("names the replicas that run, each once, and their addresses on this server", () => {
  const webAccessUris = Object.fromEntries(["worker-replica-10", "worker-replica-2"].map((task) => [task, uri(task)]));
  const found = shellTargets(
    { trainingOutput: { webAccessUris } },
    { replicas: [{ taskName: "worker-replica-2", phase: "RUNNING" }, { taskName: "ps-replica-0", phase: "ENDED" }] },
  );
  expect(found.map(({ task }) => task)).toEqual(["worker-replica-2", "worker-replica-10"]);
  expect(found[0]?.path).toBe("/trainyard/v1/projects/p/jobs/j/replicas/worker-replica-2:shell?token=t");
});

it("keeps replicas of trials apart, and takes no page and no other address for a WebSocket", () => {
  const trials = ["1", "2"].map((trialId) => ({ trialId, webAccessUris: { master: "https://x/ui/p/p/jobs/j/shell/master" } }));
  expect(shellTargets({ trainingOutput: { trials } }, undefined)).toEqual([
    { task: "master", trial: "1", path: undefined },
    { task: "master", trial: "2", path: undefined },
  ]);
  expect(shellTargets({ trainingOutput: { webAccessUris: { a: "javascript:alert(1)" } } }, undefined)[0]?.path).toBeUndefined();
});

it.each([
  [1000, "exit 3", "The shell ended with status 3.", true],
  [1000, "", "The shell ended.", true],
  [1006, "", "The connection broke.", false],
  [1002, "A frame is not masked.", "A frame is not masked.", false],
  [1011, "", "The server closed the connection (1011).", false],
])("says why %i %s ended", (code, reason, message, byItself) => {
  expect(endOf(code, reason)).toEqual({ message, byItself });
});

it("makes no style element while a terminal is open, and one again afterwards", () => {
  const undo = allowTerminalStyles();
  const style = document.createElement("style");
  style.textContent = ".a { color: red }";
  expect([style.tagName, document.adoptedStyleSheets.length]).toEqual(["SPAN", 1]);
  const span = document.createElement("span");
  span.setAttribute("title", "x");
  expect(span.title).toBe("x");
  undo();
  expect([document.createElement("style").tagName, document.adoptedStyleSheets.length]).toEqual(["STYLE", 0]);
});
