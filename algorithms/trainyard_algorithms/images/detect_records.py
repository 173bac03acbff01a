"""Records of object detection: which fields, and what is wrong with boxes."""

import logging
from collections import Counter
from typing import Any

import numpy as np
import tensorflow as tf

from ..failure import UserError
from .records import Found, Place, Row

log = logging.getLogger(__name__)

SIDES = tuple(f"image/object/bbox/{side}" for side in ("ymin", "xmin", "ymax", "xmax"))
LABEL = "image/object/class/label"
DETECTION: Row = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string, ""),
    **{side: tf.io.RaggedFeature(tf.float32) for side in SIDES},
    LABEL: tf.io.RaggedFeature(tf.int64),
    "image/object/class/text": tf.io.RaggedFeature(tf.string),
    "image/object/is_crowd": tf.io.RaggedFeature(tf.int64),
}
PIXELS = (-1.0, 2.0)  # coordinates outside are no shares of a picture, but pixels
NAMED_MOST = 20
SLACK = 1e-3  # over the edge by rounding: cut without a word


class Boxes:
    """The check of one data set: `check` is what `records.scan` calls. Keeps count of what it warned
    about."""

    def __init__(self) -> None:
        self.warned: Counter[str] = Counter()

    def check(self, row: Row, places: list[Place], found: Found) -> None:
        """Counts boxes and labels. Raises UserError for lists that do not belong together and for pixels;
        boxes over the edge, empty or crossed are named in a WARNING."""
        counts = {name: row[name].row_lengths().numpy() for name in (*SIDES, LABEL)}
        crowds = row["image/object/is_crowd"].row_lengths().numpy()
        for index, place in enumerate(places):
            sizes = {name: int(count[index]) for name, count in counts.items()}
            if len(set(sizes.values())) > 1 or crowds[index] not in (0, sizes[LABEL]):
                told = ", ".join(f"{size} in {name}" for name, size in sizes.items())
                raise UserError(
                    f"{place} of --{found.argument}: lists of different lengths for its boxes: {told}."
                )
        flat = np.stack([row[side].flat_values.numpy() for side in SIDES], axis=1)
        owner = np.repeat(np.arange(len(places)), counts[LABEL])
        self.coordinates(flat, owner, places, found)
        self.labels(row, owner, places, found)
        found.boxes += int(self.usable(flat).sum())
        found.boxes_most = max(found.boxes_most, int(counts[LABEL].max(initial=0)))

    @staticmethod
    def usable(boxes: Any) -> Any:
        """Which boxes have an area within the picture; not those with a NaN."""
        cut = np.clip(boxes, 0, 1)
        with np.errstate(invalid="ignore"):
            return (cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1])

    def coordinates(self, boxes: Any, owner: Any, places: list[Place], found: Found) -> None:
        with np.errstate(invalid="ignore"):
            pixels = ((boxes < PIXELS[0]) | (boxes > PIXELS[1])).any(axis=1)
            outside = ((boxes < -SLACK) | (boxes > 1 + SLACK)).any(axis=1)
        if pixels.any():
            index = int(np.argmax(pixels))
            raise UserError(
                f"{places[owner[index]]} of --{found.argument}: the box (ymin, xmin, ymax, xmax) = "
                f"{text(boxes[index])} is not in shares of the picture. Divide pixels by the picture's "
                "height and width."
            )
        usable = self.usable(boxes)
        for index in np.flatnonzero(outside | ~usable):
            what = (
                "reaches over the picture's edge; cut there"
                if usable[index]
                else "is empty or crossed; left out"
            )
            self.warn(
                f"{places[owner[index]]} of --{found.argument}: the box {text(boxes[index])} {what}.", what
            )

    def warn(self, message: str, kind: str) -> None:
        self.warned[kind] += 1
        if self.warned[kind] <= NAMED_MOST:
            log.warning("%s", message)
        elif self.warned[kind] == NAMED_MOST + 1:
            log.warning("More such boxes are not named.")

    @staticmethod
    def labels(row: Row, owner: Any, places: list[Place], found: Found) -> None:
        flat = row[LABEL].flat_values.numpy().tolist()
        words = row["image/object/class/text"]
        same = words.row_lengths().numpy() == row[LABEL].row_lengths().numpy()
        starts, values, before = (
            words.row_starts().numpy(),
            words.flat_values.numpy(),
            row[LABEL].row_starts().numpy(),
        )
        for index, label in enumerate(flat):
            which = owner[index]
            found.labels.add(label, places[which])
            if label not in found.labels.texts and same[which]:
                word = values[starts[which] + index - before[which]]
                found.labels.texts[label] = word.decode("utf-8", "replace")


def text(box: Any) -> str:
    return "(" + ", ".join(f"{side:g}" for side in box) + ")"
