"""A table's parts as arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.paths import shown
from trainyard_algorithms.tabular.hashing import buckets_of, hash_bucket
from trainyard_algorithms.tabular.records import Records
from trainyard_algorithms.tabular.scan import TYPES, NotNumbers, block_bytes, read
from trainyard_algorithms.tabular.statistics import codes_of
from trainyard_algorithms.tabular.table import Column, Part, Table

__all__ = ["Batch", "Column", "Part", "Table", "batches", "hash_bucket", "ids", "matrix"]
HELD_BYTES = 256 << 20  # a part that needs less is read once; of a larger one so much is shuffled at a time


@dataclass
class Batch:
    """Rows of a part. `numeric` and `categorical` have the table's columns of that kind, in order."""

    numeric: np.ndarray  # float32; NaN: blank
    categorical: np.ndarray  # int32; 0: blank or unknown, then 1 + place in the vocabulary, or 1 + bucket
    target: np.ndarray  # int32 class, or float32

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: np.ndarray | slice) -> "Batch":
        return Batch(self.numeric[rows], self.categorical[rows], self.target[rows])


def joined(parts: Sequence[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    return Batch(
        np.concatenate([each.numeric for each in parts]),
        np.concatenate([each.categorical for each in parts]),
        np.concatenate([each.target for each in parts]),
    )


def ids(column: Column, values: Sequence[str]) -> np.ndarray:
    """int32: 0 for blank or unknown, then 1 + place in the vocabulary, or 1 + bucket."""
    if column.buckets:
        made = buckets_of(values, column.buckets).astype(np.int32) + np.int32(1)
        made[[not each for each in values]] = 0
        return made
    place = {text: number for number, text in enumerate(column.vocabulary, 1)}
    return np.array([place.get(each, 0) for each in values], np.int32)


def bytes_per_row(table: Table) -> int:
    return 4 * (len(table.columns) + 1)


def blocks(table: Table, part: str) -> Iterator[Batch]:
    """The part in its order, in pieces of a file's blocks."""
    width = table.width or 1 + max((each.index for each in table.columns), default=0)
    if not table.width and not table.target_numbers:
        width = max(width, given_width(table, part))
    places = [each.index for each in table.columns]
    types = {
        str(each.index): TYPES["float32" if each.kind == "numeric" else "small"] for each in table.columns
    }
    classes = table.labels is not None and not table.target_numbers
    types = {"0": TYPES["small" if classes else "float32"], **types}
    for path in table.parts[part].files:
        source = Records(path, shown(path), block_bytes(width))
        for data in source.blocks():
            try:
                arrays = dict(zip(map(int, types), read(data, source, width, types)))
            except NotNumbers as error:
                raise UserError(f"{source.name}, row {source.row} or later: {error.__cause__}") from error
            batch = batch_of(table, arrays[0], [arrays[each] for each in places])
            source.row += len(batch)
            if len(batch):
                yield batch


def given_width(table: Table, part: str) -> int:
    """How many columns the part's files have."""
    from trainyard_algorithms.tabular.scan import width

    return max(width(path, shown(path)) for path in table.parts[part].files)


def batch_of(table: Table, target: pa.Array, arrays: Sequence[pa.Array]) -> Batch:
    rows = len(target)
    kinds = [each.kind for each in table.columns]
    numeric = np.empty((rows, kinds.count("numeric")), np.float32)
    categorical = np.empty((rows, kinds.count("categorical")), np.int32)
    places = {"numeric": 0, "categorical": 0}
    for column, array in zip(table.columns, arrays):
        place = places[column.kind]
        places[column.kind] += 1
        if column.kind == "numeric":
            numeric[:, place] = floats(array)
        else:
            categorical[:, place] = mapped(array, ids(column, array.dictionary.to_pylist()), 0)
    return Batch(numeric, categorical, target_of(table, target))


def floats(array: pa.Array) -> np.ndarray:
    """float32; NaN: blank."""
    result: np.ndarray = array.to_numpy(zero_copy_only=False)
    return result.astype(np.float32, copy=False)


def mapped(array: pa.DictionaryArray, values: np.ndarray, blank: int) -> np.ndarray:
    result: np.ndarray = np.append(values, np.int32(blank))[codes_of(array)]
    return result


def target_of(table: Table, array: pa.Array) -> np.ndarray:
    if table.labels is None:
        return floats(array)
    if table.target_numbers:
        return floats(array).astype(np.int32)
    place = {text: number for number, text in enumerate(table.labels)}
    return mapped(
        array, np.array([place.get(each, -1) for each in array.dictionary.to_pylist()], np.int32), -1
    )


def batches(
    table: Table, part: str, rows: int, *, shuffle_seed: int | None = None, repeat: bool = False
) -> Iterator[Batch]:
    """Batches of `rows` rows of a part, streaming; the last one of a reading may be smaller unless
    `repeat`.

    @param shuffle_seed None: in the part's order. Else a part of up to 256 MiB (4 bytes a value) is
        shuffled as a whole, anew for each reading; of a larger one that much at a time.
    @param repeat  without end; a batch may then hold the end of one reading and the start of the next"""
    held: Batch | None = None
    fits = table.parts[part].rows * bytes_per_row(table) <= HELD_BYTES
    window = table.parts[part].rows + 1 if fits else max(rows, HELD_BYTES // bytes_per_row(table))
    rest: list[Batch] = []
    reading = 0
    while True:
        if fits and held is None:
            every = list(blocks(table, part))
            held = joined(every) if every else None
            if held is None:
                return
        pieces = iter([held]) if held is not None else windows(blocks(table, part), window, shuffle_seed)
        seed = None if shuffle_seed is None else np.random.SeedSequence([shuffle_seed, reading])
        draws = None if seed is None else np.random.Generator(np.random.Philox(seed))
        for piece in pieces:
            order = draws.permutation(len(piece)) if draws is not None else np.arange(len(piece))
            begin = 0
            while begin < len(piece):
                wanted = rows - sum(map(len, rest))
                rest.append(piece.take(order[begin : begin + wanted]))
                begin += wanted
                if sum(map(len, rest)) == rows:
                    yield joined(rest)
                    rest = []
        if not repeat:
            if rest:
                yield joined(rest)
            return
        reading += 1


def windows(pieces: Iterator[Batch], rows: int, shuffle_seed: int | None) -> Iterator[Batch]:
    """Pieces of about `rows` rows, to be shuffled each; the pieces themselves if they are not."""
    if shuffle_seed is None:
        yield from pieces
        return
    gathered: list[Batch] = []
    for piece in pieces:
        gathered.append(piece)
        if sum(map(len, gathered)) >= rows:
            yield joined(gathered)
            gathered = []
    if gathered:
        yield joined(gathered)


def matrix(table: Table, part: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a part in memory, in order: float32 features in the table's order (a categorical one as
    its id), dense; NaN: blank; and the target."""
    rows = table.parts[part].rows
    features = np.empty((rows, len(table.columns)), np.float32)
    target = np.empty(rows, np.float32 if table.labels is None else np.int32)
    numeric = [place for place, each in enumerate(table.columns) if each.kind == "numeric"]
    categorical = [place for place, each in enumerate(table.columns) if each.kind == "categorical"]
    begin = 0
    for batch in blocks(table, part):
        end = begin + len(batch)
        features[begin:end, numeric] = batch.numeric
        features[begin:end, categorical] = batch.categorical
        target[begin:end] = batch.target
        begin = end
    return features[:begin], target[:begin]
