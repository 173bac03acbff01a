"""What is known of one column after some blocks: its values as long as they are few, else sums."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainyard_algorithms.tabular.kinds import (
    FLOAT32_MAX,
    INTEGER,
    NUMBER_OR_INFINITE,
    VOCABULARY_BYTES,
    VOCABULARY_VALUES,
    KeyCheck,
    number_of,
)

INT64_MAX = 2**63 - 1
SAMPLE = 100  # values of a block that are looked at before all are converted


@dataclass(frozen=True, slots=True)
class Spot:
    """A value, and where it was first seen."""

    file: str
    row: int  # of the file, from 1
    text: str = ""


@dataclass(slots=True)
class Value:
    """A distinct value."""

    first: Spot
    rows: int = 0
    training: int = 0  # rows of the training part that are kept


@dataclass
class Seen:
    """A block's rows, as far as a column's statistics need them."""

    file: str
    row: int  # its first one
    training: np.ndarray  # bool: the row is in the training part and kept

    def spot(self, place: int, text: str = "") -> Spot:
        return Spot(self.file, self.row + int(place), text)


@dataclass
class Statistics:
    """A column. `state` says how a block's values are read: 'small' (texts, each remembered), then 'int' or
    'float' if all are numbers, else 'text' (not remembered). It only moves in this order."""

    key_limit: int
    values_limit: int = VOCABULARY_VALUES
    state: str = "small"
    values: dict[str, Value] = field(default_factory=dict)  # while 'small'
    blanks: int = 0
    first_blank: Spot | None = None
    first_text: Spot | None = None  # of what is no number
    first_infinite: Spot | None = None
    total: float = 0.0  # of the training part
    present: int = 0
    low: float = np.inf
    high: float = -np.inf
    key: KeyCheck | None = None

    def add_blanks(self, blank: np.ndarray, seen: Seen) -> None:
        self.blanks += int(np.count_nonzero(blank))
        if self.first_blank is None:
            self.first_blank = seen.spot(int(np.argmax(blank)))

    def add(self, column: pa.Array, seen: Seen) -> None:
        """One block's values, as read for `state`, or as dictionary if they are not numbers of that state."""
        if isinstance(column, pa.DictionaryArray):
            if self.state == "small" and not self.remember(column, seen):
                self.leave_small()
            if self.state in ("int", "float"):
                self.add_converted(column, seen)
            elif self.state == "text" and self.first_text is None:
                self.first_text = first_text(column, seen)
        elif self.state in ("int", "float"):
            self.add_numbers(column, seen)

    def remember(self, column: pa.DictionaryArray, seen: Seen) -> bool:
        """Counts each text. False: they would be too many, and nothing was counted."""
        if len(column.dictionary) > self.values_limit:
            return False
        texts = column.dictionary.to_pylist()
        new = [each for each in texts if each not in self.values]
        if new and (
            len(self.values) + len(new) > self.values_limit or self.bytes_with(new) > VOCABULARY_BYTES
        ):
            return False
        codes = codes_of(column)
        there = codes >= 0
        rows = np.bincount(codes[there], minlength=len(texts))
        training = np.bincount(codes[there & seen.training], minlength=len(texts))
        for code, text in enumerate(texts):
            if rows[code]:
                if text not in self.values:
                    self.values[text] = Value(seen.spot(int(np.argmax(codes == code)), text))
                self.values[text].rows += int(rows[code])
                self.values[text].training += int(training[code])
        return True

    def bytes_with(self, new: list[str]) -> int:
        return sum(map(len, self.values)) + sum(map(len, new))

    def leave_small(self) -> None:
        """Texts become sums, or are forgotten."""
        self.first_text = self.text_spot()
        if self.first_text is not None:
            self.state = "text"
        else:
            integers = self.integers()
            self.state = "int" if integers else "float"
            self.sum_values()
            if integers and all(each.rows == 1 for each in self.values.values()):
                self.key = KeyCheck(self.key_limit)
                self.key.add(np.array([int(each) for each in self.values], np.int64))
        self.values = {}

    def integers(self) -> bool:
        """While 'small': every value is a whole number without a point, of at most 64 bits."""
        return all(INTEGER.fullmatch(each) and abs(int(each)) <= INT64_MAX for each in self.values)

    def text_spot(self) -> Spot | None:
        """The first value that is no number."""
        if self.state != "small":
            return self.first_text
        return next((each.first for text, each in self.values.items() if number_of(text) is None), None)

    def sum_values(self) -> None:
        for text, value in self.values.items():
            number = number_of(text)
            assert number is not None
            if not abs(number) <= FLOAT32_MAX:
                self.first_infinite = self.first_infinite or value.first
            elif value.training:
                self.total += number * value.training
                self.present += value.training
            self.low, self.high = min(self.low, number), max(self.high, number)

    def finish(self) -> None:
        """After the last block: sums of a column of few numbers."""
        if self.state == "small" and self.text_spot() is None:
            self.sum_values()

    def add_converted(self, column: pa.DictionaryArray, seen: Seen) -> None:
        """Numbers that were read as texts; if some are none, the state moves on."""
        sample = column.dictionary.slice(0, SAMPLE).to_pylist()
        trimmed = pc.ascii_trim_whitespace(column.dictionary)
        kinds: list[tuple[str, Callable[[], pa.DataType]]] = [("int", pa.int64), ("float", pa.float64)]
        for state, kind in kinds[self.state == "float" :]:
            # A cast that fails is slow: it words an error for each value.
            if not all(
                (INTEGER if state == "int" else NUMBER_OR_INFINITE).fullmatch(each) for each in sample
            ):
                continue
            try:
                numbers = trimmed.cast(kind())
            except pa.ArrowInvalid:
                continue
            self.state = state
            self.add_numbers(numbers.take(column.indices), seen)
            return
        self.state, self.first_text, self.key = "text", first_text(column, seen), None

    def add_numbers(self, column: pa.Array, seen: Seen) -> None:
        blank = blanks_of(column)
        training = seen.training
        if blank is not None:
            column, training = column.fill_null(0), training & ~blank
        values = column.to_numpy(zero_copy_only=False)
        if self.state == "int" and self.key is not None:
            if blank is None:
                self.key.add(values)
            else:
                self.key = None
        elif self.state == "float":
            self.key = None
        real = values.astype(np.float64, copy=False)
        there = real if blank is None else real[~blank]
        low, high = float(there.min(initial=np.inf)), float(there.max(initial=-np.inf))
        if len(there) and not (abs(low) <= FLOAT32_MAX and abs(high) <= FLOAT32_MAX):
            if self.first_infinite is None:
                self.first_infinite = seen.spot(int(np.argmax(~(np.abs(real) <= FLOAT32_MAX))))
            return
        self.total += float(np.sum(real * training))
        self.present += int(np.count_nonzero(training))
        self.low, self.high = min(self.low, low), max(self.high, high)

    @property
    def is_key(self) -> bool:
        """No value is blank, none appears twice: of whole numbers."""
        if self.blanks:
            return False
        if self.state == "small":
            return len(self.values) > 1 and all(each.rows == 1 for each in self.values.values())
        return self.state == "int" and self.key is not None and self.key.finish()

    @property
    def mean(self) -> float:
        """Of the training part; 0 if it has no value."""
        return self.total / self.present if self.present else 0.0


def codes_of(column: pa.DictionaryArray) -> np.ndarray:
    """The place of each value in the dictionary; -1: blank."""
    codes: np.ndarray = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes


def blanks_of(column: pa.Array) -> np.ndarray | None:
    """Which values are blank; None: none is."""
    if not column.null_count:
        return None
    blank: np.ndarray = column.is_null().to_numpy(zero_copy_only=False)
    return blank


def first_text(column: pa.DictionaryArray, seen: Seen) -> Spot | None:
    """The first value of a block that is no number, by the order of the dictionary, which is that of the
    rows."""
    for code, text in enumerate(column.dictionary.to_pylist()):
        if number_of(text) is None:
            return seen.spot(int(np.argmax(codes_of(column) == code)), text)
    return None
