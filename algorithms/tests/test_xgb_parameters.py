"""XGBoost 0.81's arguments in XGBoost 2.1's words, metrics, and refusals in one line."""

import re
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from trainyard_algorithms import arguments
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.xgb import labels, metrics, parameters, refusal, training

NEEDED = ["--training_data_path=x", "--job-dir=y"]


def settings(*given: str, **more: Any) -> parameters.Settings:
    table = "xgboost_dist" if more.get("replicas", 1) > 1 else "boosted_trees"
    return parameters.settings(arguments.parse(table, [*NEEDED, *given]), table, **more)


#: Of doc/parameter.rst at 0.81.
DEFAULTS_081 = {
    "booster": "gbtree",
    "silent": 0,
    "disable_default_eval_metric": 0,
    "gamma": 0,
    "max_depth": 6,
    "min_child_weight": 1,
    "subsample": 1,
    "colsample_bytree": 1,
    "colsample_bylevel": 1,
    "alpha": 0,
    "tree_method": "auto",
    "sketch_eps": 0.03,
    "scale_pos_weight": 1,
    "refresh_leaf": 1,
    "process_type": "default",
    "grow_policy": "depthwise",
    "max_leaves": 0,
    "max_bin": 256,
    "num_parallel_tree": 1,
    "sample_type": "uniform",
    "normalize_type": "tree",
    "rate_drop": 0,
    "one_drop": 0,
    "skip_drop": 0,
    "feature_selector": "cyclic",
    "top_k": 0,
    "tweedie_variance_power": 1.5,
    "base_score": 0.5,
    "seed": 0,
    "num_boost_round": 10,
}


def test_defaults_are_those_of_081() -> None:
    found = parameters.defaults("boosted_trees")
    assert {name: found[name] for name in DEFAULTS_081} == DEFAULTS_081
    # By booster or objective, so left to the library.
    by_them = ("eta", "lambda", "max_delta_step", "updater", "nthread", "num_class")
    assert [found[name] for name in by_them] == [None] * 6


def test_what_is_not_given_is_left_to_the_library() -> None:
    assert settings("--objective=reg:linear").params == {
        "booster": "gbtree",
        "objective": "reg:squarederror",
        "base_score": 0.5,
        "verbosity": 1,
    }


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("--reg_lambda=2", {"lambda": 2}),
        ("--lambda=2", {"lambda": 2}),
        ("--reg-alpha=0.5", {"alpha": 0.5}),
        ("--learning_rate=0.1", {"eta": 0.1}),
        ("--min_split_loss=3", {"gamma": 3}),
        ("--max_delta_step=0", {"max_delta_step": 0}),
        ("--tree_method=gpu_exact", {"tree_method": "hist"}),
        ("--tree_method=gpu_hist", {"tree_method": "hist"}),
        ("--tree_method=approx", {"tree_method": "approx"}),
        ("--updater=grow_fast_histmaker,prune", {"updater": "grow_quantile_histmaker,prune"}),
        ("--updater=grow_gpu_hist", {"updater": "grow_quantile_histmaker"}),
        ("--silent=1", {"verbosity": 0}),
        ("--seed=7", {"seed": 7}),
        ("--scale_pos_weight=3", {"scale_pos_weight": 3}),
        ("--monotone_constraints=(1,0)", {"monotone_constraints": "(1,0)"}),
    ],
)
def test_arguments_that_are_passed_on(given: str, found: dict[str, Any]) -> None:
    params = settings("--objective=binary:logistic", given).params
    assert {name: params[name] for name in found} == found


