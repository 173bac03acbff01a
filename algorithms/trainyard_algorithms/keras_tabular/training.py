"""The training loop: steps, evaluations, checkpoints."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import tensorflow as tf

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.keras_tabular import optimisers
from trainyard_algorithms.keras_tabular.heads import Head
from trainyard_algorithms.tabular.batches import Batch

LOG = logging.getLogger(__name__)

# Shares of a run after which it is evaluated, beside the evaluations by time: a tuner's early stopping has
# values to judge, and a small table is learnt early.
EVALUATED_AT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
EVALUATIONS_BY_TIME = 10  # at least, where a run ends by time
STEPS_A_LOOK = 100  # between two looks at the loss: each waits for the device


class Network(Protocol):
    """A tf.Module. `training` is a Python bool; the penalty is what the network adds to the loss."""

    columns: tuple[int, int]  # numeric, categorical

    def __call__(
        self, numeric: tf.Tensor, categorical: tf.Tensor, training: bool, step: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]: ...


@dataclass
class Group:
    """Variables that one optimiser moves."""

    optimiser: Any
    variables: Sequence[tf.Variable]


@dataclass(frozen=True)
class Plan:
    """How long: steps in all, seconds at most (none: no limit), seconds between evaluations, rows a batch."""

    steps: int
    batch_rows: int
    seconds: float | None
    evaluation_seconds: float
    evaluation_batches: int  # 0: the whole part
    seed: int

    @property
    def evaluated_at(self) -> frozenset[int]:
        """The steps after which the run is evaluated."""
        return frozenset(math.ceil(self.steps * share) for share in EVALUATED_AT)


def plan(args: SimpleNamespace, steps: int) -> Plan:
    seconds = float(args.max_train_secs) if args.max_train_secs > 0 else None
    between = float(args.eval_frequency_secs)
    return Plan(
        steps=steps,
        batch_rows=args.batch_size,
        seconds=seconds,
        evaluation_seconds=between if seconds is None else min(between, seconds / EVALUATIONS_BY_TIME),
        evaluation_batches=max(args.eval_steps, 0),
        seed=args.seed,
    )


@dataclass
class Trainer:
    """Owns the step counter, the compiled functions and the checkpoints (in `experiment`)."""

    network: Any
    head: Head
    groups: Sequence[Group]
    clip_norm: float | None = None
    step: tf.Variable = field(init=False)
    best_loss: tf.Variable = field(init=False)

    def __post_init__(self) -> None:
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
        self.best_loss = tf.Variable(math.inf, dtype=tf.float64, trainable=False, name="best_loss")
        self.groups = [
            Group(group.optimiser, [v for v in group.variables if v.shape.num_elements()])
            for group in self.groups
        ]
        for group in self.groups:
            optimisers.start(group.optimiser, group.variables)
        columns = self.network.columns
        self._signature = [
            tf.TensorSpec([None, columns[0]], tf.float32),
            tf.TensorSpec([None, columns[1]], tf.int32),
        ]
        target = tf.TensorSpec([None], tf.int32 if hasattr(self.head, "classes") else tf.float32)
        self.train_step = tf.function(self._train_step, input_signature=[*self._signature, target])
        self.judge = tf.function(self._judge, input_signature=[*self._signature, target])

    def _train_step(self, numeric: tf.Tensor, categorical: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            raw, penalty = self.network(numeric, categorical, True, self.step)
            loss = self.head.average(self.head.row_losses(raw, target)) + penalty
        variables = [variable for group in self.groups for variable in group.variables]
        gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
        if self.clip_norm is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, self.clip_norm)
        first = 0
        for group in self.groups:
            last = first + len(group.variables)
            if last > first:
                group.optimiser.apply_gradients(zip(gradients[first:last], group.variables))
            first = last
        self.step.assign_add(1)
        return loss

    def _judge(
        self, numeric: tf.Tensor, categorical: tf.Tensor, target: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        raw, _ = self.network(numeric, categorical, False, self.step)
        return self.head.outcome(raw), self.head.row_losses(raw, target)

    def outcome(self, numeric: tf.Tensor, categorical: tf.Tensor) -> tf.Tensor:
        """Probabilities or values, as the SavedModel computes them."""
        raw, _ = self.network(numeric, categorical, False, self.step)
        return self.head.outcome(raw)

    def fingerprint(self, data: str) -> str:
        """Of the network's shape and of what its inputs and outputs stand for."""
        shape = [(v.name, v.shape.as_list()) for group in self.groups for v in group.variables]
        kinds = [type(group.optimiser).__name__ for group in self.groups]
        return hashlib.sha256(json.dumps([shape, kinds, data]).encode()).hexdigest()


