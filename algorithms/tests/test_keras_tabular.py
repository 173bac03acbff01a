"""What the Keras trainers share: rules without a job, and the row decoder on a job's real table."""

import csv
import itertools
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import precision_score, recall_score, roc_auc_score
from trainyard_algorithms import arguments
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import evaluation, export, features, optimisers, training
from trainyard_algorithms.keras_tabular.heads import ClassHead, ValueHead
from trainyard_algorithms.keras_tabular.layers import Embeddings, OneHotLinear, Standardise
from trainyard_algorithms.keras_tabular.rows import Rows
from trainyard_algorithms.paths import JobFolder
from trainyard_algorithms.tabular.prepare import Column, Table, prepare


def table(tmp_path: Path, rows: list[list[object]]) -> Table:
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    argv = ["--model_type=classification", f"--training_data_path={path}", f"--job-dir={tmp_path / 'out'}"]
    args = arguments.parse("linear_learner", [*argv, "--preprocess"])
    return prepare(args, JobFolder(args.job_dir), classes=True, numeric=False)


def decoded(found: Table, rows: list[str]) -> tuple[np.ndarray, np.ndarray]:
    numeric, categorical = export.RowDecoder(found)(tf.constant(rows))
    return numeric.numpy(), categorical.numpy()


def awkward(tmp_path: Path) -> Table:
    """30 columns with blanks, hashed values (more than a vocabulary holds), quotes, and numbers of many
    digits."""
    random = np.random.default_rng(3)
    rows: list[list[object]] = []
    for place in range(1200):
        numbers: list[object] = [repr(value) for value in random.normal(0, 1e3, 20)]
        numbers[place % 20] = ["", " ", "NaN"][place % 3]
        texts = [random.choice(["a", " a", 'q"u,ote', "é"]), f"id {place}", "x" if place % 5 else ""]
        rows.append([place % 3, *numbers[:10], *texts, 5000 + place, *numbers[10:]])
    return table(tmp_path, rows)


def test_decoder_reads_rows_as_the_trainer_does(tmp_path: Path) -> None:
    found = awkward(tmp_path)
    assert {column.kind for column in found.columns} == {"numeric", "categorical"}
    assert any(column.buckets for column in found.columns)
    batch = next(Rows(found, "test").once(10_000))
    with found.parts["test"].files[0].open(newline="") as file:
        processed = list(csv.reader(file))
    rows = []
    for row in processed:
        quoted = ['"' + value.replace('"', '""') + '"' if '"' in value else value for value in row[1:]]
        rows.append(",".join([*quoted[:13], "7777", *quoted[13:]]) + "\n")
    numeric, categorical = decoded(found, rows)
    np.testing.assert_array_equal(numeric, batch.numeric)
    np.testing.assert_array_equal(categorical, batch.categorical)


def test_decoder_takes_thousands_of_columns(tmp_path: Path) -> None:
    columns = [Column(place, f"column_{place + 1}", "numeric", mean=0.5) for place in range(1, 3000)]
    columns += [
        Column(place, f"column_{place + 1}", "categorical", 0.0, ("u", "v")) for place in range(3000, 4000)
    ]
    found = Table(tuple(columns), ("no", "yes"), {})
    numeric, categorical = decoded(found, [",".join(["1.25"] * 2998 + [""] + ["v"] * 999 + ["w"])])
    assert numeric.shape == (1, 2999) and categorical.shape == (1, 1000)
    assert numeric[0, -1] == 0.5 and numeric[0, 0] == 1.25
    assert categorical[0, 0] == 2 and categorical[0, -1] == 0


def test_statistics_are_those_of_all_rows() -> None:
    values = np.random.default_rng(0).normal(1e4, 3.0, (1000, 2))
    values[:, 1] = 7.0
    running = features.Running(2)
    for first in range(0, 1000, 170):
        running.add(values[first : first + 170])
    found = running.statistics()
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.deviation, [values[:, 0].std(), 1.0], rtol=1e-9)
    scaled = Standardise(found)(tf.constant(values[:3], tf.float32))
    np.testing.assert_allclose(scaled[:, 1], [0, 0, 0], atol=1e-6)


