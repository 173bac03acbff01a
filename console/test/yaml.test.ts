import type { JobJson } from "proto/ml/v1/ml_pb";
import { describe, expect, it } from "vitest";
import { isAbout, jobToYaml, lineOf, readJob } from "../src/text/job_yaml.ts";
import { type Json, scalar, toYaml } from "../src/text/yaml.ts";
import { toJson, treeAt, withField } from "../src/text/yaml_edit.ts";
import { parseYaml } from "../src/text/yaml_tree.ts";

const NASTY = [
  "",
  " ",
  "a",
  "a b",
  " a",
  "a ",
  "a: b",
  "a:",
  "a #b",
  "#a",
  "- a",
  "-",
  "--flag=x y",
  "-x",
  "---",
  "yes",
  "No",
  "null",
  "~",
  "1",
  "1.5",
  "1e3",
  "0x10",
  "1_000",
  "12:30:45",
  "2026-01-31",
  ".5",
  "=",
  "<<",
  "true",
  "'",
  '"',
  "it's",
  'say "hi"',
  "a\nb",
  "a\nb\n",
  "a\n\n",
  "\na",
  " a\nb",
  "a\n  b\nc",
  "a \nb",
  "a\tb",
  "\t",
  "a\r\nb",
  "\u0000",
  "\u001b[31m",
  "\u007f",
  "\u0085",
  "\u2028",
  "\ufeff",
  "é漢😀",
  "\ud800",
  "\u202e",
  "[a]",
  "{a: b}",
  "a, b",
  "*x",
  "&x",
  "!x",
  "|",
  ">",
  "%x",
  "@x",
  "`x`",
  "gs://b/o",
  "a\\b",
  "\\",
  "a://:",
  "?",
  "? a",
  "key: |",
  "a:b",
  "- - a",
  "x".repeat(5000),
];

describe("a text in YAML", () => {
  it.each(NASTY.map((text) => [text]))("%j comes back as it was", (text) => {
    for (const value of [
      { k: text },
      [text],
      { [text]: [{ [text]: text }, [text, text]] },
      [[text], [[text]]],
    ] satisfies Json[]) {
      expect(toJson(parseYaml(toYaml(value)))).toEqual(value);
    }
  });
  it.each([
    ["--model_type=classification", "--model_type=classification"],
    ["gs://b/o", "gs://b/o"],
    ["2.10", '"2.10"'],
    ["yes", '"yes"'],
    ["-_0", '"-_0"'],
    ["a: b", '"a: b"'],
    ["\u2028", '"\\u2028"'],
    ["a\u202eb", '"a\\u202eb"'],
    ["trainer.task", "trainer.task"],
  ])("%j is %s", (text, shown) => expect(scalar(text)).toBe(shown));
  it("has several lines as a block", () => expect(toYaml({ k: "a\n b\n" })).toBe("k: |\n  a\n   b\n"));
  it("writes numbers as every reader reads them", () =>
    expect(toYaml([1, 1e-7, 1e21, 0.5])).toBe("- 1\n- 1.0e-7\n- 1.0e+21\n- 0.5\n"));
});

const TEXT = `# a comment
trainingInput:
  scaleTier: CUSTOM   # why
  args: [--a, 'b c',
    "d\\n"]
  packageUris:
  - gs://b/p.tar.gz

  masterConfig: {imageUri: x, acceleratorConfig: {count: 2}}
  text: >
    folded
    lines
labels:
    team: vision
`;

describe("YAML that people write", () => {
  it("is read", () => {
    expect(toJson(parseYaml(TEXT))).toEqual({
      trainingInput: {
        scaleTier: "CUSTOM",
        args: ["--a", "b c", "d\n"],
        packageUris: ["gs://b/p.tar.gz"],
        masterConfig: { imageUri: "x", acceleratorConfig: { count: "2" } },
        text: "folded lines\n",
      },
      labels: { team: "vision" },
    });
  });
  it("may be empty", () => expect(toJson(parseYaml("\n# nothing\n"))).toEqual({}));
  it.each([
    ["a: 1\na: 2", 1],
    ["a:\n\t- b", 1],
    ["a: *b", 0],
    ["a: !!str b", 0],
    ["a: [b", 0],
    ['a: "b', 0],
    ["a: b: c", 0],
    ["a:\n  b: 1\n c: 2", 2],
    ["a: 1\n---\nb: 2", 1],
    ["a: 1\nb", 1],
    ['a: "b" c', 0],
  ])("%j is refused on line %d", (text, line) => {
    const { error } = readJob(text);
    expect(error?.line).toBe(line);
  });
});

