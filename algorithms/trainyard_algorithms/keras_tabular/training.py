"""The training loop: steps, evaluations, checkpoints."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import tensorflow as tf

from trainyard_algorithms.failure import UserError, stopping
from trainyard_algorithms.keras_tabular import optimisers
from trainyard_algorithms.keras_tabular.heads import Head
from trainyard_algorithms.outputs import write_json
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

    def __post_init__(self) -> None:
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
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

    def fingerprint(self) -> str:
        """Of the network's shape."""
        shape = [(v.name, v.shape.as_list()) for group in self.groups for v in group.variables]
        kinds = [type(group.optimiser).__name__ for group in self.groups]
        return hashlib.sha256(json.dumps([shape, kinds]).encode()).hexdigest()


class Checkpoints:
    """The latest two checkpoints of a run, and the network as it was when it was best, which is written in
    turn to one of two places. network.json, the mark, says to which, and of what run all this is."""

    def __init__(self, trainer: Trainer, folder: Path, run: Mapping[str, str]) -> None:
        """@param run  what makes a run another one, as texts: its checkpoint is not continued then"""
        self._saved = tf.train.Checkpoint(
            network=trainer.network,
            optimisers=[group.optimiser for group in trainer.groups],
            step=trainer.step,
        )
        self._folder = folder
        self._manager = self._manage()
        self._network = tf.train.Checkpoint(network=trainer.network)
        self._mark = folder / "network.json"
        self._run = {**run, "network": trainer.fingerprint()}
        self._best_place = ""
        self.best: dict[str, float] = {}  # metrics of the best evaluation; empty: there is none

    @property
    def best_loss(self) -> float:
        return self.best.get("average_loss", math.inf)

    def _manage(self) -> tf.train.CheckpointManager:
        return tf.train.CheckpointManager(self._saved, str(self._folder), max_to_keep=2)

    def restore(self) -> bool:
        """Continues from the latest checkpoint, if there is one; one of another run is removed."""
        latest = self._manager.latest_checkpoint
        if latest is None:
            return False
        mark = read_mark(self._mark)
        why = difference(mark.get("run"), self._run)
        if why:
            LOG.warning(f"Training starts anew: the checkpoint in experiment/ below --job-dir {why}.")
            self._remove()
            return False
        self._saved.restore(latest).expect_partial()
        place = mark.get("best_place", "")
        if place and self._best(place).with_suffix(".index").exists():
            self._best_place, self.best = place, mark["best"]
        return True

    def _remove(self) -> None:
        (self._folder / "checkpoint").unlink(missing_ok=True)  # first: without it there is none
        for each in self._folder.glob("ckpt-*"):
            each.unlink()
        shutil.rmtree(self._folder / "best", ignore_errors=True)
        self._mark.unlink(missing_ok=True)
        self._manager = self._manage()

    def _best(self, place: str) -> Path:
        return self._folder / "best" / place

    def save(self, step: int, metrics: Mapping[str, float]) -> None:
        """Writes a checkpoint; keeps the network aside if its loss is the lowest so far. One whose loss is
        no number is not worth a checkpoint."""
        loss = metrics["average_loss"]
        if math.isnan(loss):
            return
        if loss < self.best_loss:
            place = "two" if self._best_place == "one" else "one"
            self._network.write(str(self._best(place)))
            self._best_place = place
            self.best = {name: value for name, value in metrics.items() if math.isfinite(value)}
        write_json(self._mark, {"run": self._run, "best_place": self._best_place, "best": self.best})
        self._manager.save(checkpoint_number=step)

    def use_best(self) -> None:
        """Puts the best network's weights in place of the last step's."""
        self._network.read(str(self._best(self._best_place))).expect_partial()


def read_mark(path: Path) -> dict[str, Any]:
    """The mark beside a checkpoint; empty if it cannot be read."""
    try:
        mark = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return mark if isinstance(mark, dict) else {}


def difference(known: Any, run: Mapping[str, str]) -> str:
    """What keeps a checkpoint of the run `known`, as its mark has it, from being continued, if anything."""
    if not isinstance(known, dict):
        return "does not say of what run it is"
    names = sorted(name for name in {*known, *run} if known.get(name) != run.get(name))
    return f"is of a run with other values of {', '.join(names)}" if names else ""


def train(
    trainer: Trainer,
    plan: Plan,
    batches: Iterator[Batch],
    evaluate: Callable[[int], None],
    best_there: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Trains up to plan.steps steps in all or plan.seconds seconds, and evaluates on the way and at the end.
    Ends early if this process is told to stop.

    Where there is a best evaluation to go back to (`best_there`), a run that is told to stop is not evaluated
    once more, and neither is one whose loss at its end is no number. False: the last step was not evaluated.
    UserError if the loss is no number any more.
    """
    began = looked = clock()
    planned = plan.evaluated_at
    step = int(trainer.step.numpy())
    loss = None
    while step < plan.steps:
        batch = next(batches)
        loss = trainer.train_step(batch.numeric, batch.categorical, batch.target)
        step += 1
        now = clock()
        if plan.seconds is not None and now - began >= plan.seconds:
            LOG.info(f"Stopped after {step} steps: --max_train_secs={plan.seconds:g} is over.")
            break
        if stopping():
            LOG.warning(f"Stopped after {step} steps: this process was told to end.")
            break
        if step == plan.steps:
            break
        due = step in planned or now - looked >= plan.evaluation_seconds
        if due or step % STEPS_A_LOOK == 0:
            check(float(loss), step)
        if due:
            evaluate(step)
            looked = clock()
    if loss is not None:
        finite = math.isfinite(float(loss))
        if best_there() and (stopping() or not finite):
            if not finite:
                LOG.warning(f"The loss is {float(loss)} at step {step}: training diverged by then.")
            return False
        check(float(loss), step)
    evaluate(step)
    return True


def check(loss: float, step: int) -> None:
    if not math.isfinite(loss):
        raise UserError(
            f"The loss is {loss} at step {step}: training diverged. Give a lower learning rate, "
            "or look for extreme values in the numeric columns."
        )
