"""What becomes of each column of the user's files."""

import logging
from dataclasses import dataclass

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.tabular.kinds import HASH_BUCKETS, ONE_HOT_VALUES, kind_of
from trainyard_algorithms.tabular.scan import Scan
from trainyard_algorithms.tabular.statistics import Spot, Statistics
from trainyard_algorithms.tabular.table import Column

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """A column of the user's files, not the target."""

    place: int  # from 0; the target is 0
    kind: str  # 'numeric', 'categorical', 'key', 'empty' (no value in the training part)
    mean: float = 0.0
    vocabulary: tuple[str, ...] = ()
    buckets: int = 0
    filled: bool = False  # blanks were seen, in any part

    @property
    def name(self) -> str:
        return f"column_{self.place + 1}"


def sources(training: Scan, preprocess: bool, numeric: bool, file: str) -> tuple[Source, ...]:
    """@raises UserError: a number is infinite, or a column is text that must be numbers"""
    return tuple(
        source(place, each, training.rows, preprocess, numeric, file)
        for place, each in enumerate(training.columns)
        if place
    )


def source(place: int, seen: Statistics, rows: int, preprocess: bool, numeric: bool, file: str) -> Source:
    kind = kind_in(seen, rows)
    if not preprocess:
        if numeric and kind == "categorical" and seen.text_spot() is None:
            kind = "numeric"
        if kind == "key":
            LOG.warning(
                "Column %d has a different whole number in each row: a key? --preprocess drops such.",
                place + 1,
            )
            kind = "numeric"
    if kind == "numeric":
        refuse_infinite(seen.first_infinite, place)
        empty = not seen.present and preprocess
        return Source(place, "empty" if empty else "numeric", seen.mean, filled=bool(seen.blanks))
    if kind == "key":
        return Source(place, "key")
    if numeric and not preprocess:
        spot = seen.text_spot()
        text = (
            f"{spot.file}, row {spot.row}, column {place + 1}: {spot.text[:60]!r} is no number"
            if spot
            else file
        )
        raise UserError(f"{text}; XGBoost learns from numbers: use --preprocess, or write numbers.")
    if seen.state == "text":
        return Source(place, "categorical", buckets=HASH_BUCKETS)
    vocabulary = tuple(sorted(text for text, each in seen.values.items() if each.training))
    if not vocabulary and preprocess:
        return Source(place, "empty")
    if numeric and len(vocabulary) > ONE_HOT_VALUES:
        return Source(place, "categorical", buckets=HASH_BUCKETS)
    return Source(place, "categorical", vocabulary=vocabulary)


def keys(training: Scan) -> frozenset[int]:
    """The places of the columns that are keys."""
    return frozenset(
        place
        for place, each in enumerate(training.columns)
        if place and kind_in(each, training.rows) == "key"
    )


def kind_in(seen: Statistics, rows: int) -> str:
    """kind_of() for what was seen. A column without any value is numeric."""
    numbers = seen.state != "text" and seen.text_spot() is None
    integers = seen.state == "int" or (seen.state == "small" and seen.integers())
    distinct = len(seen.values) if seen.state == "small" else None
    if not seen.values and seen.state == "small":
        return "numeric"
    return kind_of(numbers, integers, distinct, rows, seen.is_key)


def refuse_infinite(spot: Spot | None, place: int) -> None:
    if spot is not None:
        what = f" ({spot.text.strip()[:60]})" if spot.text else ""
        raise UserError(
            f"{spot.file}, row {spot.row}, column {place + 1}: "
            f"the number is infinite, or too large for a float32{what}. Leave it blank, or write a number."
        )


def check_parts(columns: tuple[Source, ...], seen: dict[str, Scan], preprocess: bool, numeric: bool) -> None:
    """Whether the other parts' columns are what the training data's are, and whether blanks are allowed.

    @raises UserError: naming file, row and column
    """
    for part, each in seen.items():
        for column in columns:
            statistics = each.columns[column.place]
            if column.kind != "numeric":
                continue
            spot = statistics.text_spot()
            if spot is not None:
                raise UserError(
                    f"{spot.file}, row {spot.row}, column {column.place + 1}: "
                    f"{spot.text[:60]!r} is no number, while the training data have numbers in this column."
                )
            refuse_infinite(statistics.first_infinite, column.place)
            spot = statistics.first_blank
            if spot is not None and not preprocess and not numeric:
                every = " every value is blank:" if statistics.blanks == each.rows else " the value is blank:"
                raise UserError(
                    f"{spot.file}, row {spot.row}, column {column.place + 1}:{every} "
                    "use --preprocess, which fills in the mean, or fill it in."
                )
            if statistics.blanks == each.rows and not preprocess:
                LOG.warning("Column %d of the %s data has no value in any row.", column.place + 1, part)


def columns_as_given(columns: tuple[Source, ...]) -> tuple[Column, ...]:
    """The features of the user's own files."""
    return tuple(
        Column(each.place, each.name, each.kind, each.mean, each.vocabulary, each.buckets) for each in columns
    )


def columns_written(columns: tuple[Source, ...], numeric: bool) -> tuple[Column, ...]:
    """The features of processed_data/: without keys; for XGBoost one-hot, or a bucket's number."""
    made: list[Column] = []
    for each in columns:
        if each.kind not in ("numeric", "categorical"):
            continue
        if each.kind == "numeric" or not numeric:
            made.append(Column(len(made) + 1, each.name, each.kind, each.mean, each.vocabulary, each.buckets))
        elif each.buckets:
            made.append(Column(len(made) + 1, f"{each.name}_bucket", "numeric"))
        else:
            for value in each.vocabulary:
                made.append(Column(len(made) + 1, f"{each.name}={value}", "numeric"))
    return tuple(made)
