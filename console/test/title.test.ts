import { expect, it } from "vitest";
import { titleOf } from "../src/text/title.ts";

it.each([
  ["/", "Trainyard"],
  ["/p/demo/jobs", "Jobs · Trainyard"],
  ["/p/demo/jobs/census_1", "census_1 · Trainyard"],
  ["/p/demo/jobs/census_1/logs", "census_1: logs · Trainyard"],
  ["/buckets/b/a%2Fc/d", "b: a/c/d · Trainyard"],
  ["/p/%/jobs/%E2%80%AEx", "⟨202E⟩x · Trainyard"],
  ["/machine", "Machine · Trainyard"],
])("%s is %s", (path, title) => expect(titleOf(path)).toBe(title));

it("a job with a display name has that, and its id behind it", () => {
  expect(titleOf("/p/demo/jobs/vertex_7/logs", "census")).toBe("census (vertex_7): logs · Trainyard");
});
