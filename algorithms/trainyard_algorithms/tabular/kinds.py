"""The rules about columns, labels and rows: values in, values out.

Documented by the original: what is an instance key, categorical, numeric; the split's bounds; the 10 %.
Ours, where its pages are silent: the named limits below.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from trainyard_algorithms.failure import UserError

CATEGORY_VALUES = 20  # a column of whole numbers with at most so many distinct ones is categorical,
CATEGORY_SHARE = 0.05  # if they are at most this share of the rows
VOCABULARY_VALUES = 1000  # distinct values of a column that are remembered; with more it is hashed
REMEMBERED_VALUES = (
    1 << 20
)  # of all columns together: a table of more than 1,048 columns remembers fewer of each
VOCABULARY_BYTES = 1 << 20  # of a column's remembered values together
HASH_BUCKETS = 1000
ONE_HOT_VALUES = 100  # XGBoost: a column with more has one column, of buckets
KEY_VALUES = 1 << 20  # of a column that may be a key, held to find a repetition; of all columns together:
KEY_VALUES_ALL = 1 << 24
BLANK_SHARE = 0.10  # rows with a larger share of blanks are dropped (documented)
SPLIT_SEED = 1
SPLIT_MAX = 0.40  # of validation and test together (documented)
CLASSES_MAX = 1000
FRACTIONAL_CLASSES_MAX = 20  # of targets that are numbers with a fraction
FLOAT32_MAX = 3.4028234e38
# A blank is nothing, spaces, or NaN: what numpy and pandas write for a missing number.
BLANKS = [" " * count for count in range(17)] + ["nan", "NaN", "NAN", "Nan", "-nan", "-NaN"]
NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
INFINITE = re.compile(r"[ \t]*[+-]?inf(inity)?[ \t]*", re.IGNORECASE)
NUMBER_OR_INFINITE = re.compile(f"{NUMBER.pattern}|{INFINITE.pattern}", re.ASCII | re.IGNORECASE)
INTEGER = re.compile(r"[ \t]*[+-]?\d+[ \t]*", re.ASCII)


def number_of(text: str) -> float | None:
    """The number that a value is, perhaps infinite; None: it is none."""
    return float(text) if NUMBER_OR_INFINITE.fullmatch(text) else None


def kind_of(numbers: bool, integers: bool, distinct: int | None, rows: int, key: bool) -> str:
    """'key', 'categorical' or 'numeric'.

    @param numbers   every value that is not blank is a number
    @param integers  and is written without a point
    @param distinct  how many distinct values; None: more than are remembered
    @param key       no value is blank, none appears twice
    """
    if not numbers:
        return "categorical"
    if integers and key:
        return "key"
    few = distinct is not None and distinct <= min(CATEGORY_VALUES, CATEGORY_SHARE * rows)
    return "categorical" if integers and few else "numeric"


def labels_of(texts: Sequence[str], of_file: str) -> tuple[str, ...]:
    """Labels in the order of their classes: by number if all are numbers, else by text. Three or more whole
    numbers of which the smallest is 0 and the largest below twice their count keep their number: gaps become
    labels too. Two are two classes, whatever the numbers.

    @raises UserError: there are too few or too many."""
    if len(texts) < 2:
        only = f" (all are {texts[0]!r})" if texts else ""
        raise UserError(f"{of_file}, column 1: classification needs two different targets{only}.")
    numbers = [number_of(each) for each in texts]
    known = [each for each in numbers if each is not None]
    if len(known) < len(texts):
        return tuple(sorted(texts))
    fractional = any(not math.isfinite(each) or each != int(each) for each in known)
    if fractional and len(texts) > FRACTIONAL_CLASSES_MAX:
        raise UserError(too_many(of_file, f"{len(texts)} different numbers with fractions"))
    ordered = tuple(sorted(texts, key=lambda each: (float(each), each)))
    plain = [each for each in ordered if re.fullmatch(r"0|[1-9]\d{0,8}", each)]
    if len(plain) == len(ordered) > 2 and int(plain[-1]) < min(2 * len(plain), CLASSES_MAX):
        return tuple(str(each) for each in range(int(plain[-1]) + 1)) if plain[0] == "0" else ordered
    return ordered


def too_many(of_file: str, what: str) -> str:
    return (
        f"{of_file}, column 1: the target has {what}, which are too many classes; "
        "is this a regression (--model_type=regression, or an objective such as reg:squarederror)?"
    )


def looks_like_header(first: Sequence[str], numeric_below: Sequence[bool]) -> bool:
    """Whether a file's first row names its columns: no value of it is a number or blank, and there is a
    column whose values below are numbers."""
    return any(numeric_below) and all(
        each.strip() and each not in BLANKS and number_of(each) is None for each in first
    )


class Split:
    """Which part each row of the training data is in: one draw per row, in the rows' order, from numpy's
    Philox. The same for each reading, whatever the blocks."""

    def __init__(self, validation: float, test: float) -> None:
        """Shares of the rows. @raises UserError: they are out of bounds."""
        if min(validation, test) < 0 or validation + test > SPLIT_MAX + 1e-9:
            raise UserError(
                f"--validation_split={validation:g} and --test_split={test:g}: "
                f"none may be below 0, and together they may be at most {SPLIT_MAX:.2f}."
            )
        self.validation, self.test = validation, test
        self.draws = np.random.Generator(np.random.Philox(SPLIT_SEED))

    def next(self, rows: int) -> np.ndarray:
        """For each of the next rows 0 (training), 1 (validation) or 2 (test)."""
        if not self.validation + self.test:
            return np.zeros(rows, np.uint8)
        draw = self.draws.random(rows)
        return (draw < self.validation).astype(np.uint8) + 2 * (
            (draw >= self.validation) & (draw < self.validation + self.test)
        ).astype(np.uint8)


class KeyCheck:
    """Whether a column's whole numbers are all distinct. Exact while they rise, and for the first `limit`
    of them; beyond, repetitions within a block are found."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.distinct = True
        self.rising = True
        self.last: int | None = None
        self.held: list[np.ndarray] = []
        self.count = 0

    def add(self, values: np.ndarray) -> None:
        if not self.distinct or not len(values):
            return
        rises = bool(np.all(values[1:] > values[:-1])) and (self.last is None or int(values[0]) > self.last)
        self.rising &= rises
        self.last = int(values[-1])
        if not rises and len(np.unique(values)) < len(values):
            self.distinct, self.held = False, []
        elif self.count < self.limit:
            self.held.append(values[: self.limit - self.count].copy())
            self.count += len(self.held[-1])
            if not self.rising and len(self.held) == 2:
                self.finish()

    def finish(self) -> bool:
        """Whether no repetition was seen."""
        if self.distinct and not self.rising and self.held:
            values = np.concatenate(self.held)
            self.distinct = len(np.unique(values)) == len(values)
        return self.distinct
