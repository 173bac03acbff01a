"""tf.data over the records that `scan` found: order, shuffling, decoding, batches."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from .decode import Decoder
from .records import Found, compression

BUFFER_BYTES = 256 * 1024 * 1024  # of encoded pictures, held to shuffle them
Change = Callable[[Any, Mapping[str, Any], Any], Any]


def records(found: Found, seed: int | None) -> Any:
    """(serialised record, file's index, record's index from 0); shuffled anew each epoch if there is a
    seed."""
    names = tf.constant([str(file) for file in found.files])
    kinds = tf.constant([compression(file) for file in found.files])

    def read(index: Any) -> Any:
        lines = tf.data.TFRecordDataset(names[index], compression_type=kinds[index])
        return lines.enumerate().map(lambda record, line: (line, index, record))

    files = tf.data.Dataset.range(len(found.files))
    if seed is None:
        return files.flat_map(read)
    files = files.shuffle(len(found.files), seed=seed)
    lines = files.interleave(read, cycle_length=min(16, len(found.files)))
    room = max(64, min(found.images, BUFFER_BYTES * found.images // max(1, found.bytes)))
    return lines.shuffle(room, seed=seed).repeat()


def pictures(
    found: Found, decoder: Decoder, features: Mapping[str, Any], seed: int | None, change: Change
) -> Any:
    """What `change` makes of each picture that decodes: change(uint8 image, features, seed [2] of this
    element)."""

    def decode(line: Any, file: Any, record: Any) -> Any:
        row = tf.io.parse_single_example(line, dict(features))
        image, good = decoder(row.pop("image/encoded"), file, record)
        return image, row, good

    threads = tf.data.AUTOTUNE
    lines = records(found, seed).map(decode, num_parallel_calls=threads, deterministic=True)
    lines = lines.filter(lambda image, row, good: good)
    seeds = tf.data.Dataset.random(seed=seed or 0).batch(2)
    return tf.data.Dataset.zip((lines, seeds)).map(
        lambda element, pair: change(element[0], element[1], pair),
        num_parallel_calls=threads,
        deterministic=True,
    )


def memory() -> Any:
    """tf.data's options: at most 1 GB of pictures are prepared ahead."""
    options = tf.data.Options()
    options.autotune.ram_budget = 1 << 30
    return options
