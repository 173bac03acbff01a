"""Classes in the target: what num_class is checked against. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.paths import shown
from trainyard_algorithms.xgb import parameters
from trainyard_algorithms.xgb.parameters import Settings

_NAMED_MAX = 10  # labels in a message


@dataclass(frozen=True)
class Classes:
    """How many classes the data have, and what they are called."""

    count: int  #: 0: regression
    names: str = ""  #: " (a, b, c)", for messages


def of_labels(labels: Sequence[str] | None, task: str) -> Classes:
    """Of the labels that preprocessing found. UserError: more than two with a binary objective."""
    if labels is None or task not in ("binary", "multiclass"):
        return Classes(0)
    more = ", ..." if len(labels) > _NAMED_MAX else ""
    found = Classes(len(labels), f" ({', '.join(labels[:_NAMED_MAX])}{more})")
    if task == "binary" and found.count > 2:
        raise _not_binary(f"the target has {found.count} classes{found.names}")
    return found


class Seen:
    """Classes of targets that are numbers already: 0 and 1, or 0 to num_class - 1."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._highest = -1

    def add(self, target: np.ndarray, files: Sequence[Path], *, known: bool = True) -> None:
        """Looks at some rows' targets. UserError: one is no class."""
        if self._task not in ("binary", "multiclass") or not len(target):
            return
        wrong = target[(target < 0) | (target != np.floor(target))]
        name = shown(files[0]) + (", ..." if len(files) > 1 else "")
        if len(wrong):
            raise UserError(
                f"{name}: the target {wrong[0]:g} is no class; classes are whole numbers from 0. "
                "Regression has an objective of its own, such as reg:linear."
            )
        highest = int(target.max())
        if self._task == "binary" and highest > 1:
            raise _not_binary(f"{name}: there is the target {highest}")
        if not known and highest > self._highest:
            raise UserError(f"{name}: the class {highest} is in no row of the training data.")
        self._highest = max(self._highest, highest)

    def classes(self) -> Classes:
        return Classes(self._highest + 1)


def applied(settings: Settings, classes: Classes) -> Settings:
    """With num_class for the classes that there are. UserError: it is too small."""
    if settings.task != "multiclass":
        return settings
    params = parameters.with_classes(settings.params, classes.count, classes.names)
    return replace(settings, params=params)


def _not_binary(what: str) -> UserError:
    return UserError(
        f"objective binary:* is for two classes, but {what}. "
        "Use multi:softmax or multi:softprob with num_class."
    )
