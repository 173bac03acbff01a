"""A table's columns, labels and parts: what trainers learn from.

Two readings: kinds and statistics (scan.py), then processed_data/ (write.py). Without --preprocess there is
only the first, and the parts are the user's files."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.paths import JobFolder, files, shown
from trainyard_algorithms.tabular import metadata, plan, write
from trainyard_algorithms.tabular.kinds import CLASSES_MAX, Split, labels_of, too_many
from trainyard_algorithms.tabular.plan import Source
from trainyard_algorithms.tabular.scan import Scan, scan, width
from trainyard_algorithms.tabular.table import Column, Part, Table

__all__ = ["Column", "Part", "Table", "prepare"]
LOG = logging.getLogger(__name__)
PARTS = ("training", "validation", "test")


@dataclass(frozen=True)
class Given:
    """What the user's arguments say about data."""

    files: dict[str, tuple[Path, ...]]  # of the parts that have files of their own
    preprocess: bool
    validation_split: float  # 0: none, or the part has a file
    test_split: float

    def split(self) -> Split:
        return Split(self.validation_split, self.test_split)


def given(args: SimpleNamespace) -> Given:
    """@raises UserError: a pattern matches no file, or the shares are out of bounds"""
    found = {}
    for part in PARTS:
        pattern = getattr(args, f"{part}_data_path", None)
        if pattern:
            found[part] = tuple(files(pattern))
    preprocess = bool(getattr(args, "preprocess", False))
    shares = {
        part: float(getattr(args, f"{part}_split", None) or 0) if preprocess and part not in found else 0.0
        for part in PARTS[1:]
    }
    result = Given(found, preprocess, shares["validation"], shares["test"])
    result.split()
    return result


def prepare(args: SimpleNamespace, folder: JobFolder, *, classes: bool, numeric: bool) -> Table:
    """Finds out what the columns are; with --preprocess, writes processed_data/ and artifacts/metadata.json.

    @param classes  the target is a class
    @param numeric  every feature shall be a number: for XGBoost
    @raises UserError: naming file, row and column
    """
    data = given(args)
    training = data.files["training"]
    columns = width_of(training)
    LOG.info("Training data: %s, %d columns with the target.", told(training), columns)
    check = target_check(shown(training[0]), classes)
    seen = {"training": scan(training, columns, data.preprocess, data.split().next, check)}
    LOG.info("Read %d rows.", seen["training"].rows)
    keys = plan.keys(seen["training"]) if data.preprocess else frozenset()
    for part in PARTS[1:]:
        if part in data.files:
            check_width(data.files[part], columns)
            seen[part] = scan(data.files[part], columns, data.preprocess, all_training, check, keys)
    complain_of_rows(seen, data)
    labels = labels_in(seen["training"], data) if classes else None
    check_targets(seen, labels, data)
    sources = plan.sources(seen["training"], data.preprocess, numeric, shown(training[0]))
    plan.check_parts(sources, seen, data.preprocess, numeric)
    log_sources(sources, labels)
    if data.preprocess:
        table = write.processed(
            data.files, data.split, seen, sources, labels, numeric, folder.folder("processed_data")
        )
        complain_of_parts(table, data)
    else:
        parts = {part: Part(data.files[part], each.rows) for part, each in seen.items()}
        table = Table(plan.columns_as_given(sources), labels, parts, width=columns)
    for part, has in table.parts.items():
        LOG.info("%s part: %d rows.", part.capitalize(), has.rows)
    metadata.write(folder.folder("artifacts") / "metadata.json", table, sources, seen, data)
    folder.publish()
    return table


def labels_in(training: Scan, data: Given) -> tuple[str, ...]:
    """The labels of the training part. @raises UserError: there are too few, or too many."""
    file = shown(data.files["training"][0])
    values = training.columns[0].values
    texts = [text for text, each in values.items() if each.training]
    if len(texts) < 2 <= len(values):
        raise UserError(
            f"{file}: of {len(values)} classes only {len(texts)} are in the training part: "
            f"{training.rows} rows are too few to split. "
            "Use more data, smaller shares, or a file for each part."
        )
    return labels_of(texts, file)


def told(paths: tuple[Path, ...]) -> str:
    size = sum(each.stat().st_size for each in paths)
    return f"{shown(paths[0]) if len(paths) == 1 else f'{len(paths)} files'}, {size / 1e6:.1f} MB"


def all_training(rows: int) -> np.ndarray:
    return np.zeros(rows, np.uint8)


def width_of(paths: tuple[Path, ...]) -> int:
    """How many columns the files have. @raises UserError: they differ, or all are empty."""
    columns = next((found for each in paths if (found := width(each, shown(each)))), 0)
    if not columns:
        raise UserError(
            f"{shown(paths[0])} is empty." if len(paths) == 1 else f"All {len(paths)} files are empty."
        )
    check_width(paths, columns)
    return columns


