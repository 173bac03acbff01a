"""XGBoost on one replica: against the library used by hand, bad data, outputs."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from trainyard_algorithms import arguments, boosted_trees, failure
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.report import Reporter
from trainyard_algorithms.xgb import numeric_csv

Run = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def trained(*args: str) -> Path:
        job = tmp_path / "job"
        parsed = arguments.parse("boosted_trees", [*args, f"--job-dir={job}", "--nthread=1"])
        boosted_trees.main(parsed)
        return job

    return trained


def numbers(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 5)).round(4)
    features[rng.random(features.shape) < 0.05] = np.nan
    return features, np.nan_to_num(features[:, 0]) * 3 + np.nan_to_num(features[:, 1] * features[:, 2])


def write(path: Path, target: np.ndarray, features: np.ndarray) -> str:
    lines = [
        ",".join("" if np.isnan(each) else f"{each:g}" for each in row)
        for row in np.column_stack([target, features])
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def processed(job: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(job / "processed_data" / f"{part}.csv", delimiter=",", dtype=np.float32)
    return table[:, 1:], table[:, 0]


def model(job: Path) -> xgb.Booster:
    return xgb.Booster(model_file=job / "model" / "model.bst")


def label(job: Path, name: str) -> str:
    found = re.search(rf'"?{name}"?: "(.*)"', (job / "model" / "deployment_config.yaml").read_text())
    assert found is not None, name
    return found[1]


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--tree_method=exact"],
        ["--tree_method=approx", "--max_bin=32"],
        ["--booster=dart", "--rate_drop=0.2"],
        ["--booster=gblinear", "--updater=coord_descent", "--lambda=0.1"],
        ["--subsample=0.7", "--colsample_bytree=0.6", "--seed=3"],
    ],
)
def test_numbers_as_they_are_give_the_model_of_the_library(tmp_path: Path, run: Run, more: list[str]) -> None:
    features, target = numbers(1500)
    path = write(tmp_path / "train.csv", target, features)
    job = run("--objective=reg:linear", "--num_boost_round=6", f"--training_data_path={path}", *more)
    given = {name: value for name, _, value in (each.removeprefix("--").partition("=") for each in more)}
    params: dict[str, Any] = {"objective": "reg:squarederror", "base_score": 0.5, "nthread": 1, **given}
    written = np.genfromtxt(path, delimiter=",", dtype=np.float32)
    matrix = xgb.DMatrix(written[:, 1:], written[:, 0])
    alone = xgb.train(params, matrix, 6)
    for name in ("model.bst", "model.json"):
        ours = xgb.Booster(model_file=job / "model" / name)
        assert np.abs(ours.predict(matrix) - alone.predict(matrix)).max() < 1e-6


def census(path: Path, rows: int = 1200) -> str:
    rng = np.random.default_rng(1)
    lines = []
    for row in range(rows):
        age, job = rng.integers(17, 90), rng.choice(["clerk", "cook", "judge"])
        pay = rng.normal(30 + (job == "judge") * 40 + age / 3, 8)
        hours = "" if rng.random() < 0.03 else f"{rng.normal(40, 9):.1f}"
        lines.append(f"{'high' if pay > 60 else 'low'},{row},{age},{job},{hours},{rng.normal():.5f}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_preprocessed_data_give_the_model_and_metrics_of_the_library(
    tmp_path: Path, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "trainyard_algorithms")
    path = census(tmp_path / "census.csv")
    job = run(
        "--preprocess",
        "--objective=binary:logistic",
        "--eval_metric=auc,logloss",
        f"--training_data_path={path}",
    )
    train, validation = (xgb.DMatrix(*processed(job, part)) for part in ("training", "validation"))
    params = {
        "objective": "binary:logistic",
        "base_score": 0.5,
        "nthread": 1,
        "eval_metric": ["error", "auc", "logloss"],
    }
    seen: dict[str, Any] = {}
    alone = xgb.train(params, train, 10, evals=[(validation, "v")], evals_result=seen, verbose_eval=False)
    assert np.abs(model(job).predict(validation) - alone.predict(validation)).max() < 1e-6
    assert float(label(job, "auc")) == pytest.approx(seen["v"]["auc"][-1], abs=1e-6)
    assert float(label(job, "logloss")) == pytest.approx(seen["v"]["logloss"][-1], abs=1e-6)
    accuracy = float(np.mean((alone.predict(validation) > 0.5) == validation.get_label()))
    assert float(label(job, "accuracy")) == pytest.approx(100 * accuracy, abs=1e-3)
    assert label(job, "global_step") == "10"
    steps = [
        each.getMessage()
        for each in caplog.records
        if "Step" in each.getMessage() and "validation" in each.getMessage()
    ]
    assert len(steps) == 10, "a metric each round, for the tuner's early stopping"
    assert any(", test: " in each.getMessage() for each in caplog.records)
    assert json.loads((job / "artifacts" / "metadata.json").read_text())


def test_classes_by_name(tmp_path: Path, run: Run) -> None:
    from sklearn.datasets import load_iris

    features, target = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[target]
    path = tmp_path / "iris.csv"
    path.write_text("".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, features)))
    args = ["--preprocess", f"--training_data_path={path}"]
    job = run("--objective=multi:softprob", *args)  # num_class is counted
    assert float(label(job, "accuracy")) > 85
    assert 0 <= float(label(job, "merror")) < 0.15
    assert model(job).predict(xgb.DMatrix(processed(job, "test")[0])).shape[1] == 3
    with pytest.raises(
        UserError, match=r"num_class is 2, but the data have 3 classes \(setosa, versicolor, virginica\)"
    ):
        run("--objective=multi:softmax", "--num_class=2", *args)
    with pytest.raises(UserError, match="binary:\\* is for two classes, but the target has 3"):
        run("--objective=binary:logistic", *args)


def test_a_raw_margin_has_its_accuracy(tmp_path: Path, run: Run) -> None:
    features, target = numbers(600)
    path = write(tmp_path / "train.csv", (target > 0).astype(int), features)
    job = run("--objective=binary:logitraw", f"--training_data_path={path}")
    written = np.genfromtxt(path, delimiter=",", dtype=np.float32)
    right = (model(job).predict(xgb.DMatrix(written[:, 1:])) > 0) == written[:, 0]
    assert float(label(job, "accuracy")) == pytest.approx(100 * right.mean(), abs=1e-3)


def test_the_metric_that_is_tuned_is_reported(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "trainyard_algorithms")
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_TAG", "auc")
    features, target = numbers(300)
    path = write(tmp_path / "train.csv", (target > 0).astype(int), features)
    run("--objective=binary:logistic", f"--training_data_path={path}")
    assert "Step 10, training: auc" in caplog.text


def noise(tmp_path: Path) -> list[str]:
    """Data from which nothing can be learned, so the first rounds are the best."""
    rng = np.random.default_rng(2)
    train = write(tmp_path / "train.csv", rng.normal(size=200), rng.normal(size=(200, 5)))
    other = write(tmp_path / "other.csv", rng.normal(size=200), rng.normal(size=(200, 5)))
    return ["--objective=reg:linear", f"--training_data_path={train}", f"--validation_data_path={other}"]


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_early_stopping_keeps_and_reports_the_best_round(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, booster: str
) -> None:
    told: list[tuple[int, float]] = []
    monkeypatch.setattr(
        Reporter, "report", lambda self, step, found, part="validation": told.append((step, found["rmse"]))
    )
    rest = [f"--booster={booster}", "--rate_drop=0.5", "--num_boost_round=50", "--early_stopping_rounds=3"]
    job = run(*noise(tmp_path), *rest)
    rounds = model(job).num_boosted_rounds()
    assert rounds < 20
    written = np.genfromtxt(tmp_path / "other.csv", delimiter=",", dtype=np.float32)
    error = model(job).predict(xgb.DMatrix(written[:, 1:])) - written[:, 0]
    rmse = float(np.sqrt(np.mean(error**2)))
    assert float(label(job, "rmse")) == pytest.approx(rmse, abs=1e-5)
    *steps, last = (step for step, _ in told)
    assert last in (rounds + 2, rounds + 3), "the last round's own report is not sure to come"
    assert steps == [*range(1, last + 1)]
    assert told[-1][1] == pytest.approx(rmse, abs=1e-5), "what a tuner takes is of the model"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--validation_data_path="], "early_stopping_rounds needs validation data and an eval_metric"),
        (["--validation_data_path=", "--preprocess", "--validation_split=0"], "needs validation data"),
        (["--validation_data_path=v.csv", "--disable_default_eval_metric=1"], "and an eval_metric"),
        (["--validation_data_path=v.csv", "--booster=gblinear"], "does not go with booster=gblinear"),
    ],
)
def test_early_stopping_is_refused_before_anything_is_read(run: Run, more: list[str], reason: str) -> None:
    args = ["--objective=reg:linear", "--training_data_path=none.csv", "--early_stopping_rounds=3"]
    with pytest.raises(UserError, match=reason):
        run(*args, *(each for each in more if not each.endswith("=")))


@pytest.mark.parametrize("more", [[], ["--early_stopping_rounds=30"]])
def test_a_trainer_that_is_told_to_stop_has_a_model(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(failure, "stopping", lambda: asked.append(1) or len(asked) == 4)
    job = run(*noise(tmp_path), "--num_boost_round=1000", *more)
    assert len(asked) == 4
    best = model(job).num_boosted_rounds()
    assert best <= 4 if more else best == 4
    assert label(job, "rmse")


def test_sigterm_ends_the_rounds_and_the_model_is_written(tmp_path: Path) -> None:
    args = [*noise(tmp_path), "--num_boost_round=1000000", "--max_depth=1", f"--job-dir={tmp_path}/job"]
    process = subprocess.Popen(
        [sys.executable, "-m", "trainyard_algorithms.boosted_trees", *args, "--nthread=1"],
        cwd=Path(__file__).parents[1],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "Step 5," in line:
            process.terminate()
    assert process.wait(30) == -signal.SIGTERM, "it is not done"
    assert int(label(tmp_path / "job", "global_step")) == model(tmp_path / "job").num_boosted_rounds() >= 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "train.csv: there is no row"),
        ("\n\n", "train.csv: there is no row"),
        ("1\n2\n", "train.csv, row 1: there is one column"),
        ("1,2,3\n4,5\n", "train.csv, row 2: there are 2 values where the first row has 3"),
        ("y,a,b\n1,2,3\n", "row 1, column 1: 'y' is not a number. The files have no header row"),
        ("1,2,3\n\n1,2,x y\n", "row 2, column 3: 'x y' is not a number"),
        ("1,2,3\n,5,6\n", "row 2, column 1: the target is blank"),
        ("1,2,3\n1,\t,6\n", r"row 2, column 2: '\\t' is not a number"),
        ("1,2,3\n1," + 17 * " " + ",6\n", "row 2, column 2: ' +' is not a number"),
        ("1,2,3\n   ,5,6\n", "row 2, column 1: the target is blank"),
        ('1,"2,3\n1,5,6\n', r"train.csv, row 1: is a quote not closed\? \(unexpected end of data\)"),
        ('1,2,3\n1,"5,6\n' + 30000 * "0,1,2\n", r"train.csv, row 2: is a quote not closed\?"),
        ("1,2,3\n1," + 200000 * "x" + ",6\n", r"row 2, column 2: 'x+\.\.\.' is not a number"),
        ("1,2,3\n1,inf,6\n", "row 2, column 2: the value is infinite"),
        ("1,2,3\n1,1e40,6\n", "row 2, column 2: the value is infinite or too large"),
        ("1,2,3\n3,1,6\n", "two classes, but .*train.csv: there is the target 3"),
        ("1,2,3\n0.5,1,6\n", "train.csv: the target 0.5 is no class"),
    ],
)
def test_bad_data_are_named(tmp_path: Path, run: Run, text: str, reason: str) -> None:
    path = tmp_path / "train.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=reason):
        run("--objective=binary:logistic", f"--training_data_path={path}")


def test_a_quote_that_is_not_closed_is_not_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numeric_csv, "_ROW_CHARS_MAX", 1 << 20)
    path = tmp_path / "train.csv"
    path.write_text('"1,2\n' + (1 << 18) * "1,2,3\n")
    with pytest.raises(UserError, match=r"row 1: is a quote not closed\? \(the row is longer than 1 MiB\)"):
        numeric_csv.width([path])


def test_spaces_are_blanks_with_and_without_preprocessing(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text('1,  ,3\n0,"",nan\n1," ",-NaN\n')
    features = np.concatenate([each for each, _ in numeric_csv.chunks([path], 3)])
    assert np.isnan(features).tolist() == [[True, False], [True, True], [True, True]]


def test_other_bad_data(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(b"1,2\n1,\xff\xfe\n")
    with pytest.raises(UserError, match="row 2, column 2"):
        run("--objective=reg:linear", f"--training_data_path={path}")
    path.write_text("0,1\n1,2\n")
    other = tmp_path / "other.csv"
    other.write_text("2,1\n")
    args = [f"--training_data_path={path}", f"--validation_data_path={other}"]
    with pytest.raises(UserError, match="other.csv: the class 2 is in no row of the training data"):
        run("--objective=multi:softmax", *args)
    path.write_text("-1,1\n1,2\n")
    with pytest.raises(UserError, match="XGBoost refuses this: PoissonRegression: label must be nonnegative"):
        run("--objective=count:poisson", f"--training_data_path={path}")


def test_a_constant_target_and_blank_columns_are_data_too(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "train.csv"
    path.write_text("7,1,\n" * 20)
    job = run("--objective=reg:linear", "--num_boost_round=40", f"--training_data_path={path}")
    assert model(job).predict(xgb.DMatrix([[1.0, np.nan]]))[0] == pytest.approx(7, abs=1e-3)


def test_the_program_ends_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("1,2\n0,x\n")
    args = ["--objective=reg:linear", f"--training_data_path={path}", f"--job-dir={tmp_path}/job"]
    ended = subprocess.run(
        [sys.executable, "-m", "trainyard_algorithms.boosted_trees", *args],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == f"{path}, row 2, column 2: 'x' is not a number."
    assert "Traceback" not in ended.stderr
