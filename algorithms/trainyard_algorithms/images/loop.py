"""Steps, evaluations, checkpoints and the best model: the same for both image trainers."""

import json
import logging
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from ..failure import UserError, stopping
from ..outputs import write_deployment_config, write_json
from ..paths import JobFolder
from ..report import Reporter
from .pretrained import DAMAGED
from .schedule import Schedule

log = logging.getLogger(__name__)

LOG_EVERY_SECONDS = 30.0
HURRIED_SECONDS = 5.0  # of an evaluation after the process was told to stop, which leaves it 30 in all
WHOLE = "deployment_config.yaml"  # removed from a model before anything else and written last
# What an earlier run in the job-dir may have had otherwise without a WARNING.
FREE = ("job_dir", "max_steps", "train_steps_per_eval")


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
    checkpoint; of the other `arguments` a difference is told."""

    schedule: Schedule
    steps_per_eval: int
    batch: int
    best: str  # the metric that chooses the model, the higher the better
    identity: Mapping[str, Any]
    arguments: Mapping[str, Any]
    percent: str  # the metric that deployment_config.yaml calls accuracy


@dataclass(frozen=True)
class Best:
    """The evaluation whose model is in model/."""

    step: int
    metrics: Mapping[str, float]


class State:
    """What of a job is kept from run to run: its newest two checkpoints and, with the best evaluation, what
    they are of, in its folder `checkpoints`; the best model, in `model`."""

    def __init__(self, task: Task, folder: JobFolder, course: Course) -> None:
        """Removes what another trial, or an unknown training, left there."""
        self.folder, self.course = folder, course
        self.path, self.model = folder.folder("checkpoints"), folder.folder("model")
        if not folder.in_place:
            folder.fetch("model")
        self.told = self.path / "settings.json"
        self.trial = trial()
        self.earlier = self.begin()
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best: Best | None = None
        self.checkpoint = tf.train.Checkpoint(step=self.step, optimizer=task.optimizer, **dict(task.parts()))
        self.manager = tf.train.CheckpointManager(self.checkpoint, str(self.path), max_to_keep=2)

    def begin(self) -> Mapping[str, Any]:
        """The settings of the training that the checkpoints are of; clears the folders if they cannot be
        read, or are another trial's."""
        if tf.train.latest_checkpoint(str(self.path)) is None:
            return {}
        try:
            earlier = dict(json.loads(self.told.read_text("utf-8")))
        except FileNotFoundError:
            earlier = dict(self.course.identity)
        except (ValueError, TypeError):
            log.warning("%s in the job-dir cannot be read: training starts anew.", self.told.name)
            self.clear()
            return {}
        if self.trial and earlier.get("trial") != self.trial:
            log.warning(
                "The job-dir holds checkpoints of another job or trial: this trial starts anew, and they are "
                "removed."
            )
            self.clear()
            return {}
        return earlier

    def clear(self) -> None:
        empty(self.path, "checkpoint")
        empty(self.model, WHOLE)
        self.folder.publish()

    def restore(self) -> int:
        """The step to go on from: of the newest checkpoint, 0 without one. UserError if it is another
        model's."""
        newest = tf.train.latest_checkpoint(str(self.path))
        if newest is None:
            return 0
        for name, value in self.course.identity.items():
            if self.earlier.get(name) != value:
                raise UserError(
                    f"The job-dir holds checkpoints of a training with {name}={self.earlier.get(name)}, but "
                    f"this job says {name}={value}. Choose an empty job-dir, or the same {name}."
                )
        try:
            self.checkpoint.restore(newest).assert_existing_objects_matched().expect_partial()
        except (ValueError, AssertionError, *DAMAGED) as error:
            raise UserError(
                f"The checkpoint {Path(newest).name} in the job-dir does not fit this model or optimizer: "
                f"{str(error).splitlines()[0]} Choose an empty job-dir, or the arguments of the earlier job."
            ) from None
        self.best = self.earlier_best()
        step = int(self.step.numpy())
        changed = differences(self.earlier.get("arguments", {}), self.course.arguments)
        if changed:
            log.warning(
                "The first %d steps in the job-dir were trained with other arguments: %s. Choose an empty "
                "job-dir to train with this job's from the beginning.",
                step,
                ", ".join(changed),
            )
        return step

    def earlier_best(self) -> Best | None:
        """The best evaluation of earlier runs, if its model is there and whole."""
        if not (self.model / WHOLE).exists():
            return None
        try:
            told = json.loads((self.path / "best.json").read_text("utf-8"))
            metrics = {name: float(number) for name, number in told["metrics"].items()}
            return Best(int(told["step"]), metrics) if self.course.best in metrics else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def save_best(self, task: Task, best: Best) -> None:
        """Puts the model as it is now into model/. Killed at any place, it leaves a whole model or no
        WHOLE."""
        save_model(task, self.model, self.folder)
        finite_ones = {name: number for name, number in best.metrics.items() if math.isfinite(number)}
        write_json(self.path / "best.json", {"step": best.step, "metrics": finite_ones})
        labels = {name: f"{number:.6g}" for name, number in best.metrics.items()}
        labels |= {
            "global_step": str(best.step),
            "accuracy": f"{100 * best.metrics[self.course.percent]:.4f}",
        }
        write_deployment_config(self.model, "TENSORFLOW", labels)
        self.best = best

    def save(self, step: int) -> None:
        self.step.assign(step)
        settings = {**self.course.identity, "arguments": dict(self.course.arguments)}
        write_json(self.told, settings | ({"trial": self.trial} if self.trial else {}))
        self.manager.save(checkpoint_number=step)
        self.folder.publish()


