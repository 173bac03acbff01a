"""Metrics of a part, under the tags that a tuner names (spec: the successor's list)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import rankdata

# Probabilities held for the area under the curve; rows beyond them do not count for it.
SCORES_KEPT = 50_000_000


def area_under_curve(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """The area under the ROC curve by ranks, ties counted half; none if one of the two classes has no row."""
    ones = int(positive.sum())
    zeros = len(positive) - ones
    if ones == 0 or zeros == 0:
        return None
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))


class ClassMetrics:
    """accuracy, auc, precision, recall. With two classes those of the second; with more, the mean over the
    classes that have rows, each class against the rest."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._confusion = np.zeros((classes, classes), dtype=np.int64)
        self._scores: list[np.ndarray] = []
        self._targets: list[np.ndarray] = []
        self._kept = 0

    def add(self, outcome: np.ndarray, target: np.ndarray) -> None:
        """`outcome`: probabilities [rows, classes]; `target`: class numbers [rows]."""
        pairs = target.astype(np.int64) * self._classes + outcome.argmax(axis=1)
        counts = np.bincount(pairs, minlength=self._classes**2)
        self._confusion += counts.reshape(self._classes, self._classes)
        if self._kept < SCORES_KEPT:
            scores = outcome[:, 1:] if self._classes == 2 else outcome
            self._scores.append(scores.astype(np.float32))
            self._targets.append(target.astype(np.int32))
            self._kept += scores.size

    def _areas(self, classes: Iterable[int]) -> list[float]:
        scores, targets = np.concatenate(self._scores), np.concatenate(self._targets)
        first = 1 if self._classes == 2 else 0
        areas = (area_under_curve(targets == each, scores[:, each - first]) for each in classes)
        return [area for area in areas if area is not None]

    def metrics(self) -> dict[str, float]:
        hits = np.diag(self._confusion)
        actual, guessed = self._confusion.sum(axis=1), self._confusion.sum(axis=0)
        classes = [1] if self._classes == 2 else [each for each in range(self._classes) if actual[each]]
        found = {
            "accuracy": float(hits.sum() / max(actual.sum(), 1)),
            "precision": float(np.mean([hits[each] / max(guessed[each], 1) for each in classes])),
            "recall": float(np.mean([hits[each] / max(actual[each], 1) for each in classes])),
        }
        areas = self._areas(classes)
        if areas:
            found["auc"] = float(np.mean(areas))
        return found


class ValueMetrics:
    """rmse, mae, mql, in the target's unit. mql is the mean quantile (pinball) loss of the median: half of
    mae."""

    def __init__(self) -> None:
        self._rows = 0
        self._squares = 0.0
        self._absolute = 0.0

    def add(self, outcome: np.ndarray, target: np.ndarray) -> None:
        error = outcome.astype(np.float64) - target.astype(np.float64)
        self._rows += len(error)
        self._squares += float(np.square(error).sum())
        self._absolute += float(np.abs(error).sum())

    def metrics(self) -> dict[str, float]:
        rows = max(self._rows, 1)
        absolute = self._absolute / rows
        return {"rmse": float(np.sqrt(self._squares / rows)), "mae": absolute, "mql": absolute / 2}
