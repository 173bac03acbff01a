"""From a network's raw output to losses and to what a prediction says."""

from __future__ import annotations

import math
from typing import Protocol

import tensorflow as tf


class Head(Protocol):
    @property
    def width(self) -> int: ...  # of the raw output

    def row_losses(self, raw: tf.Tensor, target: tf.Tensor) -> tf.Tensor: ...  # float32 [rows]

    def average(self, row_losses: tf.Tensor) -> tf.Tensor: ...  # scalar: what training minimises

    def outcome(self, raw: tf.Tensor) -> tf.Tensor: ...  # probabilities [rows, classes], or values [rows]

    def report(self, mean_row_loss: float) -> float: ...  # the reported loss, of the mean of the row losses


class ClassHead:
    """Classes: one logit for two classes, else one per class.

    `loss`: cross_entropy, weighted_cross_entropy (rows of the second class count `class_weight` times; two
    classes only) or focal_loss (Lin et al., 2017; with two classes the second has the weight alpha, the first
    1 - alpha).
    """

    def __init__(
        self,
        classes: int,
        loss: str = "cross_entropy",
        class_weight: float = 1.0,
        alpha: float = 0.25,
        gamma: float = 2.0,
    ) -> None:
        self.classes = classes
        self.width = 1 if classes == 2 else classes
        self._loss = loss
        self._class_weight = class_weight
        self._alpha = alpha
        self._gamma = gamma

    def row_losses(self, raw: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        if self.width == 1:
            return self._binary(raw[:, 0], tf.cast(target, tf.float32))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(target, tf.int32), logits=raw)
        return self._alpha * self._doubt(losses) * losses if self._loss == "focal_loss" else losses

    def _doubt(self, losses: tf.Tensor) -> tf.Tensor:
        """(1 - p)^gamma with p the right class's probability; kept from zero, where a small gamma has no
        gradient."""
        return tf.maximum(1.0 - tf.exp(-losses), 1e-7) ** self._gamma

    def _binary(self, logit: tf.Tensor, positive: tf.Tensor) -> tf.Tensor:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=positive, logits=logit)
        if self._loss == "weighted_cross_entropy":
            return losses * (1.0 + (self._class_weight - 1.0) * positive)
        if self._loss == "focal_loss":
            alpha = positive * self._alpha + (1.0 - positive) * (1.0 - self._alpha)
            return alpha * self._doubt(losses) * losses
        return losses

    def average(self, row_losses: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(row_losses)

    def outcome(self, raw: tf.Tensor) -> tf.Tensor:
        if self.width == 1:
            return tf.concat([tf.sigmoid(-raw), tf.sigmoid(raw)], axis=1)
        return tf.nn.softmax(raw)

    def report(self, mean_row_loss: float) -> float:
        return mean_row_loss


class ValueHead:
    """A number, learnt as (target - mean) / deviation of the training part and given back in the target's
    unit.

    `loss`: mse, mae or rmse. Row losses are in the target's unit (or its square); training divides by the
    deviation, so that a learning rate means the same whatever the unit.
    """

    width = 1

    def __init__(self, mean: float, deviation: float, loss: str = "mse") -> None:
        self._mean = mean
        self._deviation = deviation
        self._loss = loss

    def row_losses(self, raw: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        error = self.outcome(raw) - tf.cast(target, tf.float32)
        return tf.abs(error) if self._loss == "mae" else tf.square(error)

    def average(self, row_losses: tf.Tensor) -> tf.Tensor:
        mean = tf.reduce_mean(row_losses)
        if self._loss == "mae":
            return mean / self._deviation
        scaled = mean / self._deviation**2
        return tf.sqrt(scaled + 1e-12) if self._loss == "rmse" else scaled

    def outcome(self, raw: tf.Tensor) -> tf.Tensor:
        return raw[:, 0] * self._deviation + self._mean

    def report(self, mean_row_loss: float) -> float:
        """The loss in the target's unit."""
        return math.sqrt(mean_row_loss) if self._loss == "rmse" else mean_row_loss
