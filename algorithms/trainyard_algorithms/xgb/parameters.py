"""Arguments in the words of XGBoost 0.81 to what XGBoost 2.1 takes.

Source of names and defaults: XGBoost's doc/parameter.rst at 0.81; of what is gone since: the library's
release notes. Pure: no file but the algorithm's table is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from trainyard_algorithms import arguments
from trainyard_algorithms.failure import UserError

_TREE = [
    "eta",
    "gamma",
    "max_depth",
    "min_child_weight",
    "max_delta_step",
    "subsample",
    "colsample_bytree",
    "colsample_bylevel",
    "colsample_bynode",
    "lambda",
    "alpha",
    "tree_method",
    "updater",
    "refresh_leaf",
    "process_type",
    "grow_policy",
    "max_leaves",
    "max_bin",
    "num_parallel_tree",
    "monotone_constraints",
    "interaction_constraints",
]
_DART = [*_TREE, *["sample_type", "normalize_type", "rate_drop", "one_drop", "skip_drop"]]
_LINEAR = ["eta", "lambda", "alpha", "updater", "feature_selector", "top_k"]
_OF_BOOSTER = {"gbtree": _TREE, "dart": _DART, "gblinear": _LINEAR}
#: Of some booster: those of another one are left out, and the log says so.
_OF_SOME_BOOSTER = frozenset((*_DART, *_LINEAR))

_OBJECTIVES = {
    "reg:linear": "reg:squarederror",
    "gpu:reg:linear": "reg:squarederror",
    "gpu:reg:logistic": "reg:logistic",
    "gpu:binary:logistic": "binary:logistic",
    "gpu:binary:logitraw": "binary:logitraw",
}
_TREE_METHODS = {"gpu_exact": "hist", "gpu_hist": "hist"}

_TREE_UPDATERS = frozenset(
    [
        "grow_colmaker",
        "grow_histmaker",
        "grow_quantile_histmaker",
        "grow_gpu_hist",
        "grow_gpu_approx",
        "sync",
        "refresh",
        "prune",
    ]
)
_LINEAR_UPDATERS = frozenset(("shotgun", "coord_descent", "gpu_coord_descent"))
_RENAMED_UPDATERS = {"grow_fast_histmaker": "grow_quantile_histmaker", "grow_gpu": "grow_gpu_hist"}
_CPU_UPDATERS = {
    "grow_gpu_hist": "grow_quantile_histmaker",
    "grow_gpu_approx": "grow_histmaker",
    "gpu_coord_descent": "coord_descent",
}
_REMOVED_UPDATERS = frozenset(("distcol", "grow_local_histmaker", "grow_skmaker"))
#: Updaters that make no tree: process_type=update is for them alone.
_CHANGING_UPDATERS = frozenset(("sync", "refresh", "prune"))

_NO_MEANING = {
    "sketch_eps": "sketch_eps has had no meaning since XGBoost 1.6; max_bin sets how fine the bins are",
    "predictor": "predictor has had no meaning since XGBoost 2.0; predictions run where the training does",
}


@dataclass(frozen=True)
class Settings:
    """What `xgboost.train` gets, and what the log says about it."""

    params: dict[str, Any]  #: without eval_metric
    objective: str  #: in XGBoost 2.1's words
    task: str  #: "regression", "binary", "multiclass" or "ranking"
    rounds: int
    notes: tuple[str, ...]  #: sentences for the log

    @property
    def booster(self) -> str:
        return str(self.params["booster"])

    @property
    def bins(self) -> bool:
        """Whether the data can be read into bins (QuantileDMatrix), which takes a byte or two a value."""
        if self.booster == "gblinear":
            return False
        updaters = str(self.params.get("updater", "")).split(",")
        if updaters != [""]:
            return all(
                name in ("grow_quantile_histmaker", "grow_gpu_hist", "prune", "sync") for name in updaters
            )
        return self.params.get("tree_method", "auto") in ("auto", "hist")


@cache
def defaults(table: str) -> dict[str, Any]:
    """Arguments of tables/`table`.json and their defaults; None: none."""
    return {each["name"]: each.get("default") for each in arguments.table(table)["arguments"]}


def task_of(objective: str) -> str:
    """What an objective (in XGBoost 2.1's words) learns."""
    if objective.startswith("multi:"):
        return "multiclass"
    if objective.startswith("binary:"):
        return "binary"
    return "ranking" if objective.startswith("rank:") else "regression"


def settings(args: SimpleNamespace, table: str, *, device: str = "cpu", replicas: int = 1) -> Settings:
    """What the arguments mean for XGBoost 2.1.

    device: "cpu", or "cuda" where every replica has a GPU. UserError: a value that XGBoost no longer has, or
    that does not go with another, with the reason.
    """
    objective = _OBJECTIVES.get(args.objective, args.objective)
    booster = args.booster
    notes = [text for name, text in _NO_MEANING.items() if _given(args, table, name)]
    if objective != args.objective:
        notes.append(f"objective {args.objective} is called {objective} in XGBoost 2.1")
    notes += [
        f"{name} has no effect with booster={booster}"
        for name in sorted(_OF_SOME_BOOSTER - set(_OF_BOOSTER[booster]))
        if _given(args, table, name)
    ]
    params: dict[str, Any] = {"booster": booster, "objective": objective, "base_score": args.base_score}
    params["verbosity"] = 0 if args.silent else 1
    for name in (*_OF_BOOSTER[booster], "seed", "seed_per_iteration", "nthread"):
        if _given(args, table, name):
            params[name] = getattr(args, name)
    _set_task(params, args, table, objective, notes)
    if booster == "gblinear":
        device = "cpu"
    _set_method(params, device, notes)
    _set_updaters(params, device, notes)
    if device == "cuda":
        params["device"] = "cuda"
    if replicas > 1:
        _check_distributed(params)
        params["seed_per_iteration"] = (
            1  # a round samples the same rows whether it is the first after a restart or not
        )
    return Settings(params, objective, task_of(objective), int(args.num_boost_round), tuple(notes))


def with_classes(params: dict[str, Any], labels: int, names: str = "") -> dict[str, Any]:
    """`params` with num_class, checked against the `labels` classes that the data have.

    UserError: num_class is less than that. `names`: of the labels, for the message.
    """
    wanted = params.get("num_class")
    if wanted is not None and wanted < labels:
        raise UserError(f"num_class is {wanted}, but the data have {labels} classes{names}.")
    return {**params, "num_class": max(int(wanted or labels), 1)}


def _given(args: SimpleNamespace, table: str, name: str) -> bool:
    value = getattr(args, name, None)
    return value is not None and value != defaults(table).get(name)


def _set_task(
    params: dict[str, Any], args: SimpleNamespace, table: str, objective: str, notes: list[str]
) -> None:
    task = task_of(objective)
    if args.num_class is not None:
        if task != "multiclass":
            notes.append(f"num_class has no effect with objective={objective}")
        elif args.num_class < 2:
            raise UserError(f"num_class is {args.num_class}; objective={objective} needs at least 2 classes.")
        else:
            params["num_class"] = args.num_class
    if _given(args, table, "scale_pos_weight"):
        if task == "binary" or objective == "reg:logistic":
            params["scale_pos_weight"] = args.scale_pos_weight
        else:
            notes.append(f"scale_pos_weight has no effect with objective={objective}")
    if objective == "reg:tweedie":
        params["tweedie_variance_power"] = args.tweedie_variance_power
    elif _given(args, table, "tweedie_variance_power"):
        notes.append(f"tweedie_variance_power has no effect with objective={objective}")
    if objective.startswith(("binary:", "reg:logistic")) and not 0 < args.base_score < 1:
        raise UserError(
            f"base_score is {args.base_score}; with objective={objective} it is a probability, "
            "above 0 and below 1."
        )


def _set_method(params: dict[str, Any], device: str, notes: list[str]) -> None:
    method = params.get("tree_method")
    if method not in _TREE_METHODS:
        return
    params["tree_method"] = _TREE_METHODS[method]
    where = "on the GPU" if device == "cuda" else "on the CPU, as no GPU is used"
    notes.append(f"tree_method {method} is hist in XGBoost 2.1, {where}")


def _set_updaters(params: dict[str, Any], device: str, notes: list[str]) -> None:
    if "updater" in params:
        known = _LINEAR_UPDATERS if params["booster"] == "gblinear" else _TREE_UPDATERS
        names = [name.strip() for name in str(params["updater"]).split(",")]
        params["updater"] = ",".join(_updater(name, known, device, notes) for name in names)
    changing = set(str(params.get("updater", "")).split(",")) <= _CHANGING_UPDATERS
    if params.get("process_type") == "update" or ("updater" in params and changing):
        raise UserError(
            "process_type=update and updaters that make no tree (refresh, prune, sync) change a model that "
            "exists already, and no argument names one: leave them out."
        )


def _updater(name: str, known: frozenset[str], device: str, notes: list[str]) -> str:
    if name in _REMOVED_UPDATERS:
        raise UserError(
            f"updater {name} is no longer in XGBoost: leave updater out and use tree_method=hist or approx."
        )
    new = _RENAMED_UPDATERS.get(name, name)
    if device == "cpu":
        new = _CPU_UPDATERS.get(new, new)
    if new not in known:
        raise UserError(f"updater {name} is not one of {', '.join(sorted(known))}.")
    if new != name:
        notes.append(f"updater {name} is {new} here")
    return new


def _check_distributed(params: dict[str, Any]) -> None:
    if params["booster"] == "gblinear":
        raise UserError(
            "booster=gblinear does not train on several replicas: use gbtree or dart, or one replica."
        )
    if params.get("tree_method") == "exact" or "grow_colmaker" in str(params.get("updater", "")):
        raise UserError(
            "tree_method=exact does not train on several replicas: use hist or approx, or one replica."
        )
