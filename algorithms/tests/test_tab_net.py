"""TabNet's parts beside hand-made ones, and small runs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from sklearn import datasets
from trainyard_algorithms import arguments, tab_net
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import attributions, tabnet_network
from trainyard_algorithms.keras_tabular import job as jobs
from trainyard_algorithms.keras_tabular.ghost_norm import GhostBatchNorm, YeoJohnson, ghost_parts
from trainyard_algorithms.keras_tabular.sparsemax import sparsemax

SMALL = ["--num_decision_steps=3", "--num_transformer_layers=2", "--num_transformer_layers_ratio=0.5"]


def given(*more: str) -> list[str]:
    return [
        "--model_type=classification",
        "--training_data_path=x.csv",
        "--job-dir=y",
        "--learning_rate=0.02",
        *more,
    ]


def projected(z: np.ndarray) -> np.ndarray:
    """The simplex' point next to z, by bisection of the threshold."""
    low, high = z.min() - 1.0, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(z - middle, 0).sum() > 1 else (low, middle)
    found: np.ndarray = np.maximum(z - low, 0)
    return found


def test_sparsemax_is_the_projection_and_its_gradient_is_exact() -> None:
    z = np.random.default_rng(0).normal(0, 1.5, (50, 7))
    z[0] = 0.0
    z[1] = [100, 0, 0, 0, 0, 0, 0]
    with tf.GradientTape() as tape:
        x = tf.constant(z)
        tape.watch(x)
        found = sparsemax(x)
        weighted = found * tf.constant(np.arange(7.0))
    np.testing.assert_allclose(found, [projected(row) for row in z], atol=1e-9)
    assert float(tf.reduce_mean(tf.cast(found == 0, tf.float32))) > 0.3
    gradient = tape.gradient(weighted, x).numpy()
    for row in range(2, 50):  # Martins and Astudillo: on the support v - mean(v), else 0
        support = found.numpy()[row] > 0
        expected = np.where(support, np.arange(7) - np.arange(7)[support].mean(), 0)
        np.testing.assert_allclose(gradient[row], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("rows", "virtual", "parts"), [(100, 25, 4), (250, 62, 2), (97, 24, 1), (64, 64, 1), (8, 2, 4)]
)
def test_parts_of_a_batch_are_equal(rows: int, virtual: int, parts: int) -> None:
    assert ghost_parts(rows, virtual) == parts


def test_ghost_batch_norm_normalises_each_part() -> None:
    norm = GhostBatchNorm(3, 4, 0.9, "norm")
    norm.gamma.assign([1.0, 2.0, 3.0])
    norm.beta.assign([0.0, 1.0, 0.0])
    x = np.random.default_rng(0).normal(5, 2, (20, 3)).astype(np.float32)
    found = norm(tf.constant(x), True).numpy()
    assert found.shape == (20, 3)
    means, variances = [], []
    for part in range(4):
        mine = x[part::4]
        mean, variance = mine.mean(axis=0), mine.var(axis=0)
        expected = (mine - mean) / np.sqrt(variance + 1e-3) * [1, 2, 3] + [0, 1, 0]
        np.testing.assert_allclose(found[part::4], expected, rtol=1e-4, atol=1e-4)
        means.append(mean)
        variances.append(mine.var(axis=0, ddof=1))
    np.testing.assert_allclose(norm.mean, 0.1 * np.mean(means, axis=0), rtol=1e-4)
    np.testing.assert_allclose(norm.variance, 0.9 + 0.1 * np.mean(variances, axis=0), rtol=1e-4)
    quiet = norm(tf.constant(x[:7]), False).numpy()
    scale = np.array([1, 2, 3]) / np.sqrt(norm.variance.numpy() + 1e-3)
    np.testing.assert_allclose(quiet, (x[:7] - norm.mean.numpy()) * scale + [0, 1, 0], rtol=1e-4)


def test_yeo_johnson_is_scipys() -> None:
    from scipy.stats import yeojohnson

    x = np.array([-3.0, -0.5, 0.0, 0.5, 4.0])
    powers = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]
    transform = YeoJohnson(len(powers))
    transform.power.assign(powers)
    with tf.GradientTape() as tape:
        found = transform(tf.constant(np.repeat(x[:, None], len(powers), axis=1), tf.float32))
    for place, power in enumerate(powers):
        np.testing.assert_allclose(found[:, place], yeojohnson(x, power), rtol=1e-5, atol=1e-6)
    assert np.isfinite(tape.gradient(found, transform.power).numpy()).all()


def test_shape_takes_ratios_and_the_older_names() -> None:
    shape = tabnet_network.shape(arguments.parse("tab_net", given()))
    assert (shape.feature_dim, shape.output_dim, shape.parts) == (64, 32, 4)
    assert (shape.shared_layers, shape.own_layers) == (1, 3)
    older = tabnet_network.shape(
        arguments.parse("tab_net", given("--output_dim=10", "--virtual_batch_size=50"))
    )
    assert (older.output_dim, older.parts) == (10, 2)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--output_dim=64"], "output dimension"),
        (["--virtual_batch_size=101"], "batch_size"),
        (["--batch_size=2"], "virtual batch"),
        (["--loss_function_type=mse"], "loss_function_type"),
        (["--loss_function_type=hinge"], "hinge"),
        (["--num_decision_steps=1"], "num_decision_steps"),
        (["--relaxation_factor=0.5"], "relaxation_factor"),
        (["--learning_rate=-1"], "learning_rate"),
        (["--feature_dimension=3"], "feature_dim"),
    ],
)
def test_bad_arguments_are_refused(more: list[str], word: str) -> None:
    with pytest.raises(UserError, match=word):
        args = arguments.parse("tab_net", given(*more))
        tab_net.loss(args)
        tabnet_network.shape(args)


