"""The linear learner beside scikit-learn's, and its SavedModel beside the trainer."""

import csv
import json
import logging
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from trainyard_algorithms import arguments, linear_learner
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import job as jobs
from trainyard_algorithms.keras_tabular import linear_network

ALGORITHM = "linear_learner"


def write(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def run(tmp_path: Path, data: Path, model_type: str, *more: str) -> Path:
    out = tmp_path / "out"
    argv = [f"--model_type={model_type}", f"--training_data_path={data}", f"--job-dir={out}", *more]
    linear_learner.main(arguments.parse(ALGORITHM, argv))
    return out


def part(out: Path, name: str) -> tuple[np.ndarray, list[str]]:
    with (out / "processed_data" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    return np.array([row[1:] for row in rows], np.float64), [row[0] for row in rows]


def serve(out: Path, rows: list[str]) -> dict[str, np.ndarray]:
    model = tf.saved_model.load(str(out / "model"))
    answers = model.signatures["serving_default"](tf.constant(rows))
    return {name: value.numpy() for name, value in answers.items()}


def lines(x: np.ndarray) -> list[str]:
    return [",".join(repr(float(value)) for value in row) for row in x]


def test_classification_comes_near_logistic_regression(tmp_path: Path) -> None:
    """Bound: log loss on the test part within 0.03 of scikit-learn's with C=100 on the same standardised
    split."""
    wine = datasets.load_wine()
    rows = [[f"class_{t}", *map(float, x)] for t, x in zip(wine.target, wine.data)]
    data = write(tmp_path / "wine.csv", rows)
    out = run(tmp_path, data, "classification", "--preprocess", "--max_steps=400", "--learning_rate=0.05")
    x, y = part(out, "training")
    z, truth = part(out, "test")
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    reference = LogisticRegression(C=100.0, max_iter=5000).fit((x - mean) / deviation, y)
    expected = log_loss(truth, reference.predict_proba((z - mean) / deviation), labels=reference.classes_)
    answers = serve(out, lines(z))
    assert [label.decode() for label in answers["all_classes"][0]] == list(reference.classes_)
    assert log_loss(truth, answers["probabilities"], labels=reference.classes_) <= expected + 0.03
    assert np.mean(answers["classes"][:, 0] == np.array(truth, "S")) >= 0.9
    assert (out / "model" / "deployment_config.yaml").read_text().count("accuracy")
    assert list((out / "experiment").glob("ckpt-*.index"))


def test_regression_comes_near_ridge(tmp_path: Path) -> None:
    """Bound: RMSE on the test part within 2 % of ridge regression's on the same split."""
    diabetes = datasets.load_diabetes()
    rows = [[float(t), *map(float, x)] for t, x in zip(diabetes.target, diabetes.data)]
    data = write(tmp_path / "diabetes.csv", rows)
    out = run(
        tmp_path,
        data,
        "regression",
        "--preprocess",
        "--max_steps=400",
        "--optimizer_type=ftrl",
        "--learning_rate=0.3",
    )
    x, y = part(out, "training")
    z, truth = part(out, "test")
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    reference = Ridge(1.0).fit((x - mean) / deviation, np.array(y, float))

    def error(found: np.ndarray) -> float:
        return float(np.sqrt(np.mean((found - np.array(truth, float)) ** 2)))

    answers = serve(out, lines(z))
    assert error(answers["predictions"][:, 0]) <= 1.02 * error(reference.predict((z - mean) / deviation))


MIXED = [
    ["yes", "1.5", "red", 'a "b", c', "7", "10"],
    ["no", "-2.25", "blue", "plain", "7", "11"],
    ["no", "", "", "plain", "8", "12"],
    ["yes", "3e2", "red", "é ü", "8", "13"],
    ["no", "0.1", "blue", "plain", "8", "14"],
]


def mixed(tmp_path: Path, *more: str) -> tuple[Path, jobs.Job]:
    random = np.random.default_rng(0)
    rows: list[list[object]] = [
        [*MIXED[random.integers(len(MIXED))][:5], 100 + place] for place in range(200)
    ]
    data = write(tmp_path / "mixed.csv", rows)
    out = tmp_path / "out"
    argv = ["--model_type=classification", f"--training_data_path={data}", f"--job-dir={out}", "--preprocess"]
    argv += ["--max_steps=20", "--learning_rate=0.1", *more]
    job = jobs.begin(arguments.parse(ALGORITHM, argv), linear_network.build)
    jobs.fit(job)
    jobs.finish(job)
    return out, job


def test_saved_model_is_the_trainer_row_for_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "trainyard_algorithms")
    out, job = mixed(tmp_path)
    assert "numeric and" in caplog.text
    batch = next(job.rows["validation"].once(1000))
    expected = job.trainer.judge(batch.numeric, batch.categorical, batch.target)[0].numpy()
    with (out / "processed_data" / "validation.csv").open(newline="") as file:
        processed = list(csv.reader(file))
    # As in the user's file: the key, which processed_data/ lacks, is there; blanks are as they come.
    rows = []
    for row in processed:
        text = f'{row[1]},{row[2]},"{row[3].replace(chr(34), chr(34) * 2)}",{row[4]},999'
        rows.append(text)
    answers = serve(out, rows)
    np.testing.assert_array_equal(answers["probabilities"], expected)
    np.testing.assert_array_equal(answers["scores"], expected)
    np.testing.assert_array_equal(answers["class_ids"][:, 0], expected.argmax(axis=1))
    labels = np.array(job.table.labels, "S")
    np.testing.assert_array_equal(answers["classes"][:, 0], labels[expected.argmax(axis=1)])


def test_saved_model_fills_blanks_and_takes_unknown_categories(tmp_path: Path) -> None:
    out, job = mixed(tmp_path)
    mean = next(column.mean for column in job.table.columns if column.kind == "numeric")
    answers = serve(
        out, [",red,plain,7,1", "NaN,red,plain,7,1", f"{mean!r},red,plain,7,1", "1,green,,9,1", "1,,?,,1"]
    )
    probabilities = answers["probabilities"]
    np.testing.assert_array_equal(probabilities[0], probabilities[1])
    np.testing.assert_array_equal(probabilities[0], probabilities[2])
    np.testing.assert_array_equal(probabilities[3], probabilities[4])  # unknown is as blank
    with pytest.raises(tf.errors.InvalidArgumentError):
        serve(out, ["many,red,plain,7,1"])


def test_reruns_are_equal_and_a_finished_run_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, first = mixed(tmp_path / "a")
    out, second = mixed(tmp_path / "b")
    for one, other in zip(first.trainer.network.variables, second.trainer.network.variables):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert first.metrics == second.metrics
    _, third = mixed(tmp_path / "b")
    assert int(third.trainer.step.numpy()) == 20
    _, more = mixed(tmp_path / "b", "--max_steps=25")
    assert int(more.trainer.step.numpy()) == 25
    with pytest.raises(UserError, match="checkpoint in experiment/"):
        mixed(tmp_path / "b", "--optimizer_type=sgd")


def test_a_checkpoint_of_other_labels_is_not_continued(tmp_path: Path) -> None:
    for labels in ("ab", "xy"):
        rows: list[list[object]] = [[labels[place % 2], place * 0.5, place * 1.25] for place in range(60)]
        data = write(tmp_path / "data.csv", rows)
        if labels == "ab":
            run(tmp_path, data, "classification", "--max_steps=5")
    with pytest.raises(UserError, match="checkpoint in experiment/"):
        run(tmp_path, data, "classification", "--max_steps=9")


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("--max_steps=0", "max_steps"),
        ("--optimizer_type=adagrad", "adagrad"),
        ("--beta_1=1", "beta_1"),
        ("--l1_regularization_strength=-1", "l1_regularization_strength"),
        ("--learning_rate=0", "learning_rate"),
        ("--batchsize=3", "batch_size"),
    ],
)
def test_bad_arguments_are_refused(argument: str, word: str) -> None:
    argv = ["--model_type=classification", "--training_data_path=x.csv", "--job-dir=y", argument]
    with pytest.raises(UserError, match=word):
        arguments.parse(ALGORITHM, argv)


def test_divergence_is_said(tmp_path: Path) -> None:
    rows: list[list[object]] = [[place * 1.5, place * 0.5, -place * 0.25] for place in range(60)]
    data = write(tmp_path / "line.csv", rows)
    with pytest.raises(UserError, match="diverged"):
        run(tmp_path, data, "regression", "--max_steps=300", "--optimizer_type=sgd", "--learning_rate=1e6")


def test_table_is_json_with_a_source_for_each_argument() -> None:
    for name in ("linear_learner", "wide_deep_learner", "tab_net"):
        table = arguments.table(name)
        assert table["name"] == name
        for argument in table["arguments"]:
            assert argument["source"] in ("documented", "observed", "successor", "library", "ours")
            assert argument["help"]
        json.dumps(table)


def test_auc_is_that_of_scikit_learn(tmp_path: Path) -> None:
    _, job = mixed(tmp_path)
    batch = next(job.rows["validation"].once(1000))
    outcome = job.trainer.judge(batch.numeric, batch.categorical, batch.target)[0].numpy()
    assert job.evaluate("validation")["auc"] == pytest.approx(roc_auc_score(batch.target, outcome[:, 1]))
