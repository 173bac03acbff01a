"""TabNet (Arik and Pfister, 2021): decision steps that each look at a few features, chosen by an attention
mask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import tensorflow as tf

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular.ghost_norm import GhostBatchNorm, YeoJohnson, ghost_parts
from trainyard_algorithms.keras_tabular.job import Built, Setting
from trainyard_algorithms.keras_tabular.layers import Dense, Embeddings, Standardise
from trainyard_algorithms.keras_tabular.sparsemax import sparsemax
from trainyard_algorithms.keras_tabular.training import Group

MASK_EPSILON = 1e-5  # in the logarithm of the entropy, as in the paper's code
RESIDUAL_SCALE = math.sqrt(0.5)


@dataclass(frozen=True)
class Shape:
    """Sizes of a TabNet; `output_dim` of the `feature_dim` hidden places go to the decision, the rest to
    the mask."""

    feature_dim: int
    output_dim: int
    steps: int
    shared_layers: int
    own_layers: int
    parts: int  # of a batch, each normalised by itself
    momentum: float
    relaxation: float
    sparsity: float
    yeo_johnson: bool
    large_category_dim: int
    large_category_thresh: int


def shape(args: SimpleNamespace) -> Shape:
    """The sizes that the arguments give. `output_dim` and `virtual_batch_size` (names of the paper's code)
    go before the ratios of the later product. UserError if they cannot be."""
    output = args.output_dim or max(1, round(args.feature_dim * args.feature_dim_ratio))
    if output >= args.feature_dim:
        raise UserError(
            f"--feature_dim={args.feature_dim} must be larger than the output dimension {output}, "
            "which --output_dim or --feature_dim_ratio gives."
        )
    virtual = args.virtual_batch_size or max(1, round(args.batch_size * args.batch_size_ratio))
    if virtual > args.batch_size:
        raise UserError(f"--virtual_batch_size={virtual} is larger than --batch_size={args.batch_size}.")
    if virtual < 2:
        raise UserError("A virtual batch needs 2 rows: give a larger --batch_size or --batch_size_ratio.")
    shared = round(args.num_transformer_layers * args.num_transformer_layers_ratio)
    return Shape(
        feature_dim=args.feature_dim,
        output_dim=output,
        steps=args.num_decision_steps,
        shared_layers=shared,
        own_layers=args.num_transformer_layers - shared,
        parts=ghost_parts(args.batch_size, virtual),
        momentum=args.batch_momentum,
        relaxation=args.relaxation_factor,
        sparsity=args.sparsity_loss_weight,
        yeo_johnson=args.yeo_johnson_transform,
        large_category_dim=args.large_category_dim,
        large_category_thresh=args.large_category_thresh,
    )


class Layer(tf.Module):
    """Dense, ghost batch norm, gated linear unit, and from the second layer of a step on a residual."""

    def __init__(self, dense: Dense, shape: Shape, residual: bool, name: str) -> None:
        super().__init__(name=name)
        self.dense = dense  # shared ones belong to several layers; each layer has its own norm
        self.norm = GhostBatchNorm(2 * shape.feature_dim, shape.parts, shape.momentum, f"{name}_norm")
        self._residual = residual

    def __call__(self, x: tf.Tensor, training: bool) -> tf.Tensor:
        linear, gate = tf.split(self.norm(self.dense(x), training), 2, axis=1)
        y = linear * tf.sigmoid(gate)
        return (y + x) * RESIDUAL_SCALE if self._residual else y


class Attention(tf.Module):
    """The next step's mask, of a step's hidden part and of what earlier masks left over."""

    def __init__(self, random: np.random.Generator, shape: Shape, features: int, name: str) -> None:
        super().__init__(name=name)
        inputs = shape.feature_dim - shape.output_dim
        self.dense = Dense(random, inputs, features, f"{name}_dense", bias=False)
        self.norm = GhostBatchNorm(features, shape.parts, shape.momentum, f"{name}_norm")

    def __call__(self, hidden: tf.Tensor, left: tf.Tensor, training: bool) -> tf.Tensor:
        return sparsemax(self.norm(self.dense(hidden), training) * left)


class TabNet(tf.Module):
    def __init__(self, setting: Setting, shape: Shape) -> None:
        super().__init__(name="tab_net")
        feature, random = setting.features, setting.random
        self.columns = (len(feature.numeric), len(feature.categorical))
        self._shape = shape
        self.standardise = Standardise(setting.numeric)
        self.power = YeoJohnson(self.columns[0]) if shape.yeo_johnson and feature.numeric else None
        large = [size - 1 > shape.large_category_thresh for size in feature.sizes]
        widths = [shape.large_category_dim if each else 1 for each in large]
        self.embeddings = Embeddings(random, feature.sizes, widths) if feature.sizes else None
        # Of each input place the column it belongs to: numeric columns first, then the categorical ones.
        embedded = self.embeddings.owner if self.embeddings else np.zeros(0, np.int32)
        self.owner = np.concatenate([np.arange(self.columns[0]), self.columns[0] + embedded]).astype(np.int32)
        inputs = len(self.owner)
        self.input_norm = GhostBatchNorm(inputs, 1, shape.momentum, "input_norm")
        self.steps = self._make_steps(random, inputs)
        self.attentions = [
            Attention(random, shape, inputs, f"attention_{place}") for place in range(1, shape.steps)
        ]
        self.output = Dense(random, shape.output_dim, setting.head.width, "output")

    def _make_steps(self, random: np.random.Generator, inputs: int) -> list[list[Layer]]:
        shape, wide = self._shape, 2 * self._shape.feature_dim

        def dense(place: int, name: str) -> Dense:
            return Dense(random, inputs if place == 0 else shape.feature_dim, wide, name, bias=False)

        shared = [dense(place, f"shared_{place}") for place in range(shape.shared_layers)]
        steps = []
        for step in range(shape.steps):
            own = range(shape.shared_layers, shape.shared_layers + shape.own_layers)
            all_dense = shared + [dense(place, f"step_{step}_own_{place}") for place in own]
            steps.append(
                [
                    Layer(each, shape, place > 0, f"step_{step}_layer_{place}")
                    for place, each in enumerate(all_dense)
                ]
            )
        return steps

    def _inputs(self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool) -> tf.Tensor:
        x = self.standardise(numeric)
        if self.power is not None:
            x = self.power(x)
        if self.embeddings is not None:
            x = tf.concat([x, self.embeddings(categorical)], axis=1)
        return self.input_norm(x, training)

    def _decide(
        self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool
    ) -> tuple[tf.Tensor, list[tf.Tensor], list[tf.Tensor]]:
        """The decision [rows, output_dim], and each step's mask and contribution. The first step sees all
        features and decides nothing: it only chooses the first mask, as in the paper's code."""
        features = self._inputs(numeric, categorical, training)
        masked, left = features, tf.ones_like(features)
        decision = tf.zeros([tf.shape(features)[0], self._shape.output_dim])
        masks, shares = [], []
        for place, layers in enumerate(self.steps):
            hidden = masked
            for layer in layers:
                hidden = layer(hidden, training)
            if place > 0:
                step = tf.nn.relu(hidden[:, : self._shape.output_dim])
                decision += step
                shares.append(tf.reduce_sum(step, axis=1, keepdims=True))
            if place < len(self.attentions):
                mask = self.attentions[place](hidden[:, self._shape.output_dim :], left, training)
                left *= self._shape.relaxation - mask
                masked = mask * features
                masks.append(mask)
        return decision, masks, shares

    def __call__(
        self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        decision, masks, _ = self._decide(numeric, categorical, training)
        entropies = [tf.reduce_sum(-mask * tf.math.log(mask + MASK_EPSILON), axis=1) for mask in masks]
        penalty = self._shape.sparsity * tf.reduce_mean(tf.add_n(entropies)) / len(masks)
        return self.output(decision), penalty

    def attributions(self, numeric: tf.Tensor, categorical: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Per input place: the masks weighted by what their step gave to the decision [rows, places], and
        the masks alone [steps, rows, places]."""
        _, masks, shares = self._decide(numeric, categorical, False)
        weighted = tf.add_n([mask * share for mask, share in zip(masks, shares)])
        return weighted, tf.stack(masks)


def build(args: SimpleNamespace, setting: Setting) -> Built:
    network = TabNet(setting, shape(args))
    rate = tf.keras.optimizers.schedules.ExponentialDecay(
        args.learning_rate, decay_steps=args.decay_every, decay_rate=args.decay_rate
    )
    adam = tf.keras.optimizers.legacy.Adam(rate)
    return Built(network, [Group(adam, network.trainable_variables)], clip_norm=args.gradient_thresh)
