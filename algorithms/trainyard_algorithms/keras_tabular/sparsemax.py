"""Sparsemax (Martins and Astudillo, 2016): the point of the simplex next to z, so that many entries are
zero."""

from __future__ import annotations

import tensorflow as tf


def sparsemax(z: tf.Tensor) -> tf.Tensor:
    """Rows [n, k] -> rows that sum to 1, by sorting. The gradient through the threshold is the exact one."""
    z -= tf.reduce_max(z, axis=1, keepdims=True)  # no change of the result, less rounding
    places = tf.range(1.0, tf.cast(tf.shape(z)[1], z.dtype) + 1.0, dtype=z.dtype)
    falling = tf.sort(z, axis=1, direction="DESCENDING")
    support = tf.cast(1.0 + places * falling > tf.cumsum(falling, axis=1), z.dtype)
    size = tf.reduce_sum(support, axis=1, keepdims=True)
    threshold = (tf.reduce_sum(support * falling, axis=1, keepdims=True) - 1.0) / size
    return tf.nn.relu(z - threshold)
