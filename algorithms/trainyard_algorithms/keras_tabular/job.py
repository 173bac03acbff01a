"""One training job from its arguments to the files below --job-dir."""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from trainyard_algorithms.failure import UserError, stopping
from trainyard_algorithms.keras_tabular import export, training
from trainyard_algorithms.keras_tabular.evaluation import ClassMetrics, ValueMetrics
from trainyard_algorithms.keras_tabular.features import Features, Statistics, features, measure
from trainyard_algorithms.keras_tabular.heads import ClassHead, Head, ValueHead
from trainyard_algorithms.keras_tabular.rows import ROWS_A_READ, Rows
from trainyard_algorithms.keras_tabular.training import Group, Trainer
from trainyard_algorithms.outputs import write_deployment_config
from trainyard_algorithms.paths import JobFolder
from trainyard_algorithms.report import Reporter
from trainyard_algorithms.tabular.prepare import Table, prepare

LOG = logging.getLogger(__name__)

# A run may be continued with other values of these: how long it is, and when and on what it is judged. `loss`
# is TabNet's, made of other arguments.
CONTINUED_WITH_OTHER = ("job_dir", "loss", "max_steps", "max_train_secs", "eval_frequency_secs", "eval_steps")
EVALUATION_CELLS = 4 * 1024 * 1024  # a batch of an evaluation: what a few layers of it cost is some 100 MB


@dataclass(frozen=True)
class Setting:
    """What a network is built from."""

    features: Features
    numeric: Statistics
    head: Head
    random: np.random.Generator

    def warn_ignored(self, names: Sequence[str], optimiser: str) -> None:
        if names:
            given = ", ".join(f"--{name}" for name in names)
            LOG.info(f"Ignored with the optimizer {optimiser}: {given}.")


@dataclass
class Built:
    network: Any
    groups: Sequence[Group]
    clip_norm: float | None = None


@dataclass
class Job:
    """A job whose network is built; `metrics` are those of the last evaluation."""

    args: SimpleNamespace
    folder: JobFolder
    table: Table
    rows: dict[str, Rows]
    trainer: Trainer
    plan: training.Plan
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def judged_part(self) -> str:
        """The part whose metrics are reported: validation, or what is there instead."""
        return next(part for part in ("validation", "test", "training") if self.rows[part].count)

    def report(self, reporter: Reporter, step: int) -> None:
        """Evaluates; a tuner hears the tag `validation` only, so that other parts stand in under it."""
        self.metrics = self.evaluate(self.judged_part)
        reporter.report(step, self.metrics, part="validation")

    def evaluate(self, part: str) -> dict[str, float]:
        """loss, average_loss and the metrics of the kind of model, of one part."""
        head = self.trainer.head
        seen: ClassMetrics | ValueMetrics
        seen = ClassMetrics(head.classes) if isinstance(head, ClassHead) else ValueMetrics()
        rows, limit = evaluation_rows(self.table), None
        if self.plan.evaluation_batches:
            rows, limit = self.plan.batch_rows, self.plan.evaluation_batches
        losses, count = 0.0, 0
        for batch in itertools.islice(self.rows[part].once(rows), limit):
            outcome, row_losses = self.trainer.judge(batch.numeric, batch.categorical, batch.target)
            seen.add(outcome.numpy(), batch.target)
            losses += float(row_losses.numpy().astype(np.float64).sum())
            count += len(batch.target)
        loss = head.report(losses / max(count, 1))
        return {"loss": loss, "average_loss": loss, **seen.metrics()}


def has_gpu() -> bool:
    return bool(tf.config.list_physical_devices("GPU"))


