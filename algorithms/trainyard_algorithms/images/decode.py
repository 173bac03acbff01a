"""Pictures from bytes, in a graph that tf.saved_model.load alone can run, and in training with named
failures."""

import logging
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ..failure import UserError
from .records import Found, Place, short

log = logging.getLogger(__name__)

NAMED_MOST = 20  # warnings that name a record; the rest is counted
BROKEN_SHARE, BROKEN_FEW = (
    0.1,
    10,
)  # more than this share, and than this number: the data are wrong, not a picture


def picture(encoded: Any) -> Any:
    """uint8 [height, width, 3] of JPEG, PNG, GIF (first frame) or BMP bytes; grey becomes RGB, alpha is
    dropped."""
    image = tf.io.decode_image(encoded, channels=3, dtype=tf.uint8, expand_animations=False)
    image.set_shape([None, None, 3])
    return image


class Decoder:
    """Decodes the pictures of one data set; one that is broken is skipped with a WARNING that names its
    record.

    Thread rule: `decode` is called by tf.data's threads; the counters have a lock.
    """

    def __init__(self, found: Found) -> None:
        self.found = found
        self.seen: set[tuple[int, int]] = set()
        self.read = self.bad = 0
        self.failure: UserError | None = None
        self._lock = threading.Lock()

    def __call__(self, encoded: Any, file: Any, record: Any) -> tuple[Any, Any]:
        """uint8 picture and whether it is one; in tf.data's graph."""
        image, good = tf.py_function(self.decode, [encoded, file, record], [tf.uint8, tf.bool])
        image.set_shape([None, None, 3])
        good.set_shape([])
        return image, good

    def decode(self, encoded: Any, file: Any, record: Any) -> tuple[Any, bool]:
        try:
            image = tf.io.decode_image(encoded, channels=3, dtype=tf.uint8, expand_animations=False)
            problem = None if min(image.shape) > 0 else "the picture is empty"
        except tf.errors.OpError as error:
            problem = short(error)
        with self._lock:
            self.read += 1
            if problem is not None:
                self.broken((int(file), int(record)), problem)
        if problem is not None:
            return np.zeros([1, 1, 3], np.uint8), False
        return image, True

    def guarded(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches of tf.data. Raises this decoder's UserError in place of the failure that tf.data makes
        of it."""
        try:
            yield from batches
        except tf.errors.OpError:
            if self.failure is not None:
                raise self.failure from None
            raise

    def broken(self, key: tuple[int, int], problem: str) -> None:
        """Counts a picture that does not decode. Raises, through tf.data, where too many do not."""
        place = Place(self.found.files[key[0]], key[1] + 1)
        self.bad += 1
        if key not in self.seen:
            self.seen.add(key)
            if len(self.seen) <= NAMED_MOST:
                log.warning(
                    "%s of --%s: the picture does not decode (%s); skipped.",
                    place,
                    self.found.argument,
                    problem,
                )
            elif len(self.seen) == NAMED_MOST + 1:
                log.warning("More pictures of --%s do not decode; they are not named.", self.found.argument)
        many = len(self.seen) > BROKEN_FEW and self.bad > BROKEN_SHARE * self.read
        if many or (self.bad == self.read and self.read >= self.found.images):
            self.failure = UserError(
                f"{len(self.seen)} pictures of --{self.found.argument} do not decode, the last one {place}: "
                f"{problem}. "
                "'image/encoded' must hold the bytes of a JPEG or PNG file."
            )
            raise ValueError(str(self.failure))
