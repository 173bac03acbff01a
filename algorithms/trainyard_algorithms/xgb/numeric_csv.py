"""CSV files of numbers, the target first: what XGBoost reads without preprocessing. A blank is missing.

Streaming: memory is a few blocks, whatever the files' size. A row is counted from 1, without empty lines.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from trainyard_algorithms.failure import UserError, leave_if_told
from trainyard_algorithms.paths import shown
from trainyard_algorithms.tabular.kinds import BLANKS

Chunk = tuple[np.ndarray, np.ndarray]  #: features float32 [rows, columns], target float32 [rows]
Start = Callable[[], Iterator[Chunk]]  #: reads a part from its start

HELD_BYTES = 256 << 20  #: data of one part that are kept in memory rather than read again
_BLOCK_BYTES = 8 << 20
_ROW_CHARS_MAX = 16 << 20  # then a quote is not closed, or this is another kind of file
_SHOWN_MAX = 40  # characters of a value in a message
csv.field_size_limit(sys.maxsize)  # _rows() has a limit of its own


@dataclass(frozen=True)
class Deal:
    """Which rows are this replica's: every `of`-th from `first`, counted over all files; (0, 1): all."""

    first: int = 0
    of: int = 1


ALL = Deal()


def width(files: Sequence[Path]) -> int:
    """Columns of the first file that has a row, with the target.

    UserError: all files are empty, there is only one column, or the row's quotes are wrong.
    """
    found = width_if_any(files)
    if found is None:
        raise UserError(f"{_names(files)}: there is no row.")
    return found


def width_if_any(files: Sequence[Path]) -> int | None:
    """width(); None: all files are empty."""
    for path in files:
        row = next((values for _, values in _rows(path)), None)
        if row is not None and len(row) < 2:
            raise UserError(
                f"{shown(path)}, row 1: there is one column; the first is the target, the rest are features."
            )
        if row is not None:
            return len(row)
    return None


def chunks(files: Sequence[Path], columns: int, deal: Deal = ALL) -> Iterator[Chunk]:
    """The files' rows, in order. `columns`: width() of all files of the job.

    UserError: a row with another number of values, a value that is no number or is infinite as a float32, a
    target that is blank; each names file, row and column.
    """
    seen = 0
    for path in files:
        row = 1
        for batch in _batches(path, columns):
            features, target = _checked(path, batch, row)
            row += len(target)
            skip = (deal.first - seen) % deal.of
            seen += len(target)
            if deal.of > 1:
                # Copies: a view would keep the whole block, the other replicas' rows too.
                features, target = features[skip :: deal.of].copy(), target[skip :: deal.of].copy()
            if len(target):
                yield features, target


def looked_at(start: Start, look: Callable[[np.ndarray, np.ndarray], None]) -> Start:
    """Calls `look` with each block's features and target, once. What to read from then on: the blocks
    themselves if they take little memory, else the files again."""
    blocks: list[Chunk] = []
    size = 0
    for features, target in start():
        leave_if_told()
        look(features, target)
        size += features.nbytes + target.nbytes
        if size <= HELD_BYTES:
            blocks.append((features, target))
        else:
            blocks.clear()
    return start if size > HELD_BYTES else lambda: iter(blocks)


def _batches(path: Path, columns: int) -> Iterator[pa.RecordBatch]:
    names = [str(index) for index in range(columns)]
    read = pyarrow.csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES)
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.float32()), null_values=BLANKS, quoted_strings_can_be_null=True
    )
    if _is_empty(path):
        return
    try:
        yield from pyarrow.csv.open_csv(path, read_options=read, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise UserError(_explain(path, columns) or f"{shown(path)}: {str(error).splitlines()[0]}.") from error


def _is_empty(path: Path) -> bool:
    with path.open("rb") as file:
        return not file.read(1 << 16).strip(b"\r\n\xef\xbb\xbf") and path.stat().st_size <= 1 << 16


def _checked(path: Path, batch: pa.RecordBatch, row: int) -> Chunk:
    """A batch as arrays; `row`: of the file, its first one."""
    values = np.empty((batch.num_rows, batch.num_columns), np.float32)
    for index, column in enumerate(batch.columns):
        values[:, index] = column.to_numpy(zero_copy_only=False)
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        at, column = (int(each) for each in infinite[0])
        raise UserError(
            f"{shown(path)}, row {row + at}, column {column + 1}: "
            "the value is infinite or too large (float32)."
        )
    blank = np.flatnonzero(np.isnan(values[:, 0]))
    if len(blank):
        raise UserError(f"{shown(path)}, row {row + int(blank[0])}, column 1: the target is blank.")
    return values[:, 1:], values[:, 0]


def _explain(path: Path, columns: int) -> str | None:
    """Slowly: the first row that is wrong, and how."""
    for row, values in _rows(path):
        if len(values) != columns:
            there = "is 1 value" if len(values) == 1 else f"are {len(values)} values"
            return f"{shown(path)}, row {row}: there {there} where the first row has {columns}."
        for column, text in enumerate(values, 1):
            if not _is_number(text):
                header = " The files have no header row." if row == 1 else ""
                cell = text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "..."
                return f"{shown(path)}, row {row}, column {column}: {cell!r} is not a number.{header}"
    return None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each row's number and values, slowly. UserError: a row is no CSV, or endless."""
    row, length = 1, 0

    def lines() -> Iterator[str]:
        nonlocal length
        while line := file.readline(_ROW_CHARS_MAX + 1):
            length += len(line)
            if length > _ROW_CHARS_MAX:
                raise csv.Error(f"the row is longer than {_ROW_CHARS_MAX >> 20} MiB")
            yield line

    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        try:
            for values in csv.reader(lines(), strict=True):
                length = 0
                if values:
                    yield row, values
                    row += 1
        except csv.Error as error:
            raise UserError(f"{shown(path)}, row {row}: is a quote not closed? ({error})") from error


def _is_number(text: str) -> bool:
    """Whether pyarrow reads it, as a number or as a blank."""
    if text in BLANKS:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _names(files: Sequence[Path]) -> str:
    return ", ".join(shown(path) for path in files[:3]) + (", ..." if len(files) > 3 else "")
