"""Batch normalisation over parts of a batch (Hoffer et al., 2017), and a trainable Yeo-Johnson transform."""

from __future__ import annotations

import tensorflow as tf

EPSILON = 1e-3  # Keras' own
LAMBDA_MARGIN = 1e-3  # nearer to the formula's limit a series is used
EXPONENT_MAX = 30.0  # exp of more overflows soon after


class GhostBatchNorm(tf.Module):
    """In training each part of `virtual` rows has its own mean and variance; rows beyond the last whole part are
    normalised with that part's. Moving averages follow the mean over the parts: new = momentum * old + rest."""

    def __init__(self, width: int, virtual: int, momentum: float, name: str) -> None:
        super().__init__(name=name)
        self._virtual = virtual
        self._momentum = momentum
        self.gamma = tf.Variable(tf.ones([width]), name=f"{name}/gamma")
        self.beta = tf.Variable(tf.zeros([width]), name=f"{name}/beta")
        self.mean = tf.Variable(tf.zeros([width]), trainable=False, name=f"{name}/moving_mean")
        self.variance = tf.Variable(tf.ones([width]), trainable=False, name=f"{name}/moving_variance")

    def __call__(self, x: tf.Tensor, training: bool) -> tf.Tensor:
        if not training:
            return self._scaled(x, self.mean, self.variance)
        rows, width = tf.shape(x)[0], x.shape[1]
        virtual = tf.minimum(rows, self._virtual)
        parts = rows // virtual
        whole = tf.reshape(x[: parts * virtual], [parts, virtual, width])
        mean, variance = tf.nn.moments(whole, axes=[1], keepdims=True)
        self._follow(self.mean, tf.reduce_mean(mean, axis=[0, 1]))
        self._follow(self.variance, tf.reduce_mean(variance, axis=[0, 1]))
        normal = tf.reshape(self._scaled(whole, mean, variance), [parts * virtual, width])
        rest = self._scaled(x[parts * virtual :], mean[-1], variance[-1])
        return tf.concat([normal, rest], axis=0)

    def _scaled(self, x: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor) -> tf.Tensor:
        return (x - mean) * tf.math.rsqrt(variance + EPSILON) * self.gamma + self.beta

    def _follow(self, moving: tf.Variable, value: tf.Tensor) -> None:
        moving.assign(self._momentum * moving + (1.0 - self._momentum) * value)


class YeoJohnson(tf.Module):
    """The power transform of Yeo and Johnson (2000) with one trainable power a column, which starts at 1: no change."""

    def __init__(self, columns: int) -> None:
        super().__init__(name="yeo_johnson")
        self.power = tf.Variable(tf.ones([columns]), name="yeo_johnson/power")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.where(x >= 0, _power(x, self.power), -_power(-x, 2.0 - self.power))


def _power(x: tf.Tensor, power: tf.Tensor) -> tf.Tensor:
    """((x + 1)^power - 1) / power for x >= 0; log(x + 1) for the power 0. Finite, with finite gradients, for x < 0
    too, since tf.where computes both of its sides."""
    z = tf.math.log1p(tf.nn.relu(x))
    near = tf.abs(power) < LAMBDA_MARGIN
    safe = tf.where(near, tf.ones_like(power), power)
    far = tf.math.expm1(tf.minimum(safe * z, EXPONENT_MAX)) / safe
    return tf.where(near, z + power * z * z / 2.0, far)