@pytest.mark.parametrize("booster", ["gbtree", "dart", "gblinear"])
def test_a_learning_rate_that_is_given_is_passed_on(booster: str) -> None:
    """Also the one that another booster has by default; what is said of the defaults is what they are."""
    assert settings("--objective=reg:linear", f"--booster={booster}", "--eta=0.3").params["eta"] == 0.3
    told = next(each for each in arguments.table("boosted_trees")["arguments"] if each["name"] == "eta")
    assert "default is 0.3, with gblinear 0.5" in told["help"]
    data = xgb.DMatrix(np.eye(4), [0, 1, 0, 1])
    library = xgb.train(settings("--objective=reg:linear", f"--booster={booster}").params, data, 1)
    rates = re.findall(r'"learning_rate":"([^"]*)"', library.save_config())
    assert [float(each) for each in rates] == [pytest.approx(0.5 if booster == "gblinear" else 0.3)]


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("--sketch_eps=0.1", "sketch_eps has had no meaning since XGBoost 1.6"),
        ("--predictor=gpu_predictor", "predictor has had no meaning"),
        ("--rate_drop=0.1", "rate_drop has no effect with booster=gbtree"),
        ("--num_class=3", "num_class has no effect"),
        ("--tweedie_variance_power=1.2", "tweedie_variance_power has no effect"),
        ("--tree_method=gpu_hist", "tree_method gpu_hist is hist in XGBoost 2.1, on the CPU"),
        ("--objective=gpu:reg:linear", "is called reg:squarederror"),
    ],
)
def test_the_log_says_what_has_no_meaning_now(given: str, note: str) -> None:
    assert any(note in each for each in settings("--objective=binary:logistic", given).notes)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["--updater=grow_skmaker"], "grow_skmaker is no longer in XGBoost"),
        (["--updater=distcol"], "distcol is no longer in XGBoost"),
        (["--updater=shotgun"], "updater shotgun is not one of"),
        (["--updater=refresh"], "change a model that exists"),
        (["--process_type=update"], "change a model that exists"),
        (["--booster=gblinear", "--updater=prune"], "updater prune is not one of coord_descent"),
        (["--objective=multi:softmax", "--num_class=1"], "needs at least 2 classes"),
        (["--base_score=1"], "probability, above 0 and below 1"),
    ],
)
def test_what_is_refused(given: list[str], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        settings("--objective=binary:logistic", *given)


@pytest.mark.parametrize("given", ["--booster=gblinear", "--tree_method=exact", "--updater=grow_colmaker"])
def test_what_needs_one_replica(given: str) -> None:
    with pytest.raises(UserError, match="several replicas"):
        settings("--objective=reg:linear", given, replicas=2)


def test_gpus_are_used_where_they_are_told_to() -> None:
    chosen = settings("--objective=reg:linear", "--tree_method=gpu_hist", device="cuda", replicas=2)
    assert chosen.params["device"] == "cuda"
    assert chosen.params["tree_method"] == "hist"
    assert chosen.params["seed_per_iteration"] == 1


@pytest.mark.parametrize(
    ("given", "bins"),
    [
        ([], True),
        (["--tree_method=hist"], True),
        (["--tree_method=exact"], False),
        (["--tree_method=approx"], False),
        (["--booster=gblinear"], False),
        (["--booster=dart"], True),
        (["--updater=grow_histmaker"], False),
    ],
)
def test_what_reads_block_by_block(given: list[str], bins: bool) -> None:
    assert settings("--objective=reg:linear", *given).bins is bins


def test_metrics_by_objective_and_by_name() -> None:
    assert metrics.wanted(None, "binary:logistic", {}) == ("error", "logloss")
    assert metrics.wanted(None, "reg:squarederror", {}, "rmse") == ("mae", "rmse")
    assert metrics.wanted(None, "reg:tweedie", {"tweedie_variance_power": 1.3}) == (
        "rmse",
        "tweedie-nloglik@1.3",
    )
    assert metrics.wanted("auc, error@0.7,auc", "binary:logistic", {}) == ("auc", "error@0.7")
    assert metrics.wanted("auc", "binary:logistic", {}, "aucpr") == ("aucpr", "auc")
    assert metrics.wanted("auc", "binary:logistic", {}, "accuracy") == ("auc",)
    assert (
        metrics.reported({"tweedie-nloglik@1.3": 2.0}, ("tweedie-nloglik@1.3",), None)["tweedie-nloglik"]
        == 2.0
    )
    with pytest.raises(UserError, match="eval_metric f1 is not one of rmse"):
        metrics.parse("auc,f1")


def test_accuracy_comes_from_the_error() -> None:
    assert metrics.evaluated(("auc",), "merror") == ["merror", "auc"]
    assert metrics.evaluated(("error", "auc"), "error") == ["error", "auc"]
    assert metrics.reported({"merror": 0.25, "auc": 0.5}, ("auc",), "merror") == {
        "auc": 0.5,
        "accuracy": 0.75,
    }
    assert metrics.error_metric("binary:logitraw", "binary") == "error@0"


@pytest.mark.parametrize("name", [*metrics._PLAIN, "error@0.3", "ndcg@5", "map@3-", "tweedie-nloglik@1.5"])
def test_every_known_metric_is_one_of_the_library(name: str) -> None:
    ranking = name.startswith(("ndcg", "map", "pre"))
    name = metrics.wanted(name, "", {})[0]
    several = name in ("merror", "mlogloss")
    params: dict[str, Any] = {
        "objective": "rank:ndcg" if ranking else "multi:softmax" if several else "binary:logistic"
    }
    params |= {"num_class": 2} if several else {}
    matrix = xgb.DMatrix(np.eye(4), [0, 1, 0, 1], qid=[0, 0, 1, 1] if ranking else None)
    found: dict[str, Any] = {}
    xgb.train(
        {**params, "eval_metric": name},
        matrix,
        1,
        evals=[(matrix, "a")],
        evals_result=found,
        verbose_eval=False,
    )
    assert list(found["a"]) == [name]


def test_classes_are_counted_and_checked() -> None:
    params = {"objective": "multi:softmax"}
    assert parameters.with_classes(params, 3)["num_class"] == 3
    assert parameters.with_classes({**params, "num_class": 4}, 3)["num_class"] == 4
    with pytest.raises(UserError, match=r"num_class is 2, but the data have 3 classes \(a, b, c\)\."):
        parameters.with_classes(
            {**params, "num_class": 2}, 3, labels.of_labels(("a", "b", "c"), "multiclass").names
        )
    with pytest.raises(UserError, match="binary:\\* is for two classes, but the target has 3"):
        labels.of_labels(("a", "b", "c"), "binary")


def refused(params: dict[str, Any], target: list[int]) -> str:
    with pytest.raises(UserError) as caught, training.refusals():
        xgb.train(params, xgb.DMatrix(np.eye(3), target), 1)
    return str(caught.value)


def test_refusals_of_the_library_are_one_line() -> None:
    text = refused({"objective": "multi:softmax", "num_class": 2}, [0, 1, 2])
    assert text == "XGBoost refuses this: SoftmaxMultiClassObj: label must be in [0, num_class)."
    assert refused({"eta": -1}, [0, 1, 2]).startswith(
        "XGBoost refuses this: value -1 for Parameter learning_rate"
    )
    assert "nonnegative" in refused({"objective": "count:poisson"}, [0, 1, -2])
    error = xgb.core.XGBoostError("std::bad_alloc")
    with pytest.raises(UserError) as caught, training.refusals():
        raise error
    assert str(caught.value) == (
        "There is not enough memory for the data and the trees: use a machine type with more, or less data."
    )


def test_a_lost_replica_is_no_refusal() -> None:
    text = (
        "[05:19:13] /workspace/src/collective/result.cc:78: \n"
        "- [allreduce.cc:135|05:19:13]: Ring Allreduce failed.\n"
        "Stack trace:\n  [bt] (0) libxgboost.so"
    )
    assert refusal.is_collective(xgb.core.XGBoostError(text))
    assert not refusal.is_collective(xgb.core.XGBoostError("[05:19:13] /workspace/src/objective/x.cu:1: no"))
    with pytest.raises(xgb.core.XGBoostError), training.refusals():
        raise xgb.core.XGBoostError(text)


def test_going_on_from_a_checkpoint_gives_the_same_model() -> None:
    """But for what is sampled: the library draws once more when it begins."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 5)).astype(np.float32)
    matrix = xgb.DMatrix(features, features[:, 0] * features[:, 1])

    def trained(rounds: int, start: xgb.Booster | None = None) -> xgb.Booster:
        chosen = settings("--objective=reg:linear", f"--num_boost_round={rounds}", replicas=2)
        return training.train(chosen, matrix, [(matrix, "training")], ("rmse",), lambda *_: None, start=start)

    whole, half = trained(10), trained(10, trained(5))
    assert half.num_boosted_rounds() == 10
    assert np.abs(whole.predict(matrix) - half.predict(matrix)).max() < 1e-5
