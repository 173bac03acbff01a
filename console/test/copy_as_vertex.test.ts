import { describe, expect, it } from "vitest";
import { vertexCopies, vertexYaml } from "../src/text/copy_as_vertex.ts";

const target = { project: "p", origin: "http://h:1", authentication: false };
const custom = {
  name: "projects/p/locations/us-central1/customJobs/7110512376444053982",
  displayName: "it's census",
  labels: { team: "a" },
  state: "JOB_STATE_RUNNING",
  createTime: "2026-11-28T00:00:00Z",
  jobSpec: {
    workerPoolSpecs: [
      {
        machineSpec: { machineType: "n1-standard-4", acceleratorType: "NVIDIA_TESLA_T4", acceleratorCount: 1 },
        replicaCount: "1",
        pythonPackageSpec: {
          executorImageUri: "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
          packageUris: ["gs://packages/census-0.1.tar.gz"],
          pythonModule: "census.task",
          args: ["--steps", "10"],
          env: [{ name: "camelCase", value: "END" }],
        },
      },
    ],
    scheduling: { timeout: "3600s", restartJobOnWorkerRestart: true },
    serviceAccount: "a@b",
    reservedIpRanges: ["x"],
  },
};

describe("a custom job", () => {
  const [gcloud, sdk] = vertexCopies(custom, "us-central1", target);
  it("is a command of gcloud with its config.yaml", () => {
    expect(gcloud?.text).toBe(`cat > it_s_census.yaml <<'END'
workerPoolSpecs:
- machineSpec:
    machineType: n1-standard-4
    acceleratorType: NVIDIA_TESLA_T4
    acceleratorCount: 1
  replicaCount: 1
  pythonPackageSpec:
    executorImageUri: us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest
    packageUris:
    - gs://packages/census-0.1.tar.gz
    pythonModule: census.task
    args:
    - --steps
    - "10"
    env:
    - name: camelCase
      value: END
scheduling:
  timeout: "3600s"
  restartJobOnWorkerRestart: true
serviceAccount: a@b
reservedIpRanges:
- x
END
gcloud ai custom-jobs create \\
    --project=p \\
    --region=us-central1 \\
    '--display-name=it'\\''s census' \\
    --labels=team=a \\
    --config=it_s_census.yaml`);
    expect(gcloud?.before).toContain("trainyard env");
  });
  it("is a program with the SDK, which says what it leaves out", () => {
    expect(sdk?.text).toBe(`from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform

aiplatform.init(
    project="p",
    location="us-central1",
    staging_bucket="gs://packages",
    credentials=AnonymousCredentials(),
    api_transport="rest",
    api_endpoint="http://h:1/aiplatform",
)
# The SDK has no argument for these: reserved_ip_ranges
job = aiplatform.CustomJob(
    display_name="it's census",
    worker_pool_specs=[
        {
            "machine_spec": {
                "machine_type": "n1-standard-4",
                "accelerator_type": "NVIDIA_TESLA_T4",
                "accelerator_count": 1,
            },
            "replica_count": 1,
            "python_package_spec": {
                "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
                "package_uris": [
                    "gs://packages/census-0.1.tar.gz",
                ],
                "python_module": "census.task",
                "args": [
                    "--steps",
                    "10",
                ],
                "env": [
                    {
                        "name": "camelCase",
                        "value": "END",
                    },
                ],
            },
        },
    ],
    labels={
        "team": "a",
    },
)
job.run(
    service_account="a@b",
    timeout=3600,
    restart_job_on_worker_restart=True,
)`);
  });
  it("on a server with login needs its token", () => {
    const [, program] = vertexCopies(custom, "us-central1", { ...target, authentication: true });
    expect(program?.before).toContain("trainyard env");
    expect(program?.text).not.toContain("AnonymousCredentials");
  });
  it("without folders needs a bucket of the reader's", () => {
    const spec = { workerPoolSpecs: [{ containerSpec: { imageUri: "i" } }, {}] };
    const [program, ...others] = vertexCopies({ displayName: "x", jobSpec: spec }, "us-central1", target);
    expect(others).toEqual([]); // gcloud refuses an empty pool in a file
    expect(program?.text).toContain('staging_bucket="gs://BUCKET"');
    expect(program?.text).toContain("\njob.run()");
  });
});