class Checkpoints:
    """The latest two checkpoints of a trainer, and the network as it was when it was best."""

    def __init__(self, trainer: Trainer, folder: Path, data: str) -> None:
        """@param data  what ids and classes stand for: a checkpoint of other data cannot be continued"""
        self._trainer = trainer
        self._saved = tf.train.Checkpoint(
            network=trainer.network,
            optimisers=[group.optimiser for group in trainer.groups],
            step=trainer.step,
            best_loss=trainer.best_loss,
        )
        self._manager = tf.train.CheckpointManager(self._saved, str(folder), max_to_keep=2)
        self._network = tf.train.Checkpoint(network=trainer.network)
        self._best = folder / "best" / "network"
        self._mark = folder / "network.json"
        self._fingerprint = trainer.fingerprint(data)

    def restore(self) -> bool:
        """Continues from the latest checkpoint, if there is one. UserError if it is of another model."""
        latest = self._manager.latest_checkpoint
        if latest is None:
            return False
        known = json.loads(self._mark.read_text())["fingerprint"] if self._mark.exists() else None
        if known != self._fingerprint:
            raise UserError(
                "The checkpoint in experiment/ below --job-dir is of a model with other columns or "
                "arguments. Give an empty --job-dir, or the arguments and the data of the first run."
            )
        self._saved.restore(latest).expect_partial()
        return True

    def save(self, step: int, loss: float) -> None:
        """Writes a checkpoint; keeps the network aside if its loss is the lowest so far."""
        if loss < float(self._trainer.best_loss.numpy()):
            self._trainer.best_loss.assign(loss)
            self._network.write(str(self._best))
        self._mark.write_text(json.dumps({"fingerprint": self._fingerprint}))
        self._manager.save(checkpoint_number=step)

    def use_best(self) -> None:
        """Puts the best network's weights in place of the last step's."""
        self._network.read(str(self._best)).expect_partial()


def train(
    trainer: Trainer,
    plan: Plan,
    batches: Iterator[Batch],
    evaluate: Callable[[int], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Trains up to plan.steps steps in all or plan.seconds seconds, and evaluates on the way and at the end.

    UserError if the loss is no number any more.
    """
    began = looked = clock()
    planned = plan.evaluated_at
    step = int(trainer.step.numpy())
    evaluated = -1
    while step < plan.steps:
        batch = next(batches)
        loss = trainer.train_step(batch.numeric, batch.categorical, batch.target)
        step += 1
        now = clock()
        due = step in planned or now - looked >= plan.evaluation_seconds
        if due or step % STEPS_A_LOOK == 0:
            check(float(loss), step)
        if due:
            evaluate(step)
            evaluated = step
            looked = clock()
        if plan.seconds is not None and now - began >= plan.seconds:
            LOG.info(f"Stopped after {step} steps: --max_train_secs={plan.seconds:g} is over.")
            break
    if evaluated != step:
        evaluate(step)


def check(loss: float, step: int) -> None:
    if not math.isfinite(loss):
        raise UserError(
            f"The training loss is {loss} at step {step}: training diverged. Give a lower learning rate, "
            "or look for extreme values in the numeric columns."
        )
