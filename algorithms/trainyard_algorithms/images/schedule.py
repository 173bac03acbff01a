"""Learning rates and optimizers of the image trainers: pure rules."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ..failure import UserError

log = logging.getLogger(__name__)

# Where `stepwise` divides the rate by ten, as parts of max_steps. Sources: the TPU ResNet of the TensorFlow
# Model Garden (epochs 30, 60 and 80 of 90) and its RetinaNet (steps 15,000 and 20,000 of 22,500).
CLASSIFICATION_STEPS = (30 / 90, 60 / 90, 80 / 90)
DETECTION_STEPS = (15000 / 22500, 20000 / 22500)
# `exponential` as in the Model Garden's EfficientNet: times 0.97 each 2.4 epochs, in stairs.
EXPONENTIAL_RATE, EXPONENTIAL_EPOCHS = 0.97, 2.4


@dataclass(frozen=True)
class Schedule:
    """A learning rate for each step. Rates are per step; `steps_per_epoch` is only for `exponential`."""

    initial: float
    warmup: float
    warmup_steps: int
    decay: str
    max_steps: int
    steps_per_epoch: float
    steps: Sequence[float]

    def rate(self, step: int) -> float:
        """The rate of the step after `step` steps. Linear from warmup to initial first, then the decay."""
        if step < self.warmup_steps:
            return self.warmup + (self.initial - self.warmup) * step / self.warmup_steps
        if self.decay == "constant":
            return self.initial
        if self.decay == "cosine":
            whole = max(1, self.max_steps - self.warmup_steps)
            return self.initial * 0.5 * (1 + math.cos(math.pi * min(1.0, (step - self.warmup_steps) / whole)))
        if self.decay == "exponential":
            stairs = math.floor((step - self.warmup_steps) / (self.steps_per_epoch * EXPONENTIAL_EPOCHS))
            return float(self.initial * EXPONENTIAL_RATE**stairs)
        passed = sum(1 for part in self.steps if step >= part * self.max_steps)
        return float(self.initial * 0.1**passed)


OPTIMIZERS: dict[str, tuple[str, dict[str, str]]] = {
    # type: Keras' class, and argument: Keras' name for it (the Model Garden's spellings too)
    "sgd": ("SGD", {"momentum": "momentum", "nesterov": "nesterov"}),
    "momentum": ("SGD", {"momentum": "momentum", "nesterov": "nesterov", "use_nesterov": "nesterov"}),
    "adam": (
        "Adam",
        {
            "beta_1": "beta_1",
            "beta1": "beta_1",
            "beta_2": "beta_2",
            "beta2": "beta_2",
            "epsilon": "epsilon",
            "amsgrad": "amsgrad",
        },
    ),
    "rmsprop": (
        "RMSprop",
        {"rho": "rho", "decay": "rho", "momentum": "momentum", "epsilon": "epsilon", "centered": "centered"},
    ),
    "adagrad": ("Adagrad", {"initial_accumulator_value": "initial_accumulator_value", "epsilon": "epsilon"}),
    "adadelta": ("Adadelta", {"rho": "rho", "epsilon": "epsilon"}),
}
SWITCHES = ("nesterov", "amsgrad", "centered")


def optimizer_arguments(kind: str, text: str | None) -> dict[str, float | bool]:
    """`momentum=0.9,nesterov=true` for Keras' optimizer of `kind`. Raises UserError with the names it
    takes."""
    _, names = OPTIMIZERS[kind]
    result: dict[str, float | bool] = {"momentum": 0.9} if kind == "momentum" else {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in names:
            raise UserError(
                f"--optimizer_arguments: '{part.strip()}' is not NAME=VALUE with one of the names that "
                f"--optimizer_type={kind} takes: {', '.join(names)}."
            )
        result[names[name]] = switch(name, value) if names[name] in SWITCHES else number(name, value)
    return result


def switch(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false", "1", "0"):
        raise UserError(f"--optimizer_arguments: {name} is true or false, not '{value}'.")
    return value.lower() in ("true", "1")


def number(name: str, value: str) -> float:
    """A finite number from 0; below 1 for what is a share (momentum, rho, beta)."""
    try:
        result = float(value)
    except ValueError:
        raise UserError(f"--optimizer_arguments: {name} is a number, not '{value}'.") from None
    share = name.startswith(("momentum", "rho", "decay", "beta"))
    if not math.isfinite(result) or result < 0 or (share and result >= 1):
        raise UserError(
            f"--optimizer_arguments: {name}={value} is not {'in [0, 1)' if share else 'a number from 0'}."
        )
    return result


def default_rate(kind: str, batch: int, each: float) -> float:
    """The initial learning rate where none is given, for random weights: ours.

    sgd and momentum: `each` for every picture of the batch; else Keras' own rate.
    """
    if kind in ("sgd", "momentum"):
        return each * batch
    return 1.0 if kind == "adadelta" else 0.001


def initial_rate(args: SimpleNamespace, each: float) -> float:
    """--initial_learning_rate, or the default, which the log then names."""
    if args.initial_learning_rate is not None:
        return float(args.initial_learning_rate)
    rate = default_rate(args.optimizer_type, args.train_batch_size, each)
    log.info("--initial_learning_rate is not given: %g is taken for this optimizer and batch.", rate)
    return rate


def planned(args: SimpleNamespace, initial: float, images: int, steps: Sequence[float]) -> Schedule:
    """The schedule that the arguments say, for so many pictures to train with."""
    return Schedule(
        initial=initial,
        warmup=args.warmup_learning_rate,
        warmup_steps=args.warmup_steps,
        decay=args.learning_rate_decay_type,
        max_steps=args.max_steps,
        steps_per_epoch=max(1.0, images / args.train_batch_size),
        steps=steps,
    )


def optimizer(kind: str, text: str | None) -> Any:
    """Keras' optimizer; its rate is set at each step."""
    import tensorflow as tf

    return getattr(tf.keras.optimizers, OPTIMIZERS[kind][0])(**optimizer_arguments(kind, text))


def batch_norm_momentum(max_steps: int) -> float:
    """The share that moving averages keep at each step: 0.99, less in a short training so that they catch
    up."""
    return min(0.99, max(0.5, 1 - 10 / max_steps))
