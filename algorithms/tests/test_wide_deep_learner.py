"""Wide & deep: what its two parts take, and that the deep one learns what a linear model cannot."""

import csv
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from trainyard_algorithms import arguments, wide_deep_learner
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import job as jobs
from trainyard_algorithms.keras_tabular import linear_network, wide_deep_network

ALGORITHM = "wide_deep_learner"


def exclusive_or(tmp_path: Path, rows: int = 600) -> Path:
    """The target is whether two categories differ; a third of the rows has the majority class by chance."""
    random = np.random.default_rng(0)
    path = tmp_path / "xor.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for _ in range(rows):
            one, other = random.integers(2, size=2)
            noise = random.normal(size=2)
            label = "same" if one == other else "differ"
            writer.writerow([label, "pq"[one], "uv"[other], *(f"{value:.4f}" for value in noise)])
    return path


def fitted(tmp_path: Path, data: Path, *more: str, linear: bool = False) -> jobs.Job:
    argv = [f"--training_data_path={data}", f"--job-dir={tmp_path / 'out'}", "--preprocess"]
    argv += ["--model_type=classification", "--max_steps=300", "--learning_rate=0.02", *more]
    name, network = ("linear_learner", linear_network) if linear else (ALGORITHM, wide_deep_network)
    job = jobs.begin(arguments.parse(name, argv), network.build)
    jobs.fit(job)
    return job


def test_learns_an_interaction_that_a_linear_model_cannot(tmp_path: Path) -> None:
    data = exclusive_or(tmp_path)
    (tmp_path / "linear").mkdir()
    linear = fitted(tmp_path / "linear", data, linear=True)
    both = fitted(tmp_path, data, "--use_wide", "--embed_categories", "--hidden_units=16,8")
    assert linear.metrics["accuracy"] < 0.7
    assert both.metrics["accuracy"] > 0.95
    jobs.finish(both)
    model = tf.saved_model.load(str(tmp_path / "out" / "model"))
    answers = model.signatures["serving_default"](tf.constant(["p,u,0.1,0.2", "p,v,0.1,0.2", "q,u,,"]))
    assert answers["classes"].numpy()[:, 0].tolist() == [b"same", b"differ", b"differ"]
    batch = next(both.rows["test"].once(1000))
    expected = both.trainer.judge(batch.numeric, batch.categorical, batch.target)[0].numpy()
    with (tmp_path / "out" / "processed_data" / "test.csv").open() as file:
        rows = [",".join(row[1:]) for row in csv.reader(file)]
    answers = model.signatures["serving_default"](tf.constant(rows))
    np.testing.assert_array_equal(answers["probabilities"], expected)


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_each_optimiser_trains_the_deep_part(tmp_path: Path, kind: str) -> None:
    rate = {"adam": 0.01, "sgd": 0.3}[kind]
    job = fitted(
        tmp_path,
        exclusive_or(tmp_path),
        f"--dnn_optimizer_type={kind}",
        f"--dnn_learning_rate={rate}",
        "--max_steps=200",
    )
    assert job.metrics["accuracy"] > 0.9


def test_dropout_and_reruns(tmp_path: Path) -> None:
    data = exclusive_or(tmp_path, 200)
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        job = fitted(tmp_path / name, data, "--dnn_dropout=0.3", "--max_steps=15", "--optimizer_type=sgd")
        found.append([variable.numpy() for variable in job.trainer.network.variables])
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


def setting(tmp_path: Path, *more: str) -> jobs.Job:
    argv = [
        f"--training_data_path={exclusive_or(tmp_path, 100)}",
        f"--job-dir={tmp_path / 'out'}",
        "--preprocess",
    ]
    argv += ["--model_type=classification", "--validation_split=0", *more]
    return jobs.begin(arguments.parse(ALGORITHM, argv), wide_deep_network.build)


def test_flags_choose_where_categories_go(tmp_path: Path) -> None:
    neither = setting(tmp_path).trainer.network
    assert neither.wide is not None and neither.embeddings is not None
    wide = setting(tmp_path, "--use_wide").trainer.network
    assert wide.wide is not None and wide.embeddings is None
    deep = setting(tmp_path, "--embed_categories").trainer.network
    assert deep.wide is None and deep.embeddings.width == 4
    assert len(deep.deep_variables) + len(deep.linear_variables) == len(deep.trainable_variables)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (2, 1), (3, 2), (100, 10), (1001, 32)])
def test_embedding_width_is_the_square_root(size: int, width: int) -> None:
    assert wide_deep_network.embedding_width(size) == width


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("--hidden_units=30,x", "hidden_units"),
        ("--hidden_units=0", "hidden_units"),
        ("--dnn_dropout=1", "dnn_dropout"),
        ("--dnn_optimizer_type=rmsprop", "rmsprop"),
        ("--model_type=ranking", "ranking"),
    ],
)
def test_bad_arguments_are_refused(argument: str, word: str) -> None:
    argv = ["--model_type=classification", "--training_data_path=x.csv", "--job-dir=y", argument]
    with pytest.raises(UserError, match=word):
        arguments.parse(ALGORITHM, argv)


def test_regression_trains(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(300, 2))
    path = tmp_path / "surface.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[1000 + 50 * a * b, a, b] for a, b in x])
    argv = [
        "--model_type=regression",
        f"--training_data_path={path}",
        f"--job-dir={tmp_path / 'out'}",
        "--preprocess",
    ]
    wide_deep_learner.main(arguments.parse(ALGORITHM, [*argv, "--max_steps=400", "--dnn_learning_rate=0.1"]))
    model = tf.saved_model.load(str(tmp_path / "out" / "model"))
    answers = model.signatures["serving_default"](tf.constant(["1.0,1.0", "1.0,-1.0"]))
    high, low = answers["predictions"].numpy()[:, 0]
    assert high > 1020 and low < 980
