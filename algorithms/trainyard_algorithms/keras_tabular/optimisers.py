"""FTRL, Adam and SGD as the arguments name them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import tensorflow as tf

FTRL_ACCUMULATOR = 0.1  # tf.train.FtrlOptimizer's own initial value


@dataclass(frozen=True)
class Options:
    """One part's optimiser. The l1, l2 and shrinkage strengths mean something to FTRL only, the betas to
    Adam only."""

    kind: str
    learning_rate: float
    l1: float = 0.0
    l2: float = 0.0
    l2_shrinkage: float = 0.0
    beta_1: float = 0.9
    beta_2: float = 0.999


def options(args: SimpleNamespace, prefix: str = "") -> Options:
    """The options under the arguments' names, for the deep part with the prefix "dnn_"."""

    def value(name: str) -> Any:
        return getattr(args, prefix + name)

    return Options(
        kind=str(value("optimizer_type")),
        learning_rate=float(value("learning_rate")),
        l1=float(value("l1_regularization_strength")),
        l2=float(value("l2_regularization_strength")),
        l2_shrinkage=float(value("l2_shrinkage_regularization_strength")),
        beta_1=float(value("beta_1")),
        beta_2=float(value("beta_2")),
    )


def ignored(chosen: Options, prefix: str = "") -> list[str]:
    """The names of given arguments that this optimiser does not use, for the log."""
    names = []
    if chosen.kind != "ftrl":
        strengths = {"l1": chosen.l1, "l2": chosen.l2, "l2_shrinkage": chosen.l2_shrinkage}
        names += [f"{prefix}{name}_regularization_strength" for name, value in strengths.items() if value]
    if chosen.kind != "adam":
        betas = {"beta_1": (chosen.beta_1, 0.9), "beta_2": (chosen.beta_2, 0.999)}
        names += [prefix + name for name, (value, default) in betas.items() if value != default]
    return names


def build(chosen: Options) -> Any:
    """The optimiser, of Keras' `legacy` family: those have fused sparse updates, which large vocabularies
    need, and are the kernels of the TensorFlow 1 estimators."""
    family = tf.keras.optimizers.legacy
    if chosen.kind == "ftrl":
        return family.Ftrl(
            learning_rate=chosen.learning_rate,
            initial_accumulator_value=FTRL_ACCUMULATOR,
            l1_regularization_strength=chosen.l1,
            l2_regularization_strength=chosen.l2,
            l2_shrinkage_regularization_strength=chosen.l2_shrinkage,
        )
    if chosen.kind == "adam":
        return family.Adam(chosen.learning_rate, beta_1=chosen.beta_1, beta_2=chosen.beta_2)
    if chosen.kind == "sgd":
        return family.SGD(chosen.learning_rate)
    raise ValueError(f"no optimiser {chosen.kind}")


def start(optimiser: Any, variables: Sequence[tf.Variable]) -> None:
    """Makes the optimiser's slots before the first step, so that a checkpoint can fill them.

    FTRL computes weights from sums of gradients alone: its first step throws random initial weights away, and
    hidden layers whose weights are all zero never learn. So its sums start at what gives the initial weights.
    """
    optimiser._create_all_weights(list(variables))
    if not isinstance(optimiser, tf.keras.optimizers.legacy.Ftrl):
        return
    factor = -math.sqrt(FTRL_ACCUMULATOR) / float(optimiser.learning_rate)
    for variable in variables:
        optimiser.get_slot(variable, "linear").assign(factor * variable)
