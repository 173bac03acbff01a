"""XGBoost on one replica. Stands for gcr.io/cloud-ml-algos/boosted_trees."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

from trainyard_algorithms import failure
from trainyard_algorithms.failure import UserError, run
from trainyard_algorithms.paths import JobFolder, files
from trainyard_algorithms.report import Reporter
from trainyard_algorithms.xgb import labels as classes
from trainyard_algorithms.xgb import metrics, numeric_csv, parameters

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import xgboost as xgb

    from trainyard_algorithms.xgb.numeric_csv import Start

NAME = "boosted_trees"
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Data:
    """What to train with."""

    parts: dict[str, Start]  #: training, and validation and test if there are such
    columns: int  #: features
    classes: classes.Classes


def prepared(args: SimpleNamespace, folder: JobFolder, task: str) -> Data:
    """Data by automatic preprocessing. UserError: see prepare()."""
    from trainyard_algorithms.tabular.batches import batches
    from trainyard_algorithms.tabular.prepare import prepare
    from trainyard_algorithms.xgb.matrices import rows_a_block

    table = prepare(args, folder, classes=task in ("binary", "multiclass"), numeric=True)
    columns = len(table.columns)

    def reader(part: str) -> Start:
        rows = rows_a_block(columns)
        return lambda: ((batch.numeric, batch.target) for batch in batches(table, part, rows))

    parts = {name: reader(name) for name, part in table.parts.items() if part.rows}
    return Data(parts, columns, classes.of_labels(table.labels, task))


def as_it_is(args: SimpleNamespace, task: str) -> Data:
    """Data without preprocessing: CSV files of numbers. UserError: they are not; it names file and row."""
    paths = {"training": args.training_data_path}
    paths |= {"validation": args.validation_data_path, "test": args.test_data_path}
    found = {part: files(path) for part, path in paths.items() if path}
    columns = numeric_csv.width(found["training"])
    seen = classes.Seen(task)
    parts = {part: _part(part, of_part, columns, seen) for part, of_part in found.items()}
    return Data(parts, columns - 1, seen.classes())


def _part(part: str, of_part: list[Path], columns: int, seen: classes.Seen) -> Start:
    rows = 0

    def look(features: np.ndarray, target: np.ndarray) -> None:
        nonlocal rows
        seen.add(target, of_part, known=part == "training")
        rows += len(features)

    start = numeric_csv.looked_at(lambda: numeric_csv.chunks(of_part, columns), look)
    LOG.info("%s: %d rows, %d numeric columns and the target.", part.capitalize(), rows, columns - 1)
    if not rows:
        raise UserError(f"The {part} data have no row.")
    return start


def main(args: SimpleNamespace) -> None:
    """Trains by args of tables/boosted_trees.json. UserError: see there, and the data's."""
    chosen = parameters.settings(args, NAME)
    tag = os.environ.get("CLOUD_ML_HP_METRIC_TAG", "")
    names = metrics.wanted(args.eval_metric, chosen.objective, chosen.params, tag)
    if args.disable_default_eval_metric and not args.eval_metric:
        names = ()
    check_stopping(args, names)
    folder = JobFolder(args.job_dir)
    for note in chosen.notes:
        LOG.info("Note: %s.", note)
    data = prepared(args, folder, chosen.task) if args.preprocess else as_it_is(args, chosen.task)
    chosen = classes.applied(chosen, data.classes)
    fit(args, chosen, names, data, folder)


def fit(
    args: SimpleNamespace, chosen: parameters.Settings, names: tuple[str, ...], data: Data, folder: JobFolder
) -> None:
    """Trains, reports, saves."""
    from trainyard_algorithms.xgb import saving, training
    from trainyard_algorithms.xgb.matrices import of_blocks

    if not chosen.bins:
        LOG.info(
            "This method needs all rows in memory, about 12 bytes a value while they are read; "
            "tree_method=hist needs about 3 in all."
        )
    with training.refusals():
        train = of_blocks(data.parts["training"], data.columns, chosen)
        others = {
            p: of_blocks(s, data.columns, chosen, train) for p, s in data.parts.items() if p != "training"
        }
    judged = "validation" if "validation" in others else "training"
    if judged == "training":
        LOG.info("There are no validation data: the metrics are those of the training data.")
    reporter = Reporter(None, judged)
    history: dict[int, dict[str, float]] = {}

    def report(rounds: int, parts: dict[str, dict[str, float]]) -> None:
        if judged in parts:
            history[rounds] = parts[judged]
            reporter.report(rounds, parts[judged])

    more = [*early_stopping(args, names), training.Ends(failure.stopping)]
    booster = training.train(chosen, train, [(others.get(judged, train), judged)], names, report, more)
    rounds, last = booster.num_boosted_rounds(), max(history, default=0)
    kept = history.get(rounds, {})
    if rounds < last:
        LOG.info("The model is that of round %d, the best one; its metrics follow.", rounds)
        kept = training.evaluate(booster, others[judged], chosen, names)
        reporter.report(last, kept)  # a tuner takes what is reported last, which is to be of the model
    saving.save(booster, folder.folder("model"), saving.labels(kept, rounds))
    folder.publish()
    if "test" in others and names:
        reporter.report(rounds, training.evaluate(booster, others["test"], chosen, names), part="test")
    LOG.info("The model of %d rounds is %s/model/model.bst.", rounds, args.job_dir.rstrip("/"))


def check_stopping(args: SimpleNamespace, names: tuple[str, ...]) -> None:
    """UserError: early stopping is asked for, and is impossible."""
    if not args.early_stopping_rounds:
        return
    if args.booster == "gblinear":
        raise UserError(
            "early_stopping_rounds does not go with booster=gblinear, which cannot go back to a round."
        )
    if not names or not (args.validation_data_path or (args.preprocess and args.validation_split)):
        raise UserError("early_stopping_rounds needs validation data and an eval_metric.")


def early_stopping(args: SimpleNamespace, names: tuple[str, ...]) -> list[xgb.callback.TrainingCallback]:
    """XGBoost's own, if it is asked for; the model is then that of the best round."""
    import xgboost as xgb

    if not args.early_stopping_rounds:
        return []
    LOG.info("Stops after %d rounds in which %s does not improve.", args.early_stopping_rounds, names[-1])
    return [xgb.callback.EarlyStopping(args.early_stopping_rounds, names[-1], "validation", save_best=True)]


if __name__ == "__main__":
    run(NAME, main)
