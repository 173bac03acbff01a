"""A CSV file as blocks of whole records, and what is wrong with one.

RFC 4180, strictly as to quotes: a value that has one begins and ends with one and has those inside twice.
TensorFlow's decode_csv, which models read their instances with, refuses anything else too. A row is a record,
counted from 1; empty lines are none.
"""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from trainyard_algorithms.failure import UserError

BLOCK_BYTES = 8 << 20  # read at a time; memory is a small multiple of it
WIDE_BLOCK_BYTES = 32 << 20  # of tables with many columns, of which each costs time per block
WIDE_COLUMNS = 1000
RECORD_BYTES = 16 << 20  # the longest row
BOM = b"\xef\xbb\xbf"
FOREIGN = {
    b"\xff\xfe": "is UTF-16 text",
    b"\xfe\xff": "is UTF-16 text",
    b"\x1f\x8b": "is compressed with gzip",
    b"PK\x03\x04": "is a ZIP archive (a spreadsheet?)",
    b"PAR1": "is Parquet",
}
csv.field_size_limit(sys.maxsize)


class Records:
    """Reads one file. The consumer adds to `row` what each block had."""

    def __init__(self, path: Path, name: str, block_bytes: int = BLOCK_BYTES) -> None:
        """@param name  what messages call the file"""
        self.path = path
        self.name = name
        self.block_bytes = block_bytes
        self.row = 1  # of the file, the first one of the current block

    def blocks(self) -> Iterator[bytes]:
        """Whole records, in order. @raises UserError: the file is no such text; naming file and row."""
        begin, size, first = 0, self.block_bytes, True
        with self.path.open("rb", buffering=0) as file:
            # What follows the last whole record is read again with the next block: cheaper than joining.
            while data := read_at(file, begin, size):
                length = len(data)
                if first:
                    data = self.start(data)
                if b"\0" in data:
                    self.broken(data, data.index(b"\0"), "there is a NUL byte; this is no UTF-8 text")
                end = len(data) if length < size else cut(data)
                if end:
                    whole = data if end == len(data) else data[:end]
                    if b'"' in whole:
                        self.check_quotes(whole)
                    if whole[0] not in b"\r\n" or whole.strip(b"\r\n"):
                        yield whole
                    begin, size, first = begin + length - len(data) + end, self.block_bytes, False
                elif length <= RECORD_BYTES:
                    size = 2 * length
                else:
                    self.check_quotes(data)
                    raise UserError(
                        f"{self.name}, row {self.row}: the row is longer than {RECORD_BYTES >> 20} MiB; "
                        "is a quote not closed, or the text no CSV?"
                    )

    def start(self, chunk: bytes) -> bytes:
        """The file's first bytes without a byte order mark."""
        for mark, text in FOREIGN.items():
            if chunk.startswith(mark):
                raise UserError(f"{self.name} {text}: convert it to CSV, in UTF-8.")
        return chunk.removeprefix(BOM)

    def check_quotes(self, data: bytes) -> None:
        found = misplaced_quote(data)
        if found is not None:
            self.broken(data, *found)

    def broken(self, data: bytes, offset: int, text: str) -> None:
        """@raises UserError: `text` about the value at `offset` of the current block"""
        row, column = place(data, offset)
        raise UserError(f"{self.name}, row {self.row + row}, column {column + 1}: {text}.")


def read_at(file: io.FileIO, begin: int, size: int) -> bytes:
    """`size` bytes, or what there is till the file's end."""
    file.seek(begin)
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def cut(data: bytes) -> int:
    """Where the last whole record ends: after a line end with an even number of quotes before it; 0:
    nowhere."""
    end = data.rfind(b"\n") + 1
    quotes = data.count(b'"', 0, end) if b'"' in data else 0
    while end and quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    return end


def misplaced_quote(data: bytes) -> tuple[int, str] | None:
    """The first quote of whole records that RFC 4180 does not allow: where, and what is wrong."""
    text = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    opening, closing = quotes[0::2], quotes[1::2]
    allowed = np.zeros(256, bool)
    allowed[list(b',\r\n"')] = True
    wrong = opening[(opening > 0) & ~allowed[text[opening - 1]]]
    found = (
        [(int(wrong[0]), "there is a quote inside a value that does not begin with one (RFC 4180)")]
        if len(wrong)
        else []
    )
    inside = closing[closing < len(text) - 1]
    wrong = np.flatnonzero(~allowed[text[inside + 1]])
    if len(wrong):
        begin = int(opening[wrong[0]])
        found.append(
            (
                begin,
                "the quote before this value is not closed, or one inside it is not written twice (RFC 4180)",
            )
        )
    if len(quotes) % 2:
        found.append((int(quotes[-1]), "the quote before this value is not closed"))
    return min(found, key=lambda each: each[0]) if found else None


def place(data: bytes, offset: int) -> tuple[int, int]:
    """Record and column, both from 0, of a byte of whole records."""
    records = [
        each for each in csv.reader(io.StringIO(data[:offset].decode("latin-1") + "x", newline="")) if each
    ]
    return len(records) - 1, len(records[-1]) - 1


def explain(data: bytes, columns: int) -> tuple[int, str] | None:
    """Slowly: the first record (from 0) that is not UTF-8 or has another number of values, and the reason."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        row, column = place(data, error.start)
        ragged = explain_ragged(data[: error.start].decode().rpartition("\n")[0], columns)
        return ragged or (row, f"column {column + 1} is not UTF-8 (byte 0x{data[error.start]:02x})")
    return explain_ragged(text, columns)


def explain_ragged(text: str, columns: int) -> tuple[int, str] | None:
    row = 0
    for record in csv.reader(io.StringIO(text, newline="")):
        if record and len(record) != columns:
            has = f"there {'is 1 value' if len(record) == 1 else f'are {len(record)} values'}"
            return row, f"{has} where the first row has {columns}"
        row += bool(record)
    return None


def first_record(data: bytes) -> list[str]:
    """The first record's values; what is not UTF-8 is replaced."""
    text = io.StringIO(data[: RECORD_BYTES * 2].decode(errors="replace"), newline="")
    return next((each for each in csv.reader(text) if each), [])