def trial() -> dict[str, str]:
    """Which trial of a tuning job this process trains; empty outside of one."""
    if not os.environ.get("CLOUD_ML_TRIAL_ID"):
        return {}
    return {"job": os.environ.get("CLOUD_ML_JOB_ID", ""), "trial": os.environ["CLOUD_ML_TRIAL_ID"]}


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Arguments, but FREE ones, that differ, as `--name=EARLIER (now VALUE)`. Pure."""
    names = sorted(earlier.keys() & now.keys() - set(FREE))
    return [f"--{name}={earlier[name]} (now {now[name]})" for name in names if earlier[name] != now[name]]


def empty(folder: Path, first: str) -> None:
    """Removes what is in `folder`, the file `first` before the rest."""
    (folder / first).unlink(missing_ok=True)
    for old in list(folder.iterdir()):
        shutil.rmtree(old) if old.is_dir() else old.unlink()


def fit(task: Task, course: Course, folder: JobFolder, batches: Callable[[int], Iterator[Any]]) -> None:
    """Trains to max_steps from the newest checkpoint, if any; evaluates; keeps the best model, whose metrics
    are the last that the tuner gets.

    `batches(start)` is the training data from a step on. An earlier run that got as far as max_steps is only
    evaluated, with a WARNING, as the original did. A process that is told to stop ends as at max_steps.
    Raises UserError where the loss is no number any more.
    """
    state = State(task, folder, course)
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
        kept = evaluated(task, course, state, reporter, step)
        conclude(state, reporter, step, kept)
        return
    iterator = batches(step)
    kept = False
    while step < end:
        target = min(end, (step // course.steps_per_eval + 1) * course.steps_per_eval)
        step = trained(task, course, reporter, iterator, (step, target))
        if step == 0:
            log.warning("Told to stop before the first step: there is no model.")
            return
        kept = evaluated(task, course, state, reporter, step)
        if stopping():
            log.warning("Told to stop: training ends at step %d of %d.", step, end)
            break
        state.save(step)
    conclude(state, reporter, step, kept)


def conclude(state: State, reporter: Reporter, step: int, kept: bool) -> None:
    """Publishes. The tuner takes the last metrics: they must be those of model/, which are the last ones
    already if `kept`."""
    best = state.best
    assert best is not None
    if not kept and reporter.tuner is not None:
        reporter.attempt("the tuner", lambda: reporter.to_tuner(step, best.metrics))
    state.folder.publish()
    log.info("Training ended at step %d; the best model, of step %d, is in model/.", step, best.step)


def trained(
    task: Task, course: Course, reporter: Reporter, iterator: Iterator[Any], span: tuple[int, int]
) -> int:
    """Trains from step span[0] to span[1], or until the process is told to stop: the step reached. The mean
    losses go to the report as the part `training`."""
    sums: dict[str, Any] = {}
    said = begun = time.monotonic()
    reached = span[0]
    while reached < span[1] and not stopping():
        batch = next(iterator)
        task.optimizer.learning_rate.assign(course.schedule.rate(reached))
        losses = step_of(task, course, batch)
        reached += 1
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + value
        if time.monotonic() - said > LOG_EVERY_SECONDS:
            said = time.monotonic()
            finite(float(losses["loss"]), reached)
            speed = (reached - span[0]) * course.batch / (said - begun)
            log.info("Step %d: loss %.4f, %.1f pictures a second.", reached, float(losses["loss"]), speed)
    if reached > span[0]:
        means = {name: float(value) / (reached - span[0]) for name, value in sums.items()}
        finite(means["loss"], reached)
        means["learning_rate"] = course.schedule.rate(reached - 1)
        reporter.report(reached, means, "training")
    return reached


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


def evaluated(task: Task, course: Course, state: State, reporter: Reporter, step: int) -> bool:
    """Reports the metrics at `step` and saves the model if none before it, in earlier runs too, was better:
    whether it was saved. A process that is told to stop keeps the model that it has, without more ado."""
    if stopping() and state.best is not None:
        return False
    begun = time.monotonic()
    metrics = dict(task.evaluate())
    log.info("Evaluated in %.1f s.", time.monotonic() - begun)
    if stopping() and state.best is not None:  # perhaps not all pictures were seen
        return False
    reporter.report(step, metrics)
    value = metrics[course.best]
    if state.best is not None and value < state.best.metrics[course.best]:
        return False
    state.save_best(task, Best(step, metrics))
    log.info("The model of step %d is the best so far (%s %.4f): saved in model/.", step, course.best, value)
    return True


def hurried(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches to evaluate with: all of them, but after the process was told to stop no more than those of
    the next HURRIED_SECONDS, and one at least."""
    told = math.inf
    for batch in batches:
        yield batch
        if stopping():
            told = min(told, time.monotonic())
            if time.monotonic() - told >= HURRIED_SECONDS:
                log.warning("Told to stop: not all pictures are evaluated.")
                return


def save_model(task: Task, model: Path, folder: JobFolder) -> None:
    """Replaces what is in `model` by the SavedModel, saved_model.pb last; WHOLE is not in it then."""
    module, function = task.serving()
    with tempfile.TemporaryDirectory() as scratch:
        tf.saved_model.save(module, scratch, signatures={"serving_default": function})
        empty(model, WHOLE)
        folder.publish()
        for made in sorted(Path(scratch).iterdir(), key=lambda made: (made.name == "saved_model.pb", made)):
            if made.is_dir():
                shutil.copytree(made, model / made.name)
            else:
                shutil.copyfile(made, model / made.name)
        folder.publish()
