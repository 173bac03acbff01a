"""Asynchronous training: ParameterServerStrategy with a ClusterCoordinator, and an evaluator beside it.

The chief gives work to the workers, which read and change the variables on the parameter servers, each at its own pace. Workers
and parameter servers are TensorFlow servers that never end by themselves.
"""

import argparse
import json
import os
import time

import tensorflow as tf

TRUE_WEIGHTS = [1.0, -2.0, 3.0, 0.5]


def rows(seed):
    features = tf.random.stateless_normal([256, len(TRUE_WEIGHTS)], seed=[seed, 7])
    return features, tf.linalg.matvec(features, TRUE_WEIGHTS)


def serve(resolver):
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                                  protocol="grpc", start=True)
    print("serving as", resolver.task_type, resolver.task_id, flush=True)
    server.join()


def train(resolver, args):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable(tf.zeros([len(TRUE_WEIGHTS)]))
        steps_done = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(seed):
        features = tf.random.stateless_normal([256, len(TRUE_WEIGHTS)], seed=tf.stack([seed, 7]))
        labels = tf.linalg.matvec(features, TRUE_WEIGHTS)
        error = tf.linalg.matvec(features, weights) - labels
        weights.assign_sub(args.learning_rate * tf.linalg.matvec(features, error, transpose_a=True) / 256)
        steps_done.assign_add(1)
        return tf.reduce_mean(error * error)

    checkpoint = tf.train.Checkpoint(weights=weights, steps=steps_done)
    for begin in range(0, args.steps, args.steps_per_checkpoint):
        losses = [coordinator.schedule(step, args=(tf.constant(seed),))
                  for seed in range(begin, begin + args.steps_per_checkpoint)]
        coordinator.join()
        checkpoint.write(os.path.join(args.job_dir, "checkpoints", "step-%06d" % steps_done.numpy()))
        print("steps=%d loss=%.6f" % (steps_done.numpy(), losses[-1].fetch()), flush=True)
    result = {"steps": int(steps_done.numpy()), "weights": [float(value) for value in weights.numpy()],
              "workers": len(resolver.cluster_spec().as_dict()["worker"]),
              "parameter_servers": len(resolver.cluster_spec().as_dict()["ps"]), "device": weights.device}
    write_json(os.path.join(args.job_dir, "result.json"), result)
    deadline = time.monotonic() + args.patience  # the job ends with us: let the evaluator measure the last checkpoint
    while not tf.io.gfile.exists(evaluation(args, result["steps"])) and time.monotonic() < deadline:
        time.sleep(0.5)


def evaluate(args):
    features, labels = rows(seed=10_000)
    weights = tf.Variable(tf.zeros([len(TRUE_WEIGHTS)]))
    steps_done = tf.Variable(0, dtype=tf.int64)
    seen = set()
    while True:
        for index in sorted(tf.io.gfile.glob(os.path.join(args.job_dir, "checkpoints", "step-*.index"))):
            if index in seen:
                continue
            seen.add(index)
            tf.train.Checkpoint(weights=weights, steps=steps_done).read(index[:-len(".index")]).expect_partial()
            loss = float(tf.reduce_mean((tf.linalg.matvec(features, weights) - labels) ** 2))
            write_json(evaluation(args, int(steps_done.numpy())), {"loss": loss})
            print("evaluated steps=%d loss=%.6f" % (steps_done.numpy(), loss), flush=True)
        time.sleep(0.5)


def evaluation(args, steps):
    return os.path.join(args.job_dir, "eval", "step-%06d.json" % steps)


def write_json(path, value):
    tf.io.gfile.makedirs(os.path.dirname(path))
    with tf.io.gfile.GFile(path, "w") as stream:
        stream.write(json.dumps(value, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--steps-per-checkpoint", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60, help="seconds that the evaluator gets at the end")
    args = parser.parse_args()
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    if task["type"] == "evaluator":
        return evaluate(args)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if task["type"] in ("worker", "ps"):
        return serve(resolver)
    train(resolver, args)


if __name__ == "__main__":
    main()
