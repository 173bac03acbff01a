"""TFRecord files of tf.Example, checked once before training: how many pictures, which labels, which
boxes."""

import logging
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from ..failure import UserError
from ..paths import shown

log = logging.getLogger(__name__)

Row = Mapping[str, Any]
RECORDS_AT_ONCE = 256
UNPARSED = (
    tf.errors.OpError,
    UnicodeDecodeError,
)  # TensorFlow's message quotes the bytes, which may be no text


@dataclass(frozen=True)
class Place:
    """Where a record is; `record` counts from 1."""

    file: Path
    record: int

    def __str__(self) -> str:
        return f"{shown(self.file)}, record {self.record}"


@dataclass
class Labels:
    """The lowest and the highest label seen, with their places."""

    lowest: int | None = None
    highest: int | None = None
    lowest_at: Place | None = None
    highest_at: Place | None = None
    texts: dict[int, str] = field(default_factory=dict)

    def add(self, label: int, place: Place) -> None:
        if self.lowest is None or label < self.lowest:
            self.lowest, self.lowest_at = label, place
        if self.highest is None or label > self.highest:
            self.highest, self.highest_at = label, place


@dataclass
class Found:
    """What is in the files of one argument, as `scan` found it."""

    argument: str
    files: tuple[Path, ...]
    images: int = 0
    bytes: int = 0
    labels: Labels = field(default_factory=Labels)
    boxes: int = 0
    boxes_most: int = 0


def compression(file: Path) -> str:
    """`GZIP` if the file begins as gzip does, else none: what TFRecordDataset is told.

    A record's length can be gzip's first bytes; its checksum, which follows, tells it from gzip.
    """
    with file.open("rb") as stream:
        head = stream.read(12)
    if not head.startswith(b"\x1f\x8b"):
        return ""
    is_length = head[8:] == struct.pack("<I", masked_crc32c(head[:8]))
    return "" if is_length else "GZIP"


def batches(file: Path) -> Iterator[tuple[int, Any]]:
    """Serialised records with the number of the first one (from 1).

    Raises UserError that names the record where the file is damaged.
    """
    kind = compression(file)
    first = 1
    iterator = iter(tf.data.TFRecordDataset(str(file), compression_type=kind).batch(RECORDS_AT_ONCE))
    while True:
        try:
            batch = next(iterator)
        except StopIteration:
            return
        except tf.errors.OpError as error:
            raise damage(file, kind, error) from None
        yield first, batch
        first += int(batch.shape[0])


def damage(file: Path, kind: str, error: Exception) -> UserError:
    """Names the first record of `file` that cannot be read."""
    whole = 0
    try:
        for _ in tf.data.TFRecordDataset(str(file), compression_type=kind):
            whole += 1
    except tf.errors.OpError as exact:
        error = exact
    if whole == 0:
        return UserError(
            f"{shown(file)} is not a TFRecord file, or its first record is damaged: {short(error)}. "
            "Write the pictures as tf.train.Example with tf.io.TFRecordWriter."
        )
    return UserError(
        f"{shown(file)} is damaged at record {whole + 1} ({whole} records before it are whole): "
        f"{short(error)}. "
        "Copy or write the file again."
    )


def short(error: Exception) -> str:
    """The first line of TensorFlow's message, without the operation's path in the graph."""
    text = getattr(error, "message", None) or str(error)
    line = (
        str(text).splitlines()[0].split(" [Op:")[0].replace("{{function_node __wrapped__IteratorGetNext", "")
    )
    return line.rsplit("}} ", 1)[-1].rstrip(". ")[:200]


def parse(file: Path, first: int, batch: Any, features: Row) -> Row:
    """The features of a batch of records; UserError names the record that is no tf.Example or has a wrong
    type."""
    try:
        parsed: Row = tf.io.parse_example(batch, dict(features))
        return parsed
    except UNPARSED as error:
        for offset, one in enumerate(batch):
            try:
                tf.io.parse_single_example(one, dict(features))
            except UNPARSED as exact:
                place = Place(file, first + offset)
                raise UserError(
                    f"{place}: not a tf.train.Example with the fields expected: {reason(exact)}"
                ) from None
        raise UserError(f"{shown(file)}: {short(error)}") from None


