// Jobs to start with a click, on a server that has nothing yet. Pure.
import type { JobJson } from "proto/ml/v1/ml_pb";
import { ALGORITHM_IMAGES, freshId } from "./new_job.ts";
import { wheelOf } from "./wheel.ts";

export interface Example {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  /** The runtime version that it needs; empty: the default one. */
  readonly runtime: string;
  /** The program that it runs, if it has one. */
  readonly program?: string;
  readonly input: Omit<NonNullable<JobJson["trainingInput"]>, "packageUris">;
  /** What is put into its folder before. */
  readonly data?: () => string;
}

const LEARN = `"""Fits a line between two clouds of points, in plain Python, and reports its accuracy after each epoch."""

import math
import random
import time

try:
    import hypertune
    report = hypertune.HyperTune().report_hyperparameter_tuning_metric
except ImportError:
    def report(**_):
        pass

random.seed(7)
points = [(random.gauss(side * 1.2, 1), random.gauss(-side * 0.8, 1), side > 0) for side in (-1, 1) for _ in range(400)]
a = b = c = 0.0
for epoch in range(1, 31):
    random.shuffle(points)
    loss = right = 0
    for x, y, label in points:
        guess = 1 / (1 + math.exp(-(a * x + b * y + c)))
        error = label - guess
        a, b, c = a + 0.003 * error * x, b + 0.003 * error * y, c + 0.003 * error
        loss -= math.log(max(guess if label else 1 - guess, 1e-9))
        right += (guess > 0.5) == label
    accuracy = right / len(points)
    print(f"epoch {epoch}: loss {loss / len(points):.4f}, accuracy {accuracy:.4f}", flush=True)
    report(hyperparameter_metric_tag="accuracy", metric_value=accuracy, global_step=epoch)
    time.sleep(1)
print(f"the line: {a:.2f} x + {b:.2f} y + {c:.2f} = 0")
`;

const SEARCH = `"""Walks downhill on a bumpy field from where the trial's parameters say."""

import argparse
import math
import time

import hypertune

parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float, required=True)
parser.add_argument("--y", type=float, required=True)
parser.add_argument("--rate", type=float, required=True)
args, _ = parser.parse_known_args()

def height(x, y):
    return 0.1 * (x - 2) ** 2 + 0.2 * (y + 1) ** 2 + 0.5 * math.sin(3 * x) * math.cos(2 * y)

x, y = args.x, args.y
for step in range(1, 16):
    slope_x = (height(x + 1e-4, y) - height(x - 1e-4, y)) / 2e-4
    slope_y = (height(x, y + 1e-4) - height(x, y - 1e-4)) / 2e-4
    x, y = x - args.rate * slope_x, y - args.rate * slope_y
    print(f"step {step}: height {height(x, y):.4f} at {x:.3f}, {y:.3f}", flush=True)
    hypertune.HyperTune().report_hyperparameter_tuning_metric(
        hyperparameter_metric_tag="height", metric_value=height(x, y), global_step=step)
    time.sleep(0.2)
`;

const FAIL = `"""Fails, as programs do: see what the job's page says about it."""

print("reading the settings", flush=True)
import yaml_settings
`;

/** 600 rows of a table: the class first, as the algorithms want it. The same ones each time. */
function flowers(): string {
  let state = 42;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const rows = Array.from({ length: 600 }, (_, at) => {
    const kind = at % 3;
    const near = (middle: number) => (middle + (random() + random() + random() - 1.5)).toFixed(2);
    return [
      ["setosa", "versicolor", "virginica"][kind],
      near(5 + kind * 0.8),
      near(3.4 - kind * 0.2),
      near(1.5 + kind * 2),
      near(0.2 + kind * 0.9),
    ].join();
  });
  return `${rows.join("\n")}\n`;
}

export const EXAMPLES: readonly Example[] = [
  {
    name: "first_steps",
    title: "A program that learns",
    runtime: "",
    program: LEARN,
    text: "Thirty epochs in half a minute: watch its log and its curve grow.",
    input: { region: "us-central1", scaleTier: "BASIC", pythonModule: "first_steps" },
  },
  {
    name: "search",
    title: "A search for parameters",
    runtime: "",
    program: SEARCH,
    text: "Twelve trials, three at a time; the tuner learns from each where to look next.",
    input: {
      region: "us-central1",
      scaleTier: "BASIC",
      pythonModule: "search",
      hyperparameters: {
        goal: "MINIMIZE",
        hyperparameterMetricTag: "height",
        maxTrials: 12,
        maxParallelTrials: 3,
        params: [
          { parameterName: "x", type: "DOUBLE", minValue: -5, maxValue: 5, scaleType: "UNIT_LINEAR_SCALE" },
          { parameterName: "y", type: "DOUBLE", minValue: -5, maxValue: 5, scaleType: "UNIT_LINEAR_SCALE" },
          { parameterName: "rate", type: "DOUBLE", minValue: 0.01, maxValue: 1, scaleType: "UNIT_LOG_SCALE" },
        ],
      },
    },
  },
  {
    name: "trees",
    title: "A model without a program",
    runtime: "algorithms",
    data: flowers,
    text: "Boosted trees on a table of 600 flowers: a built-in algorithm, which leaves its model in a bucket.",
    input: {
      region: "us-central1",
      scaleTier: "BASIC",
      masterConfig: { imageUri: `${ALGORITHM_IMAGES}boosted_trees:latest` },
      args: ["--preprocess", "--objective=multi:softprob", "--num_class=3", "--num_boost_round=20"],
    },
  },
  {
    name: "failure",
    title: "A failure, explained",
    runtime: "",
    program: FAIL,
    text: "A program with a mistake: its page says what is wrong and what to do.",
    input: { region: "us-central1", scaleTier: "BASIC", pythonModule: "failure" },
  },
];

export interface PreparedExample {
  readonly job: JobJson;
  readonly uploads: readonly { readonly name: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
}

/** The job of an example, and what has to be in the bucket before it is created. */
export function prepareExample(example: Example, bucket: string, now: Date): PreparedExample {
  const jobId = freshId(now, example.name);
  const uploads = [];
  let input: NonNullable<JobJson["trainingInput"]> = { ...example.input };
  if (example.program !== undefined) {
    const wheel = wheelOf(example.name, example.program);
    const name = `${jobId}/packages/${wheel.name}`;
    uploads.push({ name, type: "application/zip", bytes: wheel.bytes });
    input = { ...input, packageUris: [`gs://${bucket}/${name}`] };
  }
  if (example.data !== undefined) {
    const name = `${jobId}/data.csv`;
    uploads.push({ name, type: "text/csv", bytes: new TextEncoder().encode(example.data()) });
    input = {
      ...input,
      jobDir: `gs://${bucket}/${jobId}`,
      args: [...(input.args ?? []), `--training_data_path=gs://${bucket}/${name}`],
    };
  }
  return { job: { jobId, labels: { example: example.name }, trainingInput: input }, uploads };
}

/** Where a project's uploads go, those of `trainyard run` as well; undefined: no bucket can have the name. */
export function runsBucket(project: string): string | undefined {
  const bucket = `${project}-runs`;
  return /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(bucket) ? bucket : undefined;
}