def check_width(paths: tuple[Path, ...], columns: int) -> None:
    has = {each: width(each, shown(each)) for each in paths}
    for path, found in has.items():
        if found and found != columns:
            raise UserError(
                f"{shown(path)}, row 1: the number of values is {found}, "
                f"while the training data have {columns}."
            )
    if not any(has.values()):
        raise UserError(f"{shown(paths[0])} is empty.")


def target_check(file: str, classes: bool) -> Callable[[Scan], None]:
    """What is looked at after each block: whether the target can be one."""

    def check(seen: Scan) -> None:
        target = seen.columns[0]
        if classes:
            if target.state != "small" or len(target.values) > CLASSES_MAX:
                raise UserError(too_many(file, f"more than {CLASSES_MAX} different values"))
            return
        spot = target.text_spot()
        if spot is not None:
            raise UserError(
                f"{spot.file}, row {spot.row}, column 1: the target {clipped(spot.text)} is no number; "
                "is this a classification (--model_type=classification)?"
            )
        spot = target.first_infinite
        if spot is not None:
            raise UserError(
                f"{spot.file}, row {spot.row}, column 1: the target is infinite, or too large for a float32."
            )

    return check


def clipped(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def complain_of_rows(seen: dict[str, Scan], data: Given) -> None:
    """@raises UserError: no row is left; logs what is dropped."""
    training = seen["training"]
    if not training.training and training.untargeted + training.sparse < training.rows:
        raise UserError(too_few("training", training.rows, data))
    for part, each in seen.items():
        if not data.preprocess:
            spot = each.columns[0].first_blank
            if spot is not None:
                raise UserError(
                    f"{spot.file}, row {spot.row}, column 1: there is no target "
                    "(--preprocess drops such rows)."
                )
            continue
        file = shown(data.files[part][0])
        if each.untargeted:
            LOG.warning(
                "%d of %d rows of %s are dropped: they have no target.", each.untargeted, each.rows, file
            )
        if each.sparse:
            text = "%d of %d rows of %s are dropped: more than 10 %% of their columns are blank."
            LOG.warning(text, each.sparse, each.rows, file)
        if each.untargeted + each.sparse == each.rows:
            empty = [
                str(place + 1) for place, column in enumerate(each.columns) if column.blanks == each.rows
            ]
            which = f" Column {', '.join(empty[:20])} has no value in any row: remove it." if empty else ""
            raise UserError(
                f"{file}: no row is left: {each.untargeted} have no target, "
                f"{each.sparse} have more than 10 % of their columns blank.{which}"
            )


def check_targets(seen: dict[str, Scan], labels: tuple[str, ...] | None, data: Given) -> None:
    """@raises UserError: without --preprocess, a class that is not in the training part."""
    training = seen["training"].columns[0]
    if labels is None:
        if training.low == training.high:
            LOG.warning("The target is %g in every row: there is nothing to learn.", training.low)
        return
    for part, each in seen.items():
        for text, value in each.columns[0].values.items():
            if text not in labels and not data.preprocess:
                raise UserError(
                    f"{value.first.file}, row {value.first.row}, column 1: "
                    f"the class {clipped(text)} of the {part} data "
                    "is not in the training data (--preprocess drops such rows)."
                )


def log_sources(sources: tuple[Source, ...], labels: tuple[str, ...] | None) -> None:
    used = [each for each in sources if each.kind in ("numeric", "categorical")]
    if not used:
        raise UserError(
            "No column is left to learn from: all are keys (distinct whole numbers) or blank. "
            "Write 1.0 for 1 where a number is no key."
        )
    numeric = sum(each.kind == "numeric" for each in used)
    LOG.info("Features: %d numeric, %d categorical.", numeric, len(used) - numeric)
    for kind, text in (
        ("key", "hold a different whole number in each row: keys"),
        ("empty", "have no value in the training part"),
    ):
        dropped = [str(each.place + 1) for each in sources if each.kind == kind]
        if dropped:
            more = f" and {len(dropped) - 20} more" if len(dropped) > 20 else ""
            LOG.warning("Not used, because they %s: column %s%s.", text, ", ".join(dropped[:20]), more)
    if labels is not None:
        LOG.info(
            "%d classes: %s", len(labels), ", ".join(labels[:20]) + (", ..." if len(labels) > 20 else "")
        )


def too_few(part: str, rows: int, data: Given) -> str:
    return (
        f"The {part} part has no row: {rows} rows are too few for the shares {data.validation_split:g} and "
        f"{data.test_split:g} of validation and test. Use more data, other shares, or a file for each part."
    )


def complain_of_parts(table: Table, data: Given) -> None:
    """@raises UserError: a part has no row."""
    for part, each in table.parts.items():
        if not each.rows:
            raise UserError(too_few(part, sum(other.rows for other in table.parts.values()), data))
