"""The linear learner beside scikit-learn's, and its SavedModel beside the trainer."""

import csv
import json
import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, roc_auc_score
from trainyard_algorithms import arguments, failure, linear_learner
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import job as jobs
from trainyard_algorithms.keras_tabular import linear_network, training

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
    _, more = mixed(tmp_path / "b", "--max_steps=25", "--eval_steps=2")
    assert int(more.trainer.step.numpy()) == 25


def weights(job: jobs.Job) -> list[np.ndarray]:
    return [each.numpy() for each in job.trainer.network.variables]


def assert_same_weights(one: jobs.Job, other: jobs.Job) -> None:
    for mine, others in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(mine, others)


def test_other_arguments_start_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    mixed(tmp_path / "a", "--max_steps=30")
    assert "starts anew" not in caplog.text
    out, second = mixed(tmp_path / "a", "--learning_rate=0.001")
    assert "starts anew" in caplog.text and "--learning_rate" in caplog.text
    assert_same_weights(second, mixed(tmp_path / "b", "--learning_rate=0.001")[1])
    assert not list((out / "experiment").glob("ckpt-30*"))
    caplog.clear()
    mixed(tmp_path / "a", "--learning_rate=0.001")
    assert "Nothing is trained" in caplog.text and "starts anew" not in caplog.text


def test_a_trial_continues_its_own_checkpoint_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "1")
    for job_id, anew in (("tuned_1", False), ("tuned_1", False), ("tuned_2", True)):
        monkeypatch.setenv("CLOUD_ML_JOB_ID", job_id)
        mixed(tmp_path)
        assert ("starts anew" in caplog.text) == anew
    assert "job and trial" in caplog.text


@pytest.mark.parametrize("content", ['{"run": {"--see', "[]", None])
def test_a_mark_that_cannot_be_read_starts_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str | None
) -> None:
    out, _ = mixed(tmp_path, "--max_steps=3")
    mark = out / "experiment" / "network.json"
    if content is None:
        mark.unlink()
    else:
        mark.write_text(content)
    _, second = mixed(tmp_path, "--max_steps=2")
    assert "starts anew" in caplog.text
    assert int(second.trainer.step.numpy()) == 2


def test_the_best_network_is_never_overwritten_in_place(tmp_path: Path) -> None:
    _, job = mixed(tmp_path)
    folder = tmp_path / "kept"
    kept = training.Checkpoints(job.trainer, folder, {})
    variables = job.trainer.network.trainable_variables
    places = []
    for step, loss in ((1, 3.0), (2, 2.0), (3, 2.5), (4, 1.0), (5, float("nan"))):
        for each in variables:
            each.assign(tf.fill(each.shape, float(step)))
        kept.save(step, {"average_loss": loss})
        places.append(json.loads((folder / "network.json").read_text())["best_place"])
    assert places == ["one", "two", "two", "one", "one"]
    assert not list(folder.glob("ckpt-5*"))  # of a network that is lost
    again = training.Checkpoints(job.trainer, folder, {})
    assert again.restore() and again.best_loss == 1.0
    again.use_best()
    assert all(np.all(each.numpy() == 4.0) for each in variables)


def evaluations(monkeypatch: pytest.MonkeyPatch, then: Callable[[jobs.Job, dict[str, float]], None]) -> None:
    """`then` sees each evaluation's metrics, and may change them."""
    evaluate = jobs.Job.evaluate

    def seen(job: jobs.Job, part: str) -> dict[str, float]:
        metrics = evaluate(job, part)
        then(job, metrics)
        return metrics

    monkeypatch.setattr(jobs.Job, "evaluate", seen)


def test_a_last_loss_that_is_no_number_leaves_the_best_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = []

    def spoil(job: jobs.Job, metrics: dict[str, float]) -> None:
        if int(job.trainer.step.numpy()) == 20 and not spoilt:
            spoilt.append(True)
            for each in job.trainer.network.trainable_variables:
                each.assign(each * np.nan)
            metrics.update(loss=np.nan, average_loss=np.nan)

    evaluations(monkeypatch, spoil)
    _, job = mixed(tmp_path)
    assert spoilt and np.isfinite(job.metrics["average_loss"])
    assert all(np.isfinite(each).all() for each in weights(job))


def test_a_run_that_is_told_to_stop_writes_its_best_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failure, "_told_to_stop", False)
    seen = []

    def stop(job: jobs.Job, metrics: dict[str, float]) -> None:
        seen.append(dict(metrics))
        if int(job.trainer.step.numpy()) == 2:
            monkeypatch.setattr(failure, "_told_to_stop", True)

    evaluations(monkeypatch, stop)
    out, job = mixed(tmp_path)
    assert int(job.trainer.step.numpy()) == 3
    assert len(seen) == 2 and job.metrics == min(seen, key=lambda each: each["average_loss"])
    assert serve(out, ["1.5,red,plain,7,1"])["probabilities"].shape == (1, 2)
    assert (out / "model" / "deployment_config.yaml").exists()


def test_a_checkpoint_of_other_labels_is_not_continued(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for labels in ("ab", "xy"):
        rows: list[list[object]] = [[labels[place % 2], place * 0.5, place * 1.25] for place in range(60)]
        data = write(tmp_path / "data.csv", rows)
        out = run(tmp_path, data, "classification", "--max_steps=5")
    assert "columns and classes" in caplog.text
    assert sorted(serve(out, ["1.5,2.5"])["all_classes"][0]) == [b"x", b"y"]


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
