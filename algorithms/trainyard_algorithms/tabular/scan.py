"""The first reading of CSV files: what each column has, row by row checked. Memory: some blocks."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from trainyard_algorithms.failure import UserError, leave_if_told
from trainyard_algorithms.paths import shown
from trainyard_algorithms.tabular import records
from trainyard_algorithms.tabular.kinds import (
    BLANK_SHARE,
    BLANKS,
    CATEGORY_VALUES,
    KEY_VALUES,
    KEY_VALUES_ALL,
    REMEMBERED_VALUES,
    VOCABULARY_VALUES,
    looks_like_header,
    number_of,
)
from trainyard_algorithms.tabular.records import Records
from trainyard_algorithms.tabular.statistics import Seen, Statistics, blanks_of

TYPES = {
    "small": pa.dictionary(pa.int32(), pa.string()),
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "float32": pa.float32(),
}
HEADER_BYTES = 1 << 18  # looked at to find a header


@dataclass(frozen=True)
class BlockSeen:
    """What the second reading need not find again."""

    rows: int
    clean: bool  # no value is blank, but perhaps a key's


@dataclass
class Scan:
    """What was seen in files."""

    columns: list[Statistics]
    rows: int = 0
    training: int = 0  # rows of the training part that are kept
    sparse: int = 0  # rows dropped because of blanks
    untargeted: int = 0  # rows dropped that have no target
    blocks: list[list[BlockSeen]] = field(default_factory=list)  # of each file


class NotNumbers(Exception):
    """A column of a block is not of the type that it was read as."""


def block_bytes(columns: int) -> int:
    return records.BLOCK_BYTES if columns < records.WIDE_COLUMNS else records.WIDE_BLOCK_BYTES


def names_of(columns: int) -> list[str]:
    return [str(each) for each in range(columns)]


def read(data: bytes, source: Records, columns: int, types: dict[str, pa.DataType]) -> list[pa.Array]:
    """Columns of whole records: those that `types` names, by their numbers, as these types.

    @param data  not empty lines only
    @raises NotNumbers; UserError: naming file and row
    """
    threads = pa.cpu_count() > 1
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(pa.py_buffer(data)),
            pa.csv.ReadOptions(use_threads=threads, block_size=len(data) + 1, column_names=names_of(columns)),
            pa.csv.ParseOptions(newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=types, include_columns=list(types), strings_can_be_null=True, null_values=BLANKS
            ),
        )
    except pa.ArrowInvalid as error:
        if re.search(r"conversion error to (int|double|float)", str(error)):
            raise NotNumbers from error
        found = records.explain(data, columns)
        if found is None:
            raise UserError(f"{source.name}, row {source.row} or later: {error}") from error
        raise UserError(f"{source.name}, row {source.row + found[0]}: {found[1]}.") from error
    # A dictionary of one block is one chunk.
    return [each.chunk(0) if each.num_chunks == 1 else each.combine_chunks() for each in table.columns]


def read_states(data: bytes, source: Records, states: Sequence[str]) -> list[pa.Array]:
    """Each column as its state says; numbers as dictionaries of texts if some column's are none."""
    types = {str(place): TYPES[state] for place, state in enumerate(states)}
    try:
        return read(data, source, len(states), types)
    except NotNumbers:
        texts = {
            name: TYPES["small"] if kind in (TYPES["int"], TYPES["float"]) else kind
            for name, kind in types.items()
        }
        return read(data, source, len(states), texts)


def width(path: Path, name: str) -> int:
    """How many values a file's first row has. @raises UserError: the file is not fit; 0: it is empty."""
    source = Records(path, name, HEADER_BYTES)
    first = next(source.blocks(), b"")
    record = records.first_record(first)
    if len(record) == 1:
        other = next((each for each in (";", "\t", "|") if each in record[0]), None)
        hint = f" Values are separated by commas, not by {other!r}." if other else ""
        raise UserError(f"{name}, row 1: there is only one column, the target.{hint}")
    check_header(first, record, name)
    return len(record)


def check_header(data: bytes, first: list[str], name: str) -> None:
    """@raises UserError: the first row looks like a header."""
    import csv
    import io

    rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
    below = [each for each in rows if each][1:]
    numeric = [False] * len(first)
    if below and all(number_of(each) is None for each in first):
        for place in range(len(first)):
            values = [each[place] for each in below if place < len(each) and each[place] not in BLANKS]
            numeric[place] = bool(values) and all(number_of(each) is not None for each in values)
    if looks_like_header(first, numeric):
        names = ", ".join(first[:5]) + (", ..." if len(first) > 5 else "")
        raise UserError(
            f"{name}, row 1 looks like a header ({names}): remove it; the data begin in the first row."
        )


def keep_rows(columns: Sequence[pa.Array], total: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Which rows are kept, lack a target, are too sparse (documented: more than 10 % of the columns blank).
    None: no value is blank.

    @param columns  without keys
    @param total  how many columns the user's file has
    """
    if not any(each.null_count for each in columns):
        return None
    blanks = np.zeros(len(columns[0]), np.int32)
    for each in columns:
        blank = blanks_of(each)
        if blank is not None:
            blanks += blank
    target = blanks_of(columns[0])
    untargeted = np.zeros(len(blanks), bool) if target is None else target
    sparse = (blanks > BLANK_SHARE * total) & ~untargeted
    return ~(untargeted | sparse), untargeted, sparse


def scan(
    paths: Sequence[Path],
    columns: int,
    drop: bool,
    parts: Callable[[int], np.ndarray],
    check: Callable[[Scan], None],
    keys: Collection[int] = (),
) -> Scan:
    """Reads files of `columns` columns.

    @param drop   rows are dropped (--preprocess)
    @param parts  the parts of the next N rows; 0: training
    @param check  called after each block: raises UserError where reading on is useless
    @param keys   columns that are known to be keys: their blanks are no reason to drop a row
    @raises UserError: a file is not fit, naming file and row
    """
    limit = min(KEY_VALUES, KEY_VALUES_ALL // columns)
    values = min(VOCABULARY_VALUES, max(CATEGORY_VALUES, REMEMBERED_VALUES // columns))
    seen = Scan([Statistics(limit, values if place else VOCABULARY_VALUES) for place in range(columns)])
    for path in paths:
        source = Records(path, shown(path), block_bytes(columns))
        seen.blocks.append([])
        for data in source.blocks():
            leave_if_told()
            scan_block(data, source, seen, drop, parts, keys)
            check(seen)
    for each in seen.columns:
        each.finish()
    check(seen)
    return seen


def scan_block(
    data: bytes,
    source: Records,
    seen: Scan,
    drop: bool,
    parts: Callable[[int], np.ndarray],
    keys: Collection[int],
) -> None:
    arrays = read_states(data, source, [each.state for each in seen.columns])
    rows = len(arrays[0])
    training = parts(rows) == 0
    kept = keep_rows([each for place, each in enumerate(arrays) if place not in keys], len(arrays))
    if kept is not None and drop:
        training &= kept[0]
        seen.untargeted += int(np.count_nonzero(kept[1]))
        seen.sparse += int(np.count_nonzero(kept[2]))
    seen.training += int(np.count_nonzero(training))
    block = Seen(source.name, source.row, training)
    for statistics, array in zip(seen.columns, arrays):
        blank = blanks_of(array)
        if blank is not None:
            statistics.add_blanks(blank, block)
        statistics.add(array, block)
    seen.blocks[-1].append(BlockSeen(rows, kept is None))
    seen.rows += rows
    source.row += rows
