"""Batch normalisation over parts of a batch (Hoffer et al., 2017), and a trainable Yeo-Johnson transform."""

from __future__ import annotations

import tensorflow as tf

EPSILON = 1e-3  # Keras' own
LAMBDA_MARGIN = 1e-3  # nearer to the formula's limit a series is used
EXPONENT_MAX = 30.0  # exp of more overflows soon after


def ghost_parts(rows: int, virtual: int) -> int:
    """How many equal parts a batch of `rows` is split into: as many as divide it with at least `virtual`
    rows each."""
    most = max(1, rows // virtual)
    return next(parts for parts in range(most, 0, -1) if rows % parts == 0)


class GhostBatchNorm(tf.Module):
    """In training each of `parts` equal parts of a batch has its own mean and variance. Row i belongs to
    part i % parts: rows come shuffled, so that any split is as good, and this one makes parts out of
    channels, so that one fused kernel does them all. Moving averages follow the mean over the parts:
    momentum * old + rest."""

    def __init__(self, width: int, parts: int, momentum: float, name: str) -> None:
        super().__init__(name=name)
        self._parts = parts
        self._width = width
        self._momentum = momentum
        self.gamma = tf.Variable(tf.ones([width]), name=f"{name}/gamma")
        self.beta = tf.Variable(tf.zeros([width]), name=f"{name}/beta")
        self.mean = tf.Variable(tf.zeros([width]), trainable=False, name=f"{name}/moving_mean")
        self.variance = tf.Variable(tf.ones([width]), trainable=False, name=f"{name}/moving_variance")

    def __call__(self, x: tf.Tensor, training: bool) -> tf.Tensor:
        """`x`: [rows, width], in training with a number of rows that `parts` divides."""
        if not training:
            scale = tf.math.rsqrt(self.variance + EPSILON) * self.gamma
            return x * scale + (self.beta - self.mean * scale)
        channels = self._parts * self._width
        normal, mean, variance = tf.compat.v1.nn.fused_batch_norm(
            tf.reshape(x, [-1, 1, 1, channels]),
            tf.tile(self.gamma, [self._parts]),
            tf.tile(self.beta, [self._parts]),
            epsilon=EPSILON,
        )
        self._follow(self.mean, mean)
        self._follow(self.variance, variance)
        return tf.reshape(normal, [-1, self._width])

    def _follow(self, moving: tf.Variable, found: tf.Tensor) -> None:
        mean = tf.reduce_mean(tf.reshape(found, [self._parts, self._width]), axis=0)
        moving.assign_sub((1.0 - self._momentum) * (moving - mean))


class YeoJohnson(tf.Module):
    """The power transform of Yeo and Johnson (2000) with one trainable power a column, which starts at 1:
    no change."""

    def __init__(self, columns: int) -> None:
        super().__init__(name="yeo_johnson")
        self.power = tf.Variable(tf.ones([columns]), name="yeo_johnson/power")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.where(x >= 0, _power(x, self.power), -_power(-x, 2.0 - self.power))


def _power(x: tf.Tensor, power: tf.Tensor) -> tf.Tensor:
    """((x + 1)^power - 1) / power for x >= 0; log(x + 1) for the power 0. Finite, with finite gradients,
    for x < 0 too, since tf.where computes both of its sides."""
    z = tf.math.log1p(tf.nn.relu(x))
    near = tf.abs(power) < LAMBDA_MARGIN
    safe = tf.where(near, tf.ones_like(power), power)
    far = tf.math.expm1(tf.minimum(safe * z, EXPONENT_MAX)) / safe
    return tf.where(near, z + power * z * z / 2.0, far)
