import { describe, expect, it } from "vitest";
import { copiesOf } from "../src/text/copy_as.ts";
import { toPython } from "../src/text/python.ts";
import { hereDocument, word } from "../src/text/shell.ts";
import { submitFlags } from "../src/text/submit_flags.ts";

describe("a shell's word", () => {
  it.each([
    ["a", "a"],
    ["", "''"],
    ["a b", "'a b'"],
    ["it's", "'it'\\''s'"],
    ["$(rm -rf /)", "'$(rm -rf /)'"],
    ["`x`", "'`x`'"],
    ["a\nb", "'a\nb'"],
    ["--x=1,y", "--x=1,y"],
    ["~", "'~'"],
    ["!!", "'!!'"],
    ["*", "'*'"],
    ["\u001b[201~\nid", "$'\\033[201~\nid'"],
    ["a\u202e'b\\\t1", "$'a\\342\\200\\256\\'b\\\\\\0111'"],
  ])("%j", (text, shown) => expect(word(text)).toBe(shown));
  it("of a here-document is no line of it", () => expect(hereDocument("END\nEND_1\n").mark).toBe("<<'END_2'"));
});

describe("flags", () => {
  it("are what gcloud has flags for, the rest is left", () => {
    const { flags, args, rest } = submitFlags(
      {
        scaleTier: "CUSTOM",
        masterType: "n1-standard-4",
        workerType: "n1-standard-8",
        workerCount: "2",
        pythonModule: "a.b",
        region: "r",
        packageUris: ["gs://b/1", "gs://b/2,3"],
        jobDir: "gs://b/j",
        runtimeVersion: "2.15",
        args: ["--x", "it's"],
        enableWebAccess: true,
        masterConfig: { acceleratorConfig: { type: "NVIDIA_TESLA_T4", count: "2" }, diskConfig: { bootDiskSizeGb: 5 } },
        hyperparameters: { maxTrials: 2 },
      },
      undefined,
    );
    expect(flags).toEqual([
      "--region=r",
      "--module-name=a.b",
      "'--packages=^;^gs://b/1;gs://b/2,3'",
      "--job-dir=gs://b/j",
      "--scale-tier=custom",
      "--runtime-version=2.15",
      "--master-machine-type=n1-standard-4",
      "--master-accelerator=type=nvidia-tesla-t4,count=2",
      "--worker-machine-type=n1-standard-8",
      "--worker-count=2",
      "--enable-web-access",
    ]);
    expect(args).toEqual(["--x", "it's"]);
    expect(rest).toEqual({ masterConfig: { diskConfig: { bootDiskSizeGb: 5 } }, hyperparameters: { maxTrials: 2 } });
  });
  it("leave what gcloud would refuse as a flag", () => {
    const input = {
      scaleTier: "CUSTOM",
      jobDir: "/tmp/x",
      runtimeVersion: "1",
      masterConfig: { imageUri: "i" },
      workerCount: "2",
    } as const;
    const { flags, rest } = submitFlags(input, { Team: "Vision" });
    expect(flags).toEqual(["--region=us-central1", "--master-image-uri=i"]);
    expect(rest).toEqual({ scaleTier: "CUSTOM", jobDir: "/tmp/x", runtimeVersion: "1", workerCount: "2" });
  });
});

it("Python's values", () => {
  expect(toPython({ a: [true, null, 1.5, "it's \u2028\n"], b: {} })).toBe(
    '{\n    "a": [\n        True,\n        None,\n        1.5,\n        "it\'s \\u2028\\n",\n    ],\n    "b": {},\n}',
  );
});

it("commands quote what is in a job", () => {
  const job = {
    jobId: "a_1",
    labels: { team: "x" },
    trainingInput: { region: "r", args: ["$(x)", "'"], env: [{ name: "A", value: "END\nEND" }] },
  };
  const [gcloud, trainyard, , curl] = copiesOf(job, { project: "p", origin: "http://h:1", authentication: true });
  expect(gcloud?.text).toBe(`cat > a_1.yaml <<'END'
trainingInput:
  env:
  - name: A
    value: |-
      END
      END
END
gcloud ai-platform jobs submit training a_1 \\
    --project=p \\
    --region=r \\
    --labels=team=x \\
    --config=a_1.yaml \\
    -- '$(x)' ''\\'''`);
  expect(trainyard?.text).toContain("trainyard jobs submit training a_1 \\\n    --project=p \\\n    --server=http://h:1 \\\n");
  expect(curl?.text).toContain("http://h:1/v1/projects/p/jobs <<'END'\n{");
});
