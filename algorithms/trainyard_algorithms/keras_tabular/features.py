"""What a network must know of its columns: how many, how large, and the training part's mean and spread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trainyard_algorithms.failure import leave_if_told
from trainyard_algorithms.tabular.batches import Batch
from trainyard_algorithms.tabular.prepare import Column, Table


@dataclass(frozen=True)
class Features:
    numeric: tuple[Column, ...]
    categorical: tuple[Column, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of each categorical column the number of ids: 0 stands for blank or unknown."""
        return tuple(1 + (column.buckets or len(column.vocabulary)) for column in self.categorical)


def features(table: Table) -> Features:
    """The columns in the order of a batch's arrays."""
    return Features(
        numeric=tuple(column for column in table.columns if column.kind == "numeric"),
        categorical=tuple(column for column in table.columns if column.kind == "categorical"),
    )


@dataclass(frozen=True)
class Statistics:
    """Mean and standard deviation, float64 [columns]. A constant column has the deviation 1."""

    mean: np.ndarray
    deviation: np.ndarray


def _deviation(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    deviation = np.sqrt(variance)
    # Below this a spread is rounding of float32, not information.
    return np.where(deviation > 1e-7 * np.abs(mean), deviation, 1.0)


class Running:
    """Mean and variance of rows that come in batches, without cancellation (Chan, Golub and LeVeque,
    1979)."""

    def __init__(self, columns: int) -> None:
        self._rows = 0
        self._mean = np.zeros(columns)
        self._squares = np.zeros(columns)

    def add(self, values: np.ndarray) -> None:
        rows = len(values)
        if rows == 0:
            return
        values = values.astype(np.float64)
        mean = values.mean(axis=0)
        total = self._rows + rows
        delta = mean - self._mean
        self._squares += ((values - mean) ** 2).sum(axis=0) + delta**2 * (self._rows * rows / total)
        self._mean = self._mean + delta * (rows / total)
        self._rows = total

    def statistics(self) -> Statistics:
        return Statistics(self._mean, _deviation(self._mean, self._squares / max(self._rows, 1)))


def measure(batches: Iterable[Batch], columns: int) -> tuple[Statistics, Statistics]:
    """Statistics of the numeric columns and of the target (of no use where the target is a class)."""
    numeric, target = Running(columns), Running(1)
    for batch in batches:
        leave_if_told()
        numeric.add(batch.numeric)
        target.add(batch.target.reshape(-1, 1))
    return numeric.statistics(), target.statistics()
