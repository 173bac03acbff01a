"""Rows a second of a built-in algorithm's training, and of the library alone on the same rows.

usage: PYTHON bench/algorithms_speed.py ours|alone NAME CSV FOLDER STEPS

PYTHON is that of the runtime version `algorithms`. NAME: an algorithm; CSV: a table whose target is a number; FOLDER: for the job; STEPS:
batches of 100 rows, or XGBoost's rounds. Prints JSON: `rows` trained on (a row counts each time), `seconds` of the training alone; for
`ours` of a network also `fit_seconds`, with its evaluations and checkpoints.

Alone is: XGBoost by hand, xgboost.QuantileDMatrix of the numbers in memory and xgboost.train with the same parameters; for the networks
the very same network (not one built like it) in Keras' own loop, Model.fit, over arrays in memory, with Adam. Both of XGBoost's times have
making the bins in them, ours has reading the processed CSV too. Preparing the data is in none of the times; nor is compiling, of which
the first steps are not counted.
"""

import dataclasses
import importlib
import json
import os
import pathlib
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "algorithms"))

import numpy as np  # noqa: E402
from trainyard_algorithms import arguments  # noqa: E402

FIRST_STEPS = 20
ROUNDS = 3  # of XGBoost's measurement: the best counts
NETWORKS = {"linear_learner": "linear_network", "wide_deep_learner": "wide_deep_network", "tab_net": "tabnet_network"}


def best(act):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return min(times)


def trees(who, path, folder, rounds):
    import xgboost as xgb
    from trainyard_algorithms import boosted_trees
    from trainyard_algorithms.paths import JobFolder
    from trainyard_algorithms.xgb import matrices, parameters, training

    args = arguments.parse("boosted_trees", ["--preprocess", f"--training_data_path={path}", "--objective=reg:squarederror",
                                             f"--num_boost_round={rounds}", f"--job-dir={folder}"])
    chosen = parameters.settings(args, "boosted_trees")
    data = boosted_trees.prepared(args, JobFolder(str(folder)), chosen.task)

    def ours():
        matrix = matrices.of_blocks(data.parts["training"], data.columns, chosen)
        training.train(chosen, matrix, [], (), lambda done, parts: None)

    blocks = list(data.parts["training"]())
    features, target = (np.concatenate([np.asarray(block[place]) for block in blocks]) for place in (0, 1))

    def alone():
        xgb.train(chosen.params, xgb.QuantileDMatrix(features, target), rounds)

    return {"rows": len(target) * rounds, "seconds": best(ours if who == "ours" else alone)}


def begun(name, path, folder, steps):
    from trainyard_algorithms import tab_net
    from trainyard_algorithms.keras_tabular import job

    words = ["--preprocess", f"--training_data_path={path}", "--model_type=regression", f"--max_steps={steps}", f"--job-dir={folder}"]
    args = arguments.parse(name, words + (["--learning_rate=0.01"] if name == "tab_net" else []))
    if name == "tab_net":
        args.loss = tab_net.loss(args)
    network = importlib.import_module(f"trainyard_algorithms.keras_tabular.{NETWORKS[name]}")
    return job.begin(args, network.build)


def network(name, path, folder, steps):
    """Our loop: first without evaluations, then the rest of a job as it is."""
    from trainyard_algorithms.keras_tabular import job, training

    made = begun(name, path, folder, steps + FIRST_STEPS)
    batches = made.rows["training"].shuffled(made.plan.batch_rows, made.plan.seed)

    def run(steps):
        # More steps in the plan than are run, so that none is due for an evaluation.
        plan = dataclasses.replace(made.plan, steps=steps, evaluation_seconds=1e9)
        begin = time.perf_counter()
        training.train(made.trainer, plan, batches, lambda step: None, lambda: True)
        return time.perf_counter() - begin

    run(FIRST_STEPS)
    seconds = run(FIRST_STEPS + steps)
    made.trainer.step.assign(0)
    begin = time.perf_counter()
    job.fit(made)
    return {"rows": steps * made.plan.batch_rows, "seconds": seconds,
            "fit_rows": (steps + FIRST_STEPS) * made.plan.batch_rows, "fit_seconds": time.perf_counter() - begin}


def keras(name, path, folder, steps):
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism = lambda: None  # our promise, not the library's
    made = begun(name, path, folder, steps)
    head, inner, size = made.trainer.head, made.trainer.network, made.plan.batch_rows

    class Peer(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def call(self, inputs, training=False):
            raw, penalty = self.inner(*inputs, training, tf.constant(0, tf.int64))
            self.add_loss(penalty)
            return head.outcome(raw)

    rows = next(iter(made.rows["training"].once(1 << 30)))
    spread = float(rows.target.std())
    peer = Peer()

    def loss(target, found):
        return tf.square((found - tf.reshape(target, [-1])) / spread)

    peer.compile(optimizer=tf.keras.optimizers.legacy.Adam(0.001), loss=loss)

    def fit(count):
        need = count * size
        data = [np.resize(each, (need, *each.shape[1:])) for each in (rows.numeric, rows.categorical)]
        target = np.resize(rows.target, need)
        begin = time.perf_counter()
        peer.fit(data, target, batch_size=size, epochs=1, verbose=0)
        return time.perf_counter() - begin

    fit(FIRST_STEPS)
    assert len(peer.trainable_variables) == len(inner.trainable_variables)
    return {"rows": steps * size, "seconds": fit(steps)}


def main():
    who, name, path, folder, steps = sys.argv[1:]
    act = network if who == "ours" else keras
    answer = trees(who, path, folder, int(steps)) if name == "boosted_trees" else act(name, path, folder, int(steps))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
