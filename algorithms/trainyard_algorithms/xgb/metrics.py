"""Evaluation metrics by XGBoost's names. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trainyard_algorithms.failure import UserError

#: Of XGBoost 0.81, and those that came until 2.1.
_PLAIN = [
    "rmse",
    "rmsle",
    "mae",
    "mape",
    "mphe",
    "logloss",
    "error",
    "merror",
    "mlogloss",
    "auc",
    "aucpr",
    "pre",
    "ndcg",
    "map",
    "ndcg-",
    "map-",
    "poisson-nloglik",
    "gamma-nloglik",
    "cox-nloglik",
    "gamma-deviance",
    "tweedie-nloglik",
]
_WITH_NUMBER = re.compile(r"(error|tweedie-nloglik)@\d+(\.\d+)?|(pre|ndcg|map)@\d+-?")
_TWEEDIE = "tweedie-nloglik"  #: the library wants the power with it
#: Where XGBoost 0.81 and 2.1 have different defaults, both.
_DEFAULTS = {
    "binary:logistic": ("error", "logloss"),
    "binary:logitraw": ("error", "logloss"),
    "binary:hinge": ("error",),
    "multi:softmax": ("merror", "mlogloss"),
    "multi:softprob": ("merror", "mlogloss"),
    "count:poisson": ("rmse", "poisson-nloglik"),
    "reg:gamma": ("rmse", "gamma-nloglik"),
    "survival:cox": ("cox-nloglik",),
    "reg:tweedie": ("rmse", _TWEEDIE),
    "rank:pairwise": ("map", "ndcg"),
    "rank:ndcg": ("ndcg",),
    "rank:map": ("map",),
}


def known(name: str) -> bool:
    """Whether XGBoost has a metric of this name."""
    return name in _PLAIN or _WITH_NUMBER.fullmatch(name) is not None


def parse(text: str | None) -> tuple[str, ...]:
    """The names in eval_metric, in order, each once. UserError: an unknown one."""
    names = tuple(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))
    for name in names:
        if not known(name):
            raise UserError(
                f"eval_metric {name} is not one of {', '.join(_PLAIN)}, "
                "error@T, ndcg@N, map@N, tweedie-nloglik@P."
            )
    return names


def wanted(text: str | None, objective: str, params: Mapping[str, object], tag: str = "") -> tuple[str, ...]:
    """What to evaluate: eval_metric's names, else the objective's own.

    tag: hyperparameterMetricTag; if it is a metric that is not among them, it comes first. The last one is
    what early stopping looks at.
    """
    names = parse(text) or _DEFAULTS.get(objective, ("mae", "rmse"))
    if tag and tag not in names and known(tag):
        names = (tag, *names)
    power = params.get("tweedie_variance_power", 1.5)
    return tuple(f"{_TWEEDIE}@{power:g}" if name == _TWEEDIE else name for name in names)


def error_metric(objective: str, task: str) -> str | None:
    """The metric that is 1 - accuracy; None where accuracy means nothing."""
    if task == "multiclass":
        return "merror"
    if task != "binary":
        return None
    return "error@0" if objective == "binary:logitraw" else "error"


def evaluated(names: Sequence[str], error: str | None) -> list[str]:
    """What XGBoost is asked for: `names`, and before them what accuracy comes from."""
    return [*([error] if error and error not in names else []), *names]


def reported(values: Mapping[str, float], names: Sequence[str], error: str | None) -> dict[str, float]:
    """The metrics of one evaluation as they are reported: those of `names`, and accuracy in [0, 1]."""
    found = {name: values[name] for name in names if name in values}
    for name in tuple(found):
        if name.startswith(f"{_TWEEDIE}@"):
            found[_TWEEDIE] = values[name]
    if error and error in values:
        found["accuracy"] = 1.0 - values[error]
    return found