def test_shuffled_batches_are_full_and_the_same_for_a_seed(tmp_path: Path) -> None:
    found = awkward(tmp_path)
    rows = Rows(found, "training")
    first, again, other = rows.shuffled(64, 1), rows.shuffled(64, 1), rows.shuffled(64, 2)
    for _ in range(20):
        one, two = next(first), next(again)
        assert len(one) == 64 and not np.isnan(one.numeric).any()
        np.testing.assert_array_equal(one.numeric, two.numeric)
    assert not np.array_equal(one.numeric, next(other).numeric)


def test_kept_rows_are_those_of_the_file(tmp_path: Path) -> None:
    found = awkward(tmp_path)
    kept, read = Rows(found, "validation", keep=True), Rows(found, "validation", keep=True, cells_in_memory=1)
    for _ in range(2):
        for one, other in zip(kept.once(50), read.once(50), strict=True):
            np.testing.assert_array_equal(one.numeric, other.numeric)
            np.testing.assert_array_equal(one.target, other.target)


def test_one_hot_and_embeddings_look_up_each_column() -> None:
    linear = OneHotLinear((3, 2), 1)
    linear.weights.assign([[0.0], [1.0], [2.0], [10.0], [20.0]])
    np.testing.assert_array_equal(linear(tf.constant([[1, 0], [2, 1]])), [[11.0], [22.0]])
    embedded = Embeddings(np.random.default_rng(0), (3, 5, 2), (1, 4, 1))
    found = embedded(tf.constant([[0, 3, 1]]))
    assert found.shape == (1, 6) and embedded.width == 6
    np.testing.assert_array_equal(embedded.owner, [0, 2, 1, 1, 1, 1])
    assert found[0, 0] == 0.0
    np.testing.assert_array_equal(found[0, 2:], embedded.tables[1][3])


def options(kind: str, **more: float) -> optimisers.Options:
    return optimisers.Options(kind, more.pop("rate", 0.1), **more)


def move(chosen: optimisers.Options, start: list[float], gradient: list[float], times: int = 1) -> np.ndarray:
    variable = tf.Variable(start)
    optimiser = optimisers.build(chosen)
    optimisers.start(optimiser, [variable])
    for _ in range(times):
        optimiser.apply_gradients([(tf.constant(gradient), variable)])
    found: np.ndarray = variable.numpy()
    return found


def test_optimisers_move_as_their_formulas_say() -> None:
    np.testing.assert_allclose(move(options("sgd"), [1.0], [2.0]), [0.8], rtol=1e-6)
    np.testing.assert_allclose(move(options("adam", beta_1=0.5), [1.0], [2.0]), [0.9], rtol=1e-5)
    # FTRL from zero: -g * rate / sqrt(0.1 + g^2).
    np.testing.assert_allclose(move(options("ftrl"), [0.0], [2.0]), [-0.2 / math.sqrt(4.1)], rtol=1e-5)


def test_ftrl_keeps_start_values_and_regularises() -> None:
    np.testing.assert_allclose(move(options("ftrl"), [0.5, -0.3], [0.0, 0.0]), [0.5, -0.3], rtol=1e-5)
    assert move(options("ftrl", l1=10.0), [0.0], [2.0])[0] == 0.0
    plain = move(options("ftrl"), [0.0], [2.0])[0]
    assert 0 > move(options("ftrl", l2=5.0), [0.0], [2.0])[0] > plain
    shrunk = move(options("ftrl", l2_shrinkage=0.5), [1.0], [0.0], times=5)[0]
    assert 0 < shrunk < 1.0


def test_arguments_of_another_optimiser_are_named() -> None:
    assert optimisers.ignored(options("adam", l1=0.1)) == ["l1_regularization_strength"]
    assert optimisers.ignored(options("ftrl", beta_1=0.5), "dnn_") == ["dnn_beta_1"]
    assert optimisers.ignored(options("ftrl", l2=1.0)) == []


def test_class_losses() -> None:
    raw, target = tf.constant([[0.7], [-0.4]]), tf.constant([1, 0])
    p = 1 / (1 + np.exp(-np.array([0.7, -0.4])))
    plain = -np.log([p[0], 1 - p[1]])
    np.testing.assert_allclose(ClassHead(2).row_losses(raw, target), plain, rtol=1e-5)
    weighted = ClassHead(2, "weighted_cross_entropy", class_weight=3.0).row_losses(raw, target)
    np.testing.assert_allclose(weighted, plain * [3, 1], rtol=1e-5)
    focal = ClassHead(2, "focal_loss", alpha=0.25, gamma=2.0).row_losses(raw, target)
    np.testing.assert_allclose(focal, plain * [0.25 * (1 - p[0]) ** 2, 0.75 * p[1] ** 2], rtol=1e-5)
    many = ClassHead(3)
    logits = tf.constant([[1.0, 2.0, 3.0]])
    soft = np.exp([1.0, 2, 3]) / np.exp([1.0, 2, 3]).sum()
    np.testing.assert_allclose(many.row_losses(logits, tf.constant([0])), [-np.log(soft[0])], rtol=1e-5)
    np.testing.assert_allclose(many.outcome(logits)[0], soft, rtol=1e-5)


