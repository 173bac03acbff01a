import { describe, expect, it } from "vitest";
import { EXAMPLES, prepareExample, runsBucket } from "../src/text/examples.ts";
import { wheelOf } from "../src/text/wheel.ts";
import { crc32, zip } from "../src/text/zip.ts";

describe("an archive", () => {
  it("has sums as zip wants them", () => expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926));
  it("begins and ends as zip does, the same each time", () => {
    const bytes = zip([{ name: "é", content: "a" }]);
    expect([...bytes.slice(0, 4)]).toEqual([0x50, 0x4b, 3, 4]);
    expect([...bytes.slice(-22, -18)]).toEqual([0x50, 0x4b, 5, 6]);
    expect(bytes).toEqual(zip([{ name: "é", content: "a" }]));
  });
});

describe("examples", () => {
  const now = new Date(2026, 10, 23, 16, 5, 9);
  it.each(EXAMPLES.map((example) => [example.name, example] as const))("%s has all that it needs", (_, example) => {
    const { job, uploads } = prepareExample(example, "demo-runs", now);
    expect(job.jobId).toBe(`${example.name}_20261123_160509`);
    for (const uri of job.trainingInput?.packageUris ?? [])
      expect(uploads.map(({ name }) => `gs://demo-runs/${name}`)).toContain(uri);
    if (example.program === undefined)
      expect(job.trainingInput?.args?.at(-1)).toBe(`--training_data_path=gs://demo-runs/${job.jobId}/data.csv`);
  });
  it("go into the project's bucket or into none", () => expect(["demo", "A:b"].map(runsBucket)).toEqual(["demo-runs", undefined]));
  it("have a module of their wheel's name", () => expect(wheelOf("a_b", "").name).toBe("a_b-0-py3-none-any.whl"));
});