def reason(error: Exception) -> str:
    """What tf.io.parse_example disliked, in the data's words."""
    text = short(error)
    if isinstance(error, UnicodeDecodeError) or "Could not parse example input" in text:
        return "its bytes do not parse"
    return text.replace("Name: <unknown>, ", "")


Check = Callable[[Row, list[Place], Found], None]


def scan(argument: str, files: Sequence[Path], features: Row, check: Check) -> Found:
    """Reads every record once and gives each batch to `check`, which raises UserError or counts into the
    result.

    Pictures are not decoded here. Raises UserError for files that are damaged or hold nothing.
    """
    found = Found(argument, tuple(files))
    for file in files:
        before = found.images
        for first, batch in batches(file):
            row = parse(file, first, batch, features)
            places = [Place(file, first + i) for i in range(int(batch.shape[0]))]
            require(row, "image/encoded", places)
            check(row, places, found)
            found.images += len(places)
        found.bytes += file.stat().st_size
        if found.images == before:
            log.warning("%s holds no record; it is skipped.", shown(file))
    if found.images == 0:
        raise UserError(f"--{argument}: the {len(files)} file(s) that match hold no record.")
    return found


def require(row: Row, key: str, places: Sequence[Place]) -> None:
    """Every record has bytes under `key`. Raises UserError that names the first one without."""
    for size, place in zip(tf.strings.length(row[key]).numpy(), places, strict=True):
        if size == 0:
            raise UserError(
                f"{place} has no '{key}': each record needs the picture's JPEG or PNG bytes there."
            )


def label_offset(parts: Sequence[Found], classes: int, key: str) -> int:
    """The label of the first class: 1, or 0 if any label is 0.

    Raises UserError for a label outside [1, classes], or [0, classes - 1] with a zero. Source: the page
    of the algorithm asks for [1, num_classes]; its earlier copies said [0, num_classes - 1].
    """
    offset = 0 if any(part.labels.lowest == 0 for part in parts) else 1
    for part in parts:
        labels = part.labels
        if labels.lowest is not None and labels.lowest < 0:
            raise UserError(
                f"{labels.lowest_at} of --{part.argument}: '{key}' is {labels.lowest}, which is no class."
            )
        if labels.highest is not None and labels.highest >= offset + classes:
            zero = " (a label 0 was seen, so that classes count from 0)" if offset == 0 else ""
            raise UserError(
                f"{labels.highest_at} of --{part.argument}: '{key}' is {labels.highest}, but "
                f"--num_classes={classes} allows {offset} to {offset + classes - 1}{zero}. "
                "Correct the label or --num_classes."
            )
    return offset


def class_texts(parts: Sequence[Found], classes: int, offset: int) -> list[str]:
    """A name for each class: the first text seen with its label, else the label as a number."""
    texts: dict[int, str] = {}
    for part in reversed(parts):
        texts.update(part.labels.texts)
    return [texts.get(offset + index, str(offset + index)) for index in range(classes)]


def enough(wanted: int, found: Found) -> None:
    """Raises UserError if --num_eval_images asks for more pictures than there are, which the original failed
    at too."""
    if wanted > found.images:
        raise UserError(
            f"--num_eval_images={wanted} is more than the {found.images} pictures of --{found.argument}. "
            "Lower it, or give 0 for all of them."
        )


CLASSIFICATION: Row = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string, ""),
    "image/class/label": tf.io.RaggedFeature(tf.int64),
    "image/class/text": tf.io.RaggedFeature(tf.string),
}


def check_class(row: Row, places: list[Place], found: Found) -> None:
    """One label a record; texts are taken where they are. Raises UserError."""
    labels, texts = row["image/class/label"], row["image/class/text"]
    for count, place in zip(labels.row_lengths().numpy(), places, strict=True):
        if count != 1:
            what = "no 'image/class/label'" if count == 0 else f"{count} values in 'image/class/label'"
            raise UserError(f"{place} of --{found.argument} has {what}: each picture needs one whole number.")
    flat = labels.flat_values.numpy().tolist()
    starts, lengths, words = (
        texts.row_starts().numpy(),
        texts.row_lengths().numpy(),
        texts.flat_values.numpy(),
    )
    for index, (label, place) in enumerate(zip(flat, places, strict=True)):
        found.labels.add(label, place)
        if label not in found.labels.texts and lengths[index] == 1:
            found.labels.texts[label] = words[starts[index]].decode("utf-8", "replace")