def evaluation_rows(table: Table) -> int:
    return int(np.clip(EVALUATION_CELLS // max(len(table.columns), 1), 16, 4096))


def describe(table: Table, feature: Features, rows: dict[str, Rows]) -> str:
    kinds = f"{len(feature.numeric)} numeric and {len(feature.categorical)} categorical columns"
    what = "a number" if table.labels is None else f"{len(table.labels)} classes"
    counts = ", ".join(f"{each.count} rows for {part}" for part, each in rows.items())
    device = "a GPU (reruns may differ in the last digits)" if has_gpu() else "the CPU"
    return f"The model predicts {what} from {kinds}; {counts}. Training uses {device}."


def make_head(args: SimpleNamespace, table: Table, target: Statistics) -> Head:
    loss = getattr(args, "loss", None)
    if table.labels is None:
        return ValueHead(float(target.mean[0]), float(target.deviation[0]), loss or "mse")
    if loss is None:
        return ClassHead(len(table.labels))
    if args.class_weight != 1.0 and len(table.labels) != 2:
        raise UserError(
            f"--class_weight={args.class_weight:g} is for two classes, and the data has {len(table.labels)}."
        )
    return ClassHead(len(table.labels), loss, args.class_weight, args.alpha_focal_loss, args.gamma_focal_loss)


def begin(args: SimpleNamespace, build: Callable[[SimpleNamespace, Setting], Built]) -> Job:
    """Prepares the data and builds the network; nothing is trained yet."""
    tf.keras.utils.set_random_seed(args.seed)
    if not has_gpu():  # there, some kernels have no deterministic form and would fail
        tf.config.experimental.enable_op_determinism()
    folder = JobFolder(args.job_dir)
    table = prepare(args, folder, classes=args.model_type == "classification", numeric=False)
    feature = features(table)
    rows = {part: Rows(table, part, keep=part != "training") for part in ("training", "validation", "test")}
    LOG.info(describe(table, feature, rows))
    numeric, target = measure(rows["training"].once(ROWS_A_READ), len(feature.numeric))
    head = make_head(args, table, target)
    built = build(args, Setting(feature, numeric, head, np.random.default_rng(args.seed)))
    trainer = Trainer(built.network, head, built.groups, built.clip_norm)
    return Job(args, folder, table, rows, trainer, training.plan(args, args.max_steps))


def meaning(table: Table) -> str:
    """What ids and classes stand for, as a hash."""
    columns = [(each.name, each.kind, each.vocabulary, each.buckets) for each in table.columns]
    return hashlib.sha256(repr((columns, table.labels)).encode()).hexdigest()


def identity(args: SimpleNamespace, table: Table) -> dict[str, str]:
    """What the checkpoint of a run is continued by: each of these must be the same. A trial goes on with its
    own alone, whatever an earlier tuning job has left in its folder."""
    given = {name: value for name, value in vars(args).items() if name not in CONTINUED_WITH_OTHER}
    found = {f"--{name}": repr(given[name]) for name in sorted(given)}
    trial = os.environ.get("CLOUD_ML_TRIAL_ID")
    if trial:
        found["job and trial"] = f"{os.environ.get('CLOUD_ML_JOB_ID', '')} {trial}"
    return {**found, "columns and classes": meaning(table)}


def fit(job: Job) -> None:
    """Trains, with an evaluation and a checkpoint from time to time; continues from a checkpoint that is
    there."""
    experiment = job.folder.folder("experiment")
    reporter = Reporter(experiment, job.judged_part)
    checkpoints = training.Checkpoints(job.trainer, experiment, identity(job.args, job.table))
    if job.judged_part != "validation":
        LOG.warning(
            f"There are no validation rows: the {job.judged_part} part's metrics stand for validation's."
        )
    if checkpoints.restore():
        start = int(job.trainer.step.numpy())
        LOG.info(f"Continues from the checkpoint at step {start}.")
        if start >= job.plan.steps:
            LOG.warning(
                f"Nothing is trained: the checkpoint in experiment/ below --job-dir is at step {start}, and "
                f"--max_steps={job.plan.steps}. Give a larger one to go on, or an empty --job-dir."
            )
    job.folder.publish()  # what restore() has removed is gone there too before the run's mark is another

    def evaluate(step: int) -> None:
        job.report(reporter, step)
        checkpoints.save(step, job.metrics)
        job.folder.publish()

    # A run that continues must not see the batches of its beginning again.
    seed = job.args.seed + int(job.trainer.step.numpy())
    batches = job.rows["training"].shuffled(job.plan.batch_rows, seed)
    evaluated = training.train(job.trainer, job.plan, batches, evaluate, lambda: bool(checkpoints.best))
    keep_best(job, checkpoints, reporter, job.metrics["average_loss"] if evaluated else math.nan)


def keep_best(job: Job, checkpoints: training.Checkpoints, reporter: Reporter, loss: float) -> None:
    """Goes back to the evaluation with the lowest loss on rows that were not trained on, and reports that
    model last: a tuner's final metrics are those of the model that is written. A process that is told to
    stop evaluates nothing again.

    @param loss  of the last step; no number: it was not evaluated, or is not worth a model
    @raises UserError: it is no number, and there is no other
    """
    step = int(job.trainer.step.numpy())
    judged = job.judged_part != "training" or math.isnan(loss)
    if judged and not loss <= checkpoints.best_loss:
        if not checkpoints.best:
            training.check(loss, step)
        checkpoints.use_best()
        LOG.info("The model is the one of the evaluation with the lowest loss; its metrics follow.")
        if stopping():
            job.metrics = dict(checkpoints.best)
            reporter.report(step, job.metrics, part="validation")
        else:
            job.report(reporter, step)
    if job.rows["test"].count and not stopping():
        reporter.report(step, job.evaluate("test"), part="test")


def deployment_labels(metrics: dict[str, float], step: int) -> dict[str, str]:
    """Metrics as text, accuracy in percent (source: observed in a sample's deployment_config.yaml)."""
    labels = {
        name: f"{100 * value:.2f}" if name == "accuracy" else f"{value:.6g}"
        for name, value in metrics.items()
    }
    return {**labels, "global_step": str(step)}


def finish(job: Job) -> None:
    """Writes model/ and its deployment_config.yaml."""
    model = job.folder.folder("model")
    export.save(model, job.table, job.trainer.network, job.trainer.outcome)
    labels = deployment_labels(job.metrics, int(job.trainer.step.numpy()))
    write_deployment_config(model, "TENSORFLOW", labels)
    job.folder.publish()
    LOG.info(f"The model is in {job.args.job_dir.rstrip('/')}/model/.")


def run(
    args: SimpleNamespace,
    build: Callable[[SimpleNamespace, Setting], Built],
    explain: Callable[[Job], None] | None = None,
) -> None:
    """The whole job. `explain` may write more files of a trained model before they are published."""
    job = begin(args, build)
    fit(job)
    in_haste = stopping()  # then the model is written first
    if explain is not None and not in_haste:
        explain(job)
    finish(job)
    if explain is not None and in_haste:
        explain(job)
        job.folder.publish()