def test_learning_rate_is_required() -> None:
    with pytest.raises(UserError, match="learning_rate"):
        arguments.parse("tab_net", given()[:-1])


def test_losses_and_limits() -> None:
    assert tab_net.loss(arguments.parse("tab_net", given())) == "cross_entropy"
    assert tab_net.loss(arguments.parse("tab_net", given("--class_weight=2"))) == "weighted_cross_entropy"
    assert tab_net.loss(arguments.parse("tab_net", given("--model_type=regression"))) == "mse"


def test_arguments_of_another_loss_are_named() -> None:
    args = arguments.parse("tab_net", given("--class_weight=2", "--gamma_focal_loss=3"))
    assert tab_net.ignored(args, "cross_entropy") == ["--class_weight=2", "--gamma_focal_loss=3"]
    assert tab_net.ignored(args, "weighted_cross_entropy") == ["--gamma_focal_loss=3"]
    assert tab_net.ignored(args, "focal_loss") == ["--class_weight=2"]
    defaults = arguments.parse("tab_net", given())
    assert tab_net.ignored(defaults, "mse") == []
    assert tab_net.steps(arguments.parse("tab_net", given())) == tab_net.STEPS
    assert tab_net.steps(arguments.parse("tab_net", given("--max_steps=7"))) == 7
    assert tab_net.steps(arguments.parse("tab_net", given("--max_train_secs=7"))) == tab_net.STEPS_BY_TIME


def data(tmp_path: Path, regression: bool = False) -> Path:
    """Breast cancer or diabetes with two more columns: categories of noise, few and many."""
    found = datasets.load_diabetes() if regression else datasets.load_breast_cancer()
    random = np.random.default_rng(0)
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for target, values in zip(found.target, found.data[:, :6]):
            label = target if regression else ["malignant", "benign"][target]
            many = f"v{random.integers(40)}"
            writer.writerow([label, *map(float, values), "ab"[random.integers(2)], many])
    return path


def argv(tmp_path: Path, path: Path, *more: str) -> list[str]:
    return [
        "--model_type=classification",
        "--preprocess",
        f"--training_data_path={path}",
        f"--job-dir={tmp_path / 'out'}",
        "--learning_rate=0.02",
        "--feature_dim=8",
        *SMALL,
        *more,
    ]


def test_learns_a_small_table_and_says_what_it_looked_at(tmp_path: Path) -> None:
    more = ["--max_steps=120", "--large_category_thresh=10", "--large_category_dim=3", "--gradient_thresh=10"]
    args = arguments.parse("tab_net", argv(tmp_path, data(tmp_path), *more))
    args.loss = tab_net.loss(args)
    job = jobs.begin(args, tabnet_network.build)
    assert job.trainer.network.owner.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]
    jobs.fit(job)
    attributions.explain(job)
    jobs.finish(job)
    assert job.metrics["accuracy"] > 0.85 and job.metrics["auc"] > 0.9

    content = json.loads((tmp_path / "out" / "artifacts" / "feature_importances.json").read_text())
    assert content["rows"] == job.rows["validation"].count
    assert {each["name"] for each in content["features"]} == {f"column_{place}" for place in range(2, 10)}
    assert sum(each["importance"] for each in content["features"]) == pytest.approx(1)
    for step in range(2):
        assert sum(each["steps"][step] for each in content["features"]) == pytest.approx(1)

    batch = next(job.rows["test"].once(1000))
    expected = job.trainer.judge(batch.numeric, batch.categorical, batch.target)[0].numpy()
    with (tmp_path / "out" / "processed_data" / "test.csv").open() as file:
        rows = [",".join(row[1:]) for row in csv.reader(file)]
    model = tf.saved_model.load(str(tmp_path / "out" / "model"))
    answers = model.signatures["serving_default"](tf.constant(rows))
    np.testing.assert_allclose(answers["probabilities"], expected, rtol=1e-6, atol=1e-7)
    one = model.signatures["serving_default"](tf.constant(rows[3:4]))
    np.testing.assert_allclose(one["probabilities"][0], expected[3], rtol=1e-5, atol=1e-6)


def test_reruns_are_equal_for_regression(tmp_path: Path) -> None:
    path = data(tmp_path, regression=True)
    found = []
    for name in ("a", "b"):
        more = [
            "--model_type=regression",
            "--max_steps=12",
            "--loss_function_type=rmse",
            "--yeo_johnson_transform=false",
        ]
        args = arguments.parse("tab_net", argv(tmp_path / name, path, *more))
        args.loss = tab_net.loss(args)
        job = jobs.begin(args, tabnet_network.build)
        jobs.fit(job)
        assert job.metrics["loss"] == pytest.approx(job.metrics["rmse"], rel=1e-5)
        found.append([variable.numpy() for variable in job.trainer.network.variables])
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


def test_class_weight_is_for_two_classes(tmp_path: Path) -> None:
    iris = datasets.load_iris()
    path = tmp_path / "iris.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[f"c{t}", *map(float, x)] for t, x in zip(iris.target, iris.data)])
    args = arguments.parse("tab_net", argv(tmp_path, path, "--class_weight=2"))
    with pytest.raises(UserError, match="two classes"):
        tab_net.main(args)
