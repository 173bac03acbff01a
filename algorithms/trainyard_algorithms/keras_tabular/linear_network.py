"""The linear model: standardised numbers and one-hot categories, weights from zero."""

from __future__ import annotations

from types import SimpleNamespace

import tensorflow as tf

from trainyard_algorithms.keras_tabular import optimisers
from trainyard_algorithms.keras_tabular.job import Built, Setting
from trainyard_algorithms.keras_tabular.layers import OneHotLinear, Standardise
from trainyard_algorithms.keras_tabular.training import Group


class LinearNetwork(tf.Module):
    def __init__(self, setting: Setting) -> None:
        super().__init__(name="linear")
        feature, width = setting.features, setting.head.width
        self.columns = (len(feature.numeric), len(feature.categorical))
        self.standardise = Standardise(setting.numeric)
        self.kernel = tf.Variable(tf.zeros([self.columns[0], width]), name="linear/kernel")
        self.categories = OneHotLinear(feature.sizes, width) if feature.sizes else None
        self.bias = tf.Variable(tf.zeros([width]), name="linear/bias")

    def __call__(
        self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        raw = tf.matmul(self.standardise(numeric), self.kernel) + self.bias
        if self.categories is not None:
            raw += self.categories(categorical)
        return raw, tf.constant(0.0)


def build(args: SimpleNamespace, setting: Setting) -> Built:
    network = LinearNetwork(setting)
    chosen = optimisers.options(args)
    setting.warn_ignored(optimisers.ignored(chosen), chosen.kind)
    return Built(network, [Group(optimisers.build(chosen), network.trainable_variables)])