const tuning = {
  name: "projects/p/locations/us-central1/hyperparameterTuningJobs/7110512376444053983",
  displayName: "tuned",
  maxTrialCount: 4,
  parallelTrialCount: 2,
  state: "JOB_STATE_SUCCEEDED",
  trials: [{ id: "1" }],
  studySpec: {
    metrics: [{ metricId: "score", goal: "MAXIMIZE" }],
    algorithm: "RANDOM_SEARCH",
    parameters: [
      { parameterId: "x", scaleType: "UNIT_LOG_SCALE", doubleValueSpec: { minValue: 0.001, maxValue: 1 } },
      { parameterId: "n", scaleType: "UNIT_LINEAR_SCALE", integerValueSpec: { maxValue: "8" } },
      { parameterId: "b", discreteValueSpec: { values: [16, 32] } },
      {
        parameterId: "c",
        categoricalValueSpec: { values: ["a", "b"] },
        conditionalParameterSpecs: [{
          parentCategoricalValues: { values: ["b"] },
          parameterSpec: {
            parameterId: "d",
            integerValueSpec: { minValue: "1", maxValue: "2" },
            conditionalParameterSpecs: [{
              parentIntValues: { values: ["2"] },
              parameterSpec: { parameterId: "e", doubleValueSpec: { maxValue: 1, defaultValue: 0.5 } },
            }],
          },
        }],
      },
    ],
    medianAutomatedStoppingSpec: {},
  },
  trialJobSpec: { workerPoolSpecs: [{ replicaCount: "1" }], baseOutputDirectory: { outputUriPrefix: "gs://models/out" } },
};

describe("a tuning job", () => {
  const [gcloud, sdk] = vertexCopies(tuning, "us-central1", target);
  it("is a command of gcloud with all of it in its config.yaml", () => {
    expect(gcloud?.text).toContain("gcloud ai hp-tuning-jobs create \\\n    --project=p \\\n    --region=us-central1 \\\n    --display-name=tuned \\\n    --config=tuned.yaml");
    const yaml = vertexYaml(tuning);
    expect(yaml).toContain("maxTrialCount: 4\nparallelTrialCount: 2\ntrialJobSpec:\n");
    expect(yaml).toContain("  - parameterId: \"n\"\n    scaleType: UNIT_LINEAR_SCALE\n    integerValueSpec:\n      maxValue: 8\n");
    expect(yaml).not.toMatch(/trials|state|name/);
  });
  it("is a program with the SDK", () => {
    expect(sdk?.text).toContain("from google.cloud.aiplatform import hyperparameter_tuning as hpt\n");
    expect(sdk?.text).toContain("# The SDK has no argument for these: median_automated_stopping_spec, default_value\n");
    expect(sdk?.text).toContain('trial = aiplatform.CustomJob(\n    display_name="tuned-trial",\n');
    expect(sdk?.text).toContain(`job = aiplatform.HyperparameterTuningJob(
    display_name="tuned",
    custom_job=trial,
    metric_spec={
        "score": "maximize",
    },
    parameter_spec={
        "x": hpt.DoubleParameterSpec(min=0.001, max=1, scale="log"),
        "n": hpt.IntegerParameterSpec(min=0, max=8, scale="linear"),
        "b": hpt.DiscreteParameterSpec(values=[16, 32], scale="unspecified"),
        "c": hpt.CategoricalParameterSpec(values=["a", "b"], conditional_parameter_spec={"d": hpt.IntegerParameterSpec(min=1, max=2, scale="unspecified", conditional_parameter_spec={"e": hpt.DoubleParameterSpec(min=0, max=1, scale="unspecified", parent_values=[2])}, parent_values=["b"])}),
    },
    max_trial_count=4,
    parallel_trial_count=2,
    search_algorithm="random",
    measurement_selection=None,
)
job.run()`);
  });
});
