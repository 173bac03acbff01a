"""Logistic regression by synchronous gradient descent over a cluster; see the README."""

import argparse
import logging
import math
import random
import time

from trainer import job_dir, parameters
from trainer.cluster import Cluster

_FEATURES = 8
_EVALUATOR_PATIENCE = 300.0  # seconds without anything new in the job-dir


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True, help="a folder, or gs://BUCKET/PATH")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--checkpoint-every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def make_rows(args):
    """(training rows, held-out rows), the same in each replica. A row is (features with a leading 1, label)."""
    source = random.Random(args.seed)
    truth = [source.uniform(-2, 2) for _ in range(_FEATURES + 1)]
    rows = []
    for _ in range(args.rows):
        x = [1.0] + [source.gauss(0, 1) for _ in range(_FEATURES)]
        rows.append((x, int(source.random() < probability(truth, x))))
    return rows[: args.rows * 4 // 5], rows[args.rows * 4 // 5:]


def probability(weights, x):
    z = sum(w * v for w, v in zip(weights, x))
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def gradient(weights, rows):
    total = [0.0] * len(weights)
    for x, label in rows:
        error = probability(weights, x) - label
        for i, v in enumerate(x):
            total[i] += error * v
    return total


def measure(weights, rows):
    guesses = [(probability(weights, x), label) for x, label in rows]
    loss = -sum(math.log(max(p if label else 1 - p, 1e-12)) for p, label in guesses) / len(rows)
    return {"loss": loss, "accuracy": sum((p >= 0.5) == bool(label) for p, label in guesses) / len(rows)}


def train(args, cluster, weights, rows, held_out):
    mine = rows[cluster.rank :: cluster.trainers]
    step, values = weights.pull()
    logging.info("trainer %d of %d begins at step %d with %d rows", cluster.rank, cluster.trainers, step, len(mine))
    while step < args.steps:
        before = step
        step, values = weights.push(cluster.rank, step, gradient(values, mine), len(mine))
        if step <= before:
            raise RuntimeError("the parameter server went back from step %d to %d" % (before, step))
        if cluster.role == "master" and (step % args.checkpoint_every == 0 or step == args.steps):
            job_dir.write(args.job_dir, "checkpoints/step-%06d.json" % step, {"step": step, "weights": values})
            print("step=%d loss=%.6f" % (step, measure(values, mine)["loss"]), flush=True)
    if cluster.role == "master":
        result = dict(measure(values, held_out), step=step, trainers=cluster.trainers, weights=values)
        job_dir.write(args.job_dir, "result.json", result)
        print("done step=%d loss=%.6f accuracy=%.4f" % (step, result["loss"], result["accuracy"]), flush=True)


def evaluate(args, held_out):
    steps = [s for s in range(1, args.steps + 1) if s % args.checkpoint_every == 0 or s == args.steps]
    give_up = time.monotonic() + _EVALUATOR_PATIENCE
    while steps:
        saved = job_dir.read(args.job_dir, "checkpoints/step-%06d.json" % steps[0])
        if saved is None:
            if time.monotonic() > give_up:
                raise TimeoutError("no checkpoint of step %d" % steps[0])
            time.sleep(0.1)
            continue
        scores = dict(measure(saved["weights"], held_out), step=saved["step"])
        job_dir.write(args.job_dir, "eval/step-%06d.json" % saved["step"], scores)
        print("eval step=%(step)d loss=%(loss).6f accuracy=%(accuracy).4f" % scores, flush=True)
        steps.pop(0)
        give_up = time.monotonic() + _EVALUATOR_PATIENCE


def main():
    args = parse_args()
    cluster = Cluster()
    rows, held_out = make_rows(args)
    if cluster.role == "ps":
        weights = parameters.Weights(_FEATURES + 1, cluster.trainers, args.rate)
        parameters.serve(cluster.servers[cluster.index], weights)
    elif cluster.role == "evaluator":
        evaluate(args, held_out)
    else:
        weights = (parameters.connect(cluster.servers[0]) if cluster.servers
                   else parameters.Weights(_FEATURES + 1, cluster.trainers, args.rate))
        train(args, cluster, weights, rows, held_out)


if __name__ == "__main__":
    main()