describe("a field", () => {
  it("is changed and everything else stays", () => {
    expect(withField(TEXT, ["labels", "team"], "nlp")).toBe(TEXT.replace("vision", "nlp"));
    expect(withField(TEXT, ["trainingInput", "region"], "us-central1")).toBe(
      TEXT.replace("labels:", "  region: us-central1\nlabels:"),
    );
    expect(withField(TEXT, ["trainingInput", "args"], ["x"])).toBe(TEXT.replace(/args:[^]*?\]\n/, "args:\n  - x\n"));
  });
  it("goes into a map in brackets", () => {
    const text = withField(TEXT, ["trainingInput", "masterConfig", "acceleratorConfig", "type"], "NVIDIA_TESLA_T4");
    expect(toJson(treeAt(parseYaml(text), ["trainingInput", "masterConfig"]) ?? parseYaml(""))).toEqual({
      imageUri: "x",
      acceleratorConfig: { count: "2", type: "NVIDIA_TESLA_T4" },
    });
  });
  it("is made with all above it, and taken away with what is empty then", () => {
    const made = withField("", ["trainingInput", "masterConfig", "imageUri"], "x");
    expect(made).toBe("trainingInput:\n  masterConfig:\n    imageUri: x\n");
    expect(withField(made, ["trainingInput", "masterConfig", "imageUri"], undefined)).toBe("");
    expect(withField("trainingInput:\n", ["trainingInput", "region"], "r")).toBe("trainingInput:\n  region: r\n");
    expect(withField("a: {b: c}\n", ["a", "b"], undefined)).toBe("");
  });
});

describe("a job", () => {
  const job = {
    jobId: "a_1",
    state: "FAILED",
    etag: "x",
    labels: { count: "7" },
    trainingInput: {
      workerCount: "9",
      runtimeVersion: "2.10",
      args: ["1"],
      hyperparameters: { params: [{ minValue: 0.1 }] },
      enableWebAccess: true,
    },
  } satisfies JobJson;
  it("comes back as it was submitted", () => {
    expect(readJob(jobToYaml(job)).job).toEqual({
      jobId: "a_1",
      labels: { count: "7" },
      trainingInput: {
        workerCount: 9,
        runtimeVersion: "2.10",
        args: ["1"],
        hyperparameters: { params: [{ minValue: 0.1 }] },
        enableWebAccess: true,
      },
    });
  });
  it("has texts where the API has texts", () => {
    expect(
      readJob("trainingInput:\n  runtimeVersion: 2.10\n  workerCount: 2\n  enableWebAccess: yes\n  region:\n").job.trainingInput,
    ).toEqual({ runtimeVersion: "2.10", workerCount: 2, enableWebAccess: true });
  });
  it.each([
    ["job.training_input.worker_count", 2],
    ["worker_count", 2],
    ["hyperparameters.params[1].min_value", 7],
    ["params[0].parameter_name", 6],
    ["training_input.job_dir", 1],
    ["job_id", 0],
    ["region", 1],
    ["labels", undefined],
  ])("%s is on a line", (field, line) => {
    const { tree } = readJob(
      "jobId: 1\ntrainingInput:\n  workerCount: 1\n  #\n  hyperparameters:\n    params:\n    - type: DOUBLE\n    - minValue: 1\n",
    );
    expect(lineOf(tree, field)).toBe(line);
  });
  it.each([
    ["job.training_input.worker_count", ["trainingInput", "workerCount"], true],
    ["worker_count", ["trainingInput", "workerCount"], true],
    ["worker_config.accelerator_config", ["trainingInput", "workerConfig", "acceleratorConfig", "type"], true],
    ["worker_config.accelerator_config", ["trainingInput", "masterConfig", "acceleratorConfig", "type"], false],
    ["job.labels", ["labels"], true],
    ["args[2]", ["trainingInput", "args"], true],
    ["", ["labels"], false],
    ["training_input", ["labels"], false],
  ])("a violation of %s is about %j: %s", (field, path, about) => expect(isAbout(field, path)).toBe(about));
});
