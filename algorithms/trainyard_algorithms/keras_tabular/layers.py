"""Parts of networks as plain modules of variables, so that a SavedModel needs none of this code to load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from trainyard_algorithms.keras_tabular.features import Statistics


def glorot(random: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """Uniform start values by Glorot and Bengio (2010), from numpy so that they are the same on each
    device."""
    bound = float(np.sqrt(6.0 / max(inputs + outputs, 1)))
    return random.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)


class Standardise(tf.Module):
    """(x - mean) / deviation with the training part's statistics, which are stored in the model."""

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(name="standardise")
        self.mean = tf.Variable(statistics.mean.astype(np.float32), trainable=False, name="mean")
        scale = (1.0 / statistics.deviation).astype(np.float32)
        self.scale = tf.Variable(scale, trainable=False, name="scale")

    def __call__(self, numeric: tf.Tensor) -> tf.Tensor:
        return (numeric - self.mean) * self.scale


class Dense(tf.Module):
    def __init__(
        self, random: np.random.Generator, inputs: int, outputs: int, name: str, bias: bool = True
    ) -> None:
        super().__init__(name=name)
        self.kernel = tf.Variable(glorot(random, inputs, outputs), name=f"{name}/kernel")
        self.bias = tf.Variable(tf.zeros([outputs]), name=f"{name}/bias") if bias else None

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        y = tf.matmul(x, self.kernel)
        return y if self.bias is None else y + self.bias


def offsets(sizes: Sequence[int]) -> np.ndarray:
    """Where each column's ids begin in one table of all columns."""
    return (
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32) if len(sizes) else np.zeros(0, np.int32)
    )


class OneHotLinear(tf.Module):
    """One weight per category and output, from zero; all columns share one table, so thousands of them are
    cheap."""

    def __init__(self, sizes: Sequence[int], outputs: int) -> None:
        super().__init__(name="one_hot_linear")
        self.offsets = offsets(sizes)
        self.weights = tf.Variable(tf.zeros([int(sum(sizes)), outputs]), name="one_hot_linear/weights")

    def __call__(self, categorical: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.gather(self.weights, categorical + self.offsets), axis=1)


class Embeddings(tf.Module):
    """An embedding per column; columns of the same width share a table. Blank and unknown start at zero."""

    def __init__(self, random: np.random.Generator, sizes: Sequence[int], widths: Sequence[int]) -> None:
        super().__init__(name="embeddings")
        groups, begins, tables = [], [], []
        for width in sorted(set(widths)):
            members = [place for place, each in enumerate(widths) if each == width]
            begin = offsets([sizes[place] for place in members])
            rows = sum(sizes[place] for place in members)
            table = np.clip(random.standard_normal((rows, width)), -2, 2) / np.sqrt(width)
            table[begin] = 0.0
            groups.append(np.asarray(members, dtype=np.int32))
            begins.append(begin)
            tables.append(tf.Variable(table.astype(np.float32), name=f"embeddings/width_{width}"))
        self._groups = tuple(groups)
        self._begins = tuple(begins)
        self.tables = tables
        self.width = int(sum(widths))
        # Of each output place the column it belongs to, in the order in which __call__ joins the tables.
        self.owner = np.concatenate(
            [np.repeat(group, table.shape[1]) for group, table in zip(groups, tables)]
        )

    def __call__(self, categorical: tf.Tensor) -> tf.Tensor:
        parts = []
        for group, begin, table in zip(self._groups, self._begins, self.tables):
            ids = tf.gather(categorical, group, axis=1) + begin
            parts.append(tf.reshape(tf.gather(table, ids), [-1, len(group) * table.shape[1]]))
        return tf.concat(parts, axis=1)
