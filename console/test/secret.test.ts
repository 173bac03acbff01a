// @vitest-environment happy-dom
import { afterEach, expect, it, vi } from "vitest";
import { changing, getJson, sendJson } from "../src/api/http.ts";
import { forgetSecret, rememberSecret } from "../src/api/secret.ts";

afterEach(() => {
  forgetSecret();
  vi.unstubAllGlobals();
});

function sentSecrets(): (string | null)[] {
  const sent: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_: string, init?: RequestInit) => {
    sent.push(new Headers(init?.headers).get("X-Trainyard-Console"));
    return new Response("{}");
  });
  return sent;
}

it("sends the session's secret with what changes something, and with nothing else", async () => {
  const sent = sentSecrets();
  rememberSecret("s3cret");
  await sendJson("POST", "/a", {});
  await sendJson("DELETE", "/a");
  await getJson("/a");
  expect(sent).toEqual(["s3cret", "s3cret", null]);
  expect(new Headers(changing("text/plain")).get("X-Trainyard-Console")).toBe("s3cret");
});

it("sends none where nobody has logged in, or has logged out", async () => {
  const sent = sentSecrets();
  await sendJson("POST", "/a", {});
  rememberSecret("s3cret");
  forgetSecret();
  await sendJson("POST", "/a", {});
  expect(sent).toEqual([null, null]);
});