def test_value_losses_are_in_the_targets_unit() -> None:
    raw, target = tf.constant([[0.0], [1.0]]), tf.constant([13.0, 10.0])
    for loss, rows, average, report in (
        ("mse", [9.0, 4.0], 6.5 / 4, 6.5),
        ("mae", [3.0, 2.0], 2.5 / 2, 2.5),
        ("rmse", [9.0, 4.0], math.sqrt(6.5 / 4), math.sqrt(6.5)),
    ):
        head = ValueHead(mean=10.0, deviation=2.0, loss=loss)
        losses = head.row_losses(raw, target)
        np.testing.assert_allclose(losses, rows)
        assert float(head.average(losses)) == pytest.approx(average, rel=1e-5)
        assert head.report(float(np.mean(losses))) == pytest.approx(report)
    np.testing.assert_allclose(head.outcome(raw), [10.0, 12.0])


def test_metrics_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    for classes in (2, 4):
        target = random.integers(0, classes, 500)
        outcome = random.dirichlet(np.ones(classes), 500).round(2)
        seen = evaluation.ClassMetrics(classes)
        for first in range(0, 500, 130):
            seen.add(outcome[first : first + 130], target[first : first + 130])
        found, guess = seen.metrics(), outcome.argmax(axis=1)
        kind = "binary" if classes == 2 else "macro"
        assert found["accuracy"] == pytest.approx((guess == target).mean())
        assert found["precision"] == pytest.approx(precision_score(target, guess, average=kind))
        assert found["recall"] == pytest.approx(recall_score(target, guess, average=kind))
        areas = [roc_auc_score(target == each, outcome[:, each]) for each in range(classes)]
        expected = areas[1] if classes == 2 else np.mean(areas)
        assert found["auc"] == pytest.approx(expected, abs=1e-6)


def test_value_metrics() -> None:
    seen = evaluation.ValueMetrics()
    seen.add(np.array([1.0, 2.0]), np.array([2.0, 5.0]))
    assert seen.metrics() == {
        "rmse": pytest.approx(math.sqrt(5)),
        "mae": pytest.approx(2),
        "mql": pytest.approx(1),
    }


def test_no_auc_where_a_class_has_no_row() -> None:
    seen = evaluation.ClassMetrics(2)
    seen.add(np.array([[0.3, 0.7]]), np.array([1]))
    assert "auc" not in seen.metrics()


def test_plan_by_time_is_evaluated_ten_times() -> None:
    argv = ["--model_type=regression", "--training_data_path=x", "--job-dir=y", "--max_train_secs=50"]
    plan = training.plan(arguments.parse("linear_learner", argv), 1000)
    assert (plan.seconds, plan.evaluation_seconds) == (50.0, 5.0)
    assert len(plan.evaluated_at) == 13 and max(plan.evaluated_at) == 1000


def test_a_loss_that_is_no_number_ends_training() -> None:
    with pytest.raises(UserError, match="step 7"):
        training.check(math.nan, 7)


@pytest.mark.parametrize("best", [True, False])
def test_a_loss_that_is_no_number_when_time_is_over(best: bool) -> None:
    argv = ["--model_type=regression", "--training_data_path=x", "--job-dir=y", "--max_train_secs=1000"]
    plan = training.plan(arguments.parse("linear_learner", argv), 1000)
    losses = iter([0.5, math.nan, math.nan])
    trainer: Any = SimpleNamespace(step=tf.Variable(2), train_step=lambda *_: next(losses))
    batch: Any = SimpleNamespace(numeric=0, categorical=0, target=0)
    times = iter([0.0, 1.0, 2.0, 5000.0])
    told: list[int] = []

    def act() -> bool:
        batches = itertools.repeat(batch)
        return training.train(trainer, plan, batches, told.append, lambda: best, lambda: next(times))

    if best:
        assert not act()
    else:
        with pytest.raises(UserError, match="diverged"):
            act()
    assert told == []
