"""Steps, evaluations, checkpoints and the best model: the same for both image trainers."""

import json
import logging
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from ..failure import UserError
from ..outputs import write_deployment_config
from ..paths import JobFolder
from ..report import Reporter
from .schedule import Schedule

log = logging.getLogger(__name__)

LOG_EVERY_SECONDS = 30.0


class Task(Protocol):
    """What a trainer gives to `fit`."""

    optimizer: Any

    def parts(self) -> Mapping[str, Any]:
        """What a checkpoint holds beside the optimizer and the step."""

    def step(self, batch: Any) -> Mapping[str, Any]:
        """One step of training; its losses as tensors, `loss` among them."""

    def evaluate(self) -> Mapping[str, float]:
        """The metrics on the validation data."""

    def serving(self) -> tuple[Any, Any]:
        """The tf.Module to save, and its function for serving_default."""


@dataclass(frozen=True)
class Course:
    """How `fit` goes: numbers are of steps. `identity` says what must be the same to continue from a
    checkpoint."""

    schedule: Schedule
    steps_per_eval: int
    batch: int
    best: str  # the metric that chooses the model, the higher the better
    identity: Mapping[str, Any]
    percent: str  # the metric that deployment_config.yaml calls accuracy


class State:
    """Checkpoints of a job: the newest two, in its folder `checkpoints`."""

    def __init__(self, task: Task, folder: JobFolder, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        self.path = folder.folder("checkpoints")
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best = tf.Variable(-math.inf, dtype=tf.float32, trainable=False)
        self.identity = dict(identity)
        self.checkpoint = tf.train.Checkpoint(
            step=self.step, best=self.best, optimizer=task.optimizer, **dict(task.parts())
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, str(self.path), max_to_keep=2)

    def restore(self) -> int:
        """The step to go on from: of the newest checkpoint, 0 without one. UserError if it is another
        model's."""
        newest = tf.train.latest_checkpoint(str(self.path))
        if newest is None:
            return 0
        told = self.path / "settings.json"
        earlier = json.loads(told.read_text("utf-8")) if told.exists() else self.identity
        for name, value in self.identity.items():
            if earlier.get(name) != value:
                raise UserError(
                    f"The job-dir holds checkpoints of a training with {name}={earlier.get(name)}, but this "
                    f"job says {name}={value}. Choose an empty job-dir, or the same {name}."
                )
        try:
            self.checkpoint.restore(newest).assert_existing_objects_matched().expect_partial()
        except (ValueError, AssertionError, tf.errors.OpError) as error:
            raise UserError(
                f"The checkpoint {Path(newest).name} in the job-dir does not fit this model or optimizer: "
                f"{str(error).splitlines()[0]} Choose an empty job-dir, or the arguments of the earlier job."
            ) from None
        return int(self.step.numpy())

    def save(self, step: int) -> None:
        self.step.assign(step)
        (self.path / "settings.json").write_text(json.dumps(self.identity, indent=1) + "\n", "utf-8")
        self.manager.save(checkpoint_number=step)
        self.folder.publish()


def fit(task: Task, course: Course, folder: JobFolder, batches: Callable[[int], Iterator[Any]]) -> None:
    """Trains to max_steps from the newest checkpoint, if any; evaluates; keeps the best model.

    `batches(start)` is the training data from a step on. An earlier run that got as far as max_steps is only
    evaluated, with a WARNING, as the original did. Raises UserError where the loss is no number any more.
    """
    state = State(task, folder, course.identity)
    reporter = Reporter(folder.folder("experiment"))
    step, end = state.restore(), course.schedule.max_steps
    if step:
        log.info("The job-dir holds a checkpoint of step %d: training goes on from there.", step)
    if step >= end:
        log.warning(
            "--max_steps=%d is not above the %d steps that the job-dir's checkpoint has had: nothing is "
            "trained, the model is evaluated. Give more steps, or another job-dir.",
            end,
            step,
        )
        evaluated(task, course, state, reporter, step)
        folder.publish()
        return
    iterator = batches(step)
    while step < end:
        target = min(end, (step // course.steps_per_eval + 1) * course.steps_per_eval)
        trained(task, course, reporter, iterator, (step, target))
        step = target
        evaluated(task, course, state, reporter, step)
        state.save(step)
    log.info("Training ended at step %d; the best model is in model/.", step)


def trained(
    task: Task, course: Course, reporter: Reporter, iterator: Iterator[Any], span: tuple[int, int]
) -> None:
    """The steps from span[0] to span[1]; their mean losses go to the report as the part `training`."""
    sums: dict[str, Any] = {}
    said = begun = time.monotonic()
    for step in range(*span):
        batch = next(iterator)
        task.optimizer.learning_rate.assign(course.schedule.rate(step))
        losses = step_of(task, course, batch)
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + value
        if time.monotonic() - said > LOG_EVERY_SECONDS:
            said = time.monotonic()
            finite(float(losses["loss"]), step + 1)
            speed = (step + 1 - span[0]) * course.batch / (said - begun)
            log.info("Step %d: loss %.4f, %.1f pictures a second.", step + 1, float(losses["loss"]), speed)
    means = {name: float(value) / (span[1] - span[0]) for name, value in sums.items()}
    finite(means["loss"], span[1])
    means["learning_rate"] = course.schedule.rate(span[1] - 1)
    reporter.report(span[1], means, "training")


def step_of(task: Task, course: Course, batch: Any) -> Mapping[str, Any]:
    """One step. UserError where the memory of the machine or the GPU does not hold the batch."""
    try:
        return task.step(batch)
    except tf.errors.ResourceExhaustedError:
        raise UserError(
            f"The memory does not hold a batch of {course.batch} pictures. Lower --train_batch_size or the "
            "size of the pictures, or choose a machine with more memory."
        ) from None


def finite(loss: float, step: int) -> None:
    if not math.isfinite(loss):
        raise UserError(
            f"The loss is not a number any more at step {step}. Lower --initial_learning_rate, or give "
            "--warmup_steps."
        )


def evaluated(task: Task, course: Course, state: State, reporter: Reporter, step: int) -> None:
    """Metrics at `step`; the model is saved if none before it, in earlier runs too, was better, or none is
    there."""
    begun = time.monotonic()
    metrics = dict(task.evaluate())
    log.info("Evaluated in %.1f s.", time.monotonic() - begun)
    reporter.report(step, metrics)
    model = state.folder.folder("model")
    value = metrics[course.best]
    lost = state.folder.in_place and not (model / "saved_model.pb").exists()
    if lost or value >= float(state.best.numpy()):
        state.best.assign(max(value, float(state.best.numpy())))
        save_model(task, model)
        labels = {name: f"{number:.6g}" for name, number in metrics.items()}
        labels |= {"global_step": str(step), "accuracy": f"{100 * metrics[course.percent]:.4f}"}
        write_deployment_config(model, "TENSORFLOW", labels)
        log.info(
            "The model of step %d is the best so far (%s %.4f): saved in model/.", step, course.best, value
        )


def save_model(task: Task, model: Path) -> None:
    """Replaces what is in `model` by the SavedModel; written elsewhere first, so that no half model stays."""
    module, function = task.serving()
    with tempfile.TemporaryDirectory() as scratch:
        tf.saved_model.save(module, scratch, signatures={"serving_default": function})
        for old in model.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copytree(scratch, model, dirs_exist_ok=True)
