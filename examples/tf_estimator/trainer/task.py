"""tf.estimator.train_and_evaluate, as programs for TensorFlow 1 were written: nothing here knows of TF_CONFIG.

The Estimator takes both names of the first replica. A "master" evaluates now and then by itself; with a "chief" a replica of
type evaluator does that.
"""

import argparse
import json
import os

import numpy as np
import tensorflow as tf


def input_fn(seed, repeat):
    def make():
        features = np.random.RandomState(seed).normal(size=(2000, 4)).astype("float32")
        labels = (features @ np.array([1.0, -2.0, 3.0, 0.5]) > 0).astype("int32")
        data = tf.data.Dataset.from_tensor_slices(({"x": features}, labels)).batch(100)
        return data.repeat() if repeat else data
    return make


class Progress(tf.estimator.SessionRunHook):
    """Leaves a note of each replica that trained."""

    def __init__(self, job_dir, task):
        self.path = os.path.join(job_dir, "trained", "%s-%d.json" % (task["type"], task["index"]))

    def end(self, session):
        tf.io.gfile.makedirs(os.path.dirname(self.path))
        with tf.io.gfile.GFile(self.path, "w") as stream:
            stream.write(json.dumps({"step": int(session.run(tf.compat.v1.train.get_global_step()))}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    config = tf.estimator.RunConfig(model_dir=os.path.join(args.job_dir, "model"), save_checkpoints_steps=100)
    estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x", shape=[4])], config=config)
    task = {"type": config.task_type, "index": config.task_id}
    result = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn(1, repeat=True), max_steps=args.steps, hooks=[Progress(args.job_dir, task)]),
        tf.estimator.EvalSpec(input_fn(2, repeat=False), steps=None, start_delay_secs=0, throttle_secs=1))
    if config.is_chief:
        # With a master train_and_evaluate has evaluated here; with a chief the evaluator did.
        metrics = result[0] if isinstance(result, tuple) and result[0] else estimator.evaluate(input_fn(2, repeat=False))
        with tf.io.gfile.GFile(os.path.join(args.job_dir, "metrics.json"), "w") as stream:
            stream.write(json.dumps({"accuracy": float(metrics["accuracy"]), "step": int(metrics["global_step"]),
                                     "task": task["type"]}) + "\n")


if __name__ == "__main__":
    main()
