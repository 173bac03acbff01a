"""Wide & deep (Cheng et al., 2016): a linear model of the categories beside a multi-layer network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace

import tensorflow as tf

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import optimisers
from trainyard_algorithms.keras_tabular.job import Built, Setting
from trainyard_algorithms.keras_tabular.layers import Dense, Embeddings, OneHotLinear, Standardise
from trainyard_algorithms.keras_tabular.training import Group


def embedding_width(size: int) -> int:
    """The square root of the number of categories (source: the successor's documentation of
    embed_categories)."""
    return max(1, round(math.sqrt(size)))


class WideDeepNetwork(tf.Module):
    def __init__(
        self, setting: Setting, hidden: Sequence[int], dropout: float, seed: int, wide: bool, embed: bool
    ) -> None:
        super().__init__(name="wide_deep")
        feature, outputs = setting.features, setting.head.width
        self.columns = (len(feature.numeric), len(feature.categorical))
        self._dropout = dropout
        self._seed = seed
        self.standardise = Standardise(setting.numeric)
        self.wide = OneHotLinear(feature.sizes, outputs) if wide and feature.sizes else None
        self.bias = tf.Variable(tf.zeros([outputs]), name="wide/bias")
        self.embeddings = None
        if embed and feature.sizes:
            widths = [embedding_width(size) for size in feature.sizes]
            self.embeddings = Embeddings(setting.random, feature.sizes, widths)
        inputs = self.columns[0] + (self.embeddings.width if self.embeddings else 0)
        self.hidden: list[Dense] = []
        for place, units in enumerate(hidden if inputs else ()):
            self.hidden.append(Dense(setting.random, inputs, units, f"hidden_{place}"))
            inputs = units
        self.output = Dense(setting.random, inputs, outputs, "output") if inputs else None

    def __call__(
        self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        raw = tf.broadcast_to(self.bias, [tf.shape(numeric)[0], self.bias.shape[0]])
        if self.wide is not None:
            raw += self.wide(categorical)
        if self.output is not None:
            raw += self._deep(numeric, categorical, training, step)
        return raw, tf.constant(0.0)

    def _deep(self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool, step: tf.Tensor) -> tf.Tensor:
        x = self.standardise(numeric)
        if self.embeddings is not None:
            x = tf.concat([x, self.embeddings(categorical)], axis=1)
        for place, layer in enumerate(self.hidden):
            x = tf.nn.relu(layer(x))
            if training and self._dropout > 0:
                seed = tf.stack([self._seed * 1000 + place, tf.cast(step, tf.int32)])
                x = tf.nn.experimental.stateless_dropout(x, self._dropout, seed)
        assert self.output is not None
        return self.output(x)

    @property
    def linear_variables(self) -> list[tf.Variable]:
        return [self.bias] + ([self.wide.weights] if self.wide is not None else [])

    @property
    def deep_variables(self) -> list[tf.Variable]:
        linear = {variable.ref() for variable in self.linear_variables}
        return [variable for variable in self.trainable_variables if variable.ref() not in linear]


def parts(use_wide: bool, embed_categories: bool) -> tuple[bool, bool]:
    """Where categories go. Users of the original name what they want; naming neither means both, so that
    no column is lost (source: ours)."""
    return (use_wide, embed_categories) if use_wide or embed_categories else (True, True)


def build(args: SimpleNamespace, setting: Setting) -> Built:
    wide, embed = parts(args.use_wide, args.embed_categories)
    hidden = list(args.hidden_units)
    if min(hidden, default=1) < 1:
        raise UserError(f"--hidden_units={','.join(map(str, hidden))}: each layer needs at least 1 unit.")
    network = WideDeepNetwork(setting, hidden, args.dnn_dropout, args.seed, wide, embed)
    linear, deep = optimisers.options(args), optimisers.options(args, "dnn_")
    setting.warn_ignored(optimisers.ignored(linear), linear.kind)
    setting.warn_ignored(optimisers.ignored(deep, "dnn_"), deep.kind)
    return Built(
        network,
        [
            Group(optimisers.build(linear), network.linear_variables),
            Group(optimisers.build(deep), network.deep_variables),
        ],
    )
