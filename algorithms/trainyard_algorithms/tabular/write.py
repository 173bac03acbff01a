"""The second reading: processed_data/. The same blocks as in the first; memory: some blocks."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainyard_algorithms.failure import leave_if_told
from trainyard_algorithms.paths import shown
from trainyard_algorithms.tabular import plan
from trainyard_algorithms.tabular.hashing import buckets_of
from trainyard_algorithms.tabular.kinds import Split
from trainyard_algorithms.tabular.plan import Source
from trainyard_algorithms.tabular.records import Records
from trainyard_algorithms.tabular.scan import TYPES, BlockSeen, Scan, block_bytes, keep_rows, read
from trainyard_algorithms.tabular.statistics import codes_of
from trainyard_algorithms.tabular.table import Part, Table

LOG = logging.getLogger(__name__)
PARTS = ("training", "validation", "test")
JOINED_BYTES = 256 << 20  # of lines made at a time


@dataclass
class Writer:
    """Turns the user's rows into those of processed_data/."""

    sources: tuple[Source, ...]
    columns: int  # of the user's files
    labels: tuple[str, ...] | None
    numeric: bool  # for XGBoost
    strangers: bool  # there are rows whose class is not a label
    out: dict[str, BinaryIO] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    foreign: int = 0  # rows dropped because of their class

    @property
    def target_numbers(self) -> bool:
        """The target is written as the label's number."""
        return self.numeric and self.labels is not None

    @property
    def as_is(self) -> bool:
        """A row without blanks is written as it is."""
        same = (
            self.labels is None
            or not self.target_numbers
            or self.labels == tuple(map(str, range(len(self.labels))))
        )
        plain = ("numeric",) if self.numeric else ("numeric", "categorical")
        return same and not self.strangers and all(each.kind in plain for each in self.sources)

    def block(self, data: bytes, source: Records, seen: BlockSeen, parts: np.ndarray) -> None:
        """Writes one block's rows, of which `parts` are the parts (0 training, 1 validation, 2 test)."""
        if seen.clean and self.as_is and b"\r" not in data:
            data = data if data.endswith(b"\n") else data + b"\n"
            lines = lines_of(data)
            if len(lines) == seen.rows:  # no line end inside a value, no empty line
                self.put(lines, parts, None)
                return
        arrays = self.texts(data, source)
        # Keys are left out of the reading, and were left out of the count of blanks.
        kept = None if seen.clean else keep_rows(arrays, self.columns)
        keep = None if kept is None else kept[0]
        known = self.known(arrays[0])
        if known is not None:
            keep_so_far = known if keep is None else keep & known
            self.foreign += int(np.count_nonzero(~known if keep is None else keep & ~known))
            keep = keep_so_far
        quotes = b'"' in data
        width = 16 * self.columns + sum(2 * len(each.vocabulary) for each in self.sources if self.numeric)
        step = max(1, JOINED_BYTES // width)
        for begin in range(0, seen.rows, step):
            lines = self.join([each.slice(begin, step) for each in arrays], quotes)
            self.put(lines, parts[begin : begin + step], None if keep is None else keep[begin : begin + step])

    def texts(self, data: bytes, source: Records) -> list[pa.Array]:
        """The target and the columns that are not keys: dictionaries where values are looked up, else
        texts."""
        looked_up = {0} if self.labels is not None else set()
        looked_up |= {each.place for each in self.sources if self.numeric and each.kind == "categorical"}
        keys = {each.place for each in self.sources if each.kind == "key"}
        types = {
            str(place): TYPES["small" if place in looked_up else "text"]
            for place in range(self.columns)
            if place not in keys
        }
        return read(data, source, self.columns, types)

    def known(self, target: pa.Array) -> np.ndarray | None:
        """Which rows' class is a label; None: all."""
        if self.labels is None or not self.strangers:
            return None
        labels = set(self.labels)
        known = np.array([each in labels for each in target.dictionary.to_pylist()] + [False])
        result: np.ndarray = known[codes_of(target)]
        return result

    def join(self, arrays: list[pa.Array], quotes: bool) -> pa.Array:
        """Lines. @param quotes  there is a quote in the block: values may hold commas"""
        made = [self.target(arrays[0], quotes)]
        used = [each for each in self.sources if each.kind != "key"]
        for source, array in zip(used, arrays[1:]):
            if source.kind == "numeric":
                made.append(array.fill_null(repr(source.mean)) if array.null_count else array)
            elif source.kind == "categorical":
                made.append(self.category(source, array, quotes))
        return pc.binary_join_element_wise(pc.binary_join_element_wise(*made, ","), "", "\n")

    def target(self, array: pa.Array, quotes: bool) -> pa.Array:
        if self.labels is None:
            return array.fill_null("")
        if self.target_numbers:
            number = {label: str(place) for place, label in enumerate(self.labels)}
            return replaced(array, [number.get(each, "") for each in array.dictionary.to_pylist()], "")
        return quoted(array.dictionary_decode().fill_null(""), quotes)

    def category(self, source: Source, array: pa.Array, quotes: bool) -> pa.Array:
        if not self.numeric:
            return quoted(array.fill_null(""), quotes)
        texts = array.dictionary.to_pylist()
        if source.buckets:
            return replaced(array, [str(each + 1) for each in buckets_of(texts, source.buckets)], "0")
        zeros = ["0"] * len(source.vocabulary)
        hot = {}
        for place, text in enumerate(source.vocabulary):
            hot[text] = ",".join([*zeros[:place], "1", *zeros[place + 1 :]])
        none = ",".join(zeros)
        return replaced(array, [hot.get(each, none) for each in texts], none)

    def put(self, lines: pa.Array, parts: np.ndarray, keep: np.ndarray | None) -> None:
        """Appends lines to their parts' files."""
        for number, part in enumerate(PARTS):
            if part not in self.out:
                continue
            these = parts == number if keep is None else (parts == number) & keep
            count = int(np.count_nonzero(these))
            if count:
                self.rows[part] += count
                self.out[part].write(content(lines if count == len(lines) else lines.filter(pa.array(these))))


def lines_of(data: bytes) -> pa.Array:
    """Lines with their ends, over the same memory."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int32) + np.int32(1)
    offsets = np.concatenate((np.zeros(1, np.int32), ends))
    return pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def content(lines: pa.Array) -> memoryview:
    """The bytes of all lines together."""
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(lines) + 1, lines.offset * 4)
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]


def replaced(array: pa.DictionaryArray, texts: list[str], blank: str) -> pa.Array:
    """texts[code] of each value."""
    codes = codes_of(array)
    return pa.array([*texts, blank], pa.string()).take(pa.array(np.where(codes < 0, len(texts), codes)))


def quoted(array: pa.Array, quotes: bool) -> pa.Array:
    """Values as CSV has them (RFC 4180)."""
    if not quotes:
        return array
    special = pc.match_substring_regex(array, '[",\r\n]')
    if not pc.any(special).as_py():
        return array
    doubled = pc.replace_substring(array, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), array)


def processed(
    files: dict[str, tuple[Path, ...]],
    split: Callable[[], Split],
    seen: dict[str, Scan],
    sources: tuple[Source, ...],
    labels: tuple[str, ...] | None,
    numeric: bool,
    folder: Path,
) -> Table:
    """Writes training.csv, validation.csv and test.csv, as far as there are such parts."""
    draws = split()
    shares = {"validation": draws.validation, "test": draws.test}
    parts = [part for part in PARTS if part in files or shares[part]]
    known = set(labels or ())
    strangers = labels is not None and any(
        text not in known for each in seen.values() for text in each.columns[0].values
    )
    writer = Writer(sources, len(seen["training"].columns), labels, numeric, strangers)
    with ExitStack() as stack:
        for part in parts:
            writer.out[part] = stack.enter_context((folder / f"{part}.csv").open("wb"))
            writer.rows[part] = 0
        for part, paths in files.items():
            for path, blocks in zip(paths, seen[part].blocks):
                source = Records(path, shown(path), block_bytes(writer.columns))
                for data, block in zip(source.blocks(), blocks):
                    leave_if_told()
                    own = np.full(block.rows, PARTS.index(part), np.uint8)
                    writer.block(data, source, block, draws.next(block.rows) if part == "training" else own)
                    source.row += block.rows
    if writer.foreign:
        LOG.warning("%d rows are dropped: their class is not in the training part.", writer.foreign)
    for part in PARTS:
        if part not in parts:
            (folder / f"{part}.csv").unlink(missing_ok=True)
    columns = plan.columns_written(sources, numeric)
    made = {part: Part((folder / f"{part}.csv",), writer.rows[part]) for part in parts}
    return Table(columns, labels, made, writer.target_numbers, 1 + len(columns))
