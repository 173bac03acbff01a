"""Metrics: to the tuner, to TensorBoard, to the log."""

import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOG = logging.getLogger(__name__)


class Reporter:
    """Says metrics where they are looked for. Nothing here ends a run: what cannot be reported is logged
    once."""

    def __init__(self, experiment: Path | None, judged: str = "validation") -> None:
        """@param experiment  the folder for TensorBoard's event files, a folder for each part; None: no
        such files
        @param judged  the part whose rows stand for the validation part's, if that has none: lines of the
        log name it"""
        self.experiment = experiment
        self.judged = judged
        self.writers: dict[str, Any] = {}
        self.failed: set[str] = set()
        self.tuner: Any = None
        # Only a trial has them; without them cloudml-hypertune would write a file of the machine's.
        if any(os.environ.get(name) for name in ("CLOUD_ML_HP_METRIC_FILE", "CLOUD_ML_TRIAL_ID")):
            self.attempt("the tuner", self.start_tuner)

    def report(self, step: int, metrics: Mapping[str, float], part: str = "validation") -> None:
        """Reports `metrics` at `step`. The tuner gets those of the part `validation` only, under their bare
        names."""
        values = {name: float(number) for name, number in metrics.items()}
        told = ", ".join(f"{name} {number:.6g}" for name, number in values.items())
        LOG.info("Step %d, %s: %s", step, self.judged if part == "validation" else part, told)
        if self.experiment is not None:
            self.attempt("TensorBoard", lambda: self.to_tensorboard(step, values, part))
        if self.tuner is not None and part == "validation":
            self.attempt("the tuner", lambda: self.to_tuner(step, values))

    def start_tuner(self) -> None:
        import hypertune

        self.tuner = hypertune.HyperTune()

    def to_tuner(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, number in metrics.items():
            self.tuner.report_hyperparameter_tuning_metric(
                hyperparameter_metric_tag=name, metric_value=number, global_step=step
            )

    def to_tensorboard(self, step: int, metrics: Mapping[str, float], part: str) -> None:
        # tensorboard's own records without its EventFileWriter, which imports TensorFlow.
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.record_writer import RecordWriter

        assert self.experiment is not None
        writer = self.writers.get(part)
        if writer is None:
            folder = self.experiment / part
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"events.out.tfevents.{time.time():.6f}.{os.uname().nodename}.{os.getpid()}"
            writer = self.writers[part] = RecordWriter(path.open("ab"))
            writer.write(
                event_pb2.Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString()
            )
        values = [
            summary_pb2.Summary.Value(tag=name, simple_value=number) for name, number in metrics.items()
        ]
        event = event_pb2.Event(wall_time=time.time(), step=step, summary=summary_pb2.Summary(value=values))
        writer.write(event.SerializeToString())
        writer.flush()

    def attempt(self, where: str, act: Any) -> None:
        """act(), of which an exception is a warning, once for each `where`."""
        try:
            act()
        except Exception as error:
            if where not in self.failed:
                LOG.warning("Metrics do not reach %s: %s", where, error)
            self.failed.add(where)
