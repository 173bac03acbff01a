import { afterEach, expect, it, vi } from "vitest";
import { LogRequests } from "../src/log/requests.ts";
import { causeAmong, isMeant } from "../src/text/log_errors.ts";

afterEach(() => vi.unstubAllGlobals());

const line = (number: number, text: string, more: object = {}) =>
  ({ number: String(number), severity: "ERROR" as const, replica: "m", text, ...more });
const TRACE = "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: x";

it.each([
  ["a line of stderr", line(1, "100%|####| 3/3"), false],
  ["fields on stderr, of no severity", line(1, "x", { json: { loss: 1 }, severityOfStream: true }), false],
  ["a traceback", line(1, TRACE), true],
  ["a log record", line(1, "bad", { json: { levelname: "ERROR" } }), true],
  ["one of many fields", line(1, "bad", { jsonLeftOut: true }), true],
  ["a record without a handler", line(1, "ERROR:root:bad"), true],
  ["a word of the service", line(1, "The replica exited.", { replica: "service" }), true],
  ["what is worse than an error", line(1, "bad", { severity: "CRITICAL" }), true],
])("%s", (_, one, meant) => expect(isMeant(one)).toBe(meant));

it("the cause is the program's: its traceback, its last error, else its last line of stderr", () => {
  const starter = line(8, "Command returned 1", { json: { pathname: "/runcloudml.py" } });
  const service = line(9, `The replica exited.\n${TRACE}`, { replica: "service" });
  const logged = line(3, "bad", { json: { levelname: "ERROR" } });
  expect(causeAmong([line(1, "loading"), line(2, TRACE), logged, starter, service])).toEqual({ line: 2, kind: "traceback" });
  expect(causeAmong([logged, line(4, "bye"), starter, service])).toEqual({ line: 3, kind: "error" });
  expect(causeAmong([line(1, "loading"), line(4, "fatal: no such file"), starter, service])).toEqual({ line: 4, kind: "stderr" });
  expect(causeAmong([starter])).toEqual({ line: 8, kind: "error" });
  expect(causeAmong([])).toBeUndefined();
});

/** A log of which all lines are of stderr, but for one. */
function server(total: number, meant: number) {
  const asked: URL[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    const url = new URL(path, "http://x");
    asked.push(url);
    const of = (name: string) => Number(url.searchParams.get(name));
    if (url.pathname.endsWith("log:search")) {
      const to = Math.min(of("from") + 50_000, total);
      const found = meant >= of("from") && meant < to;
      const lines = found ? [line(meant, TRACE)] : [];
      return new Response(JSON.stringify({ lines, searchedTo: String(to), complete: to === total }));
    }
    const numbers = Array.from({ length: Math.min(of("count"), total - of("first")) }, (_, at) => of("first") + at);
    const next = of("first") + numbers.length;
    const lines = numbers.map((at) => line(at, at === meant ? TRACE : "step"));
    return new Response(JSON.stringify({ total: String(total), lines, next: String(next < total ? next : -1) }));
  });
  return asked;
}

const NO_FILTER = { replica: "", severity: "", trial: "" };
const SUMMARY = { total: "9", firstError: "5" };
const NONE_NAMED = { total: "9", firstError: "-1" };

it("the first error is not a line of stderr, unless there is nothing else", async () => {
  server(2000, 1500);
  expect(await new LogRequests("p", "j", NO_FILTER).firstError(SUMMARY)).toBe(1500);
  server(2000, -1);
  expect(await new LogRequests("p", "j", NO_FILTER).firstError(NONE_NAMED)).toBe(0);
  server(0, -1);
  expect(await new LogRequests("p", "j", NO_FILTER).firstError(NONE_NAMED)).toBeUndefined();
});

it("behind very many lines of stderr the server looks for it", async () => {
  const asked = server(200_000, 150_000);
  expect(await new LogRequests("p", "j", NO_FILTER).firstError(SUMMARY)).toBe(150_000);
  expect(asked.length).toBeLessThan(20);
});
