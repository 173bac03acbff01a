"""Anchor boxes of RetinaNet and their offsets to boxes. Boxes are [ymin, xmin, ymax, xmax] in pixels of the
network's picture. Source of the rules: the TPU RetinaNet of the TensorFlow Model Garden (Lin et al.,
2017)."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

SCALES = (2**0.0, 2 ** (1 / 3), 2 ** (2 / 3))  # three sizes of anchor an octave
MATCHED = 0.5  # an anchor with this overlap stands for the box; below it, for none
LARGEST = math.log(1000 / 16)  # bounds exp() of a height's or width's offset

Array: TypeAlias = npt.NDArray[np.float32]


def sizes(height: int, width: int, low: int, high: int) -> list[tuple[int, int]]:
    """Rows and columns of each level's map of features: the picture by the stride, rounded up."""
    return [(-(-height // 2**level), -(-width // 2**level)) for level in range(low, high + 1)]


def anchors(height: int, width: int, low: int, high: int, size: float, ratios: Sequence[float]) -> Array:
    """All anchors, [n, 4]: by level, row, column, then scale and aspect ratio (width by height)."""
    levels = []
    for level, (rows, columns) in zip(range(low, high + 1), sizes(height, width, low, high), strict=True):
        stride = 2**level
        sides = np.array(
            [(size * stride * s * r**-0.5, size * stride * s * r**0.5) for s in SCALES for r in ratios]
        )
        y, x = np.meshgrid(
            (np.arange(rows) + 0.5) * stride, (np.arange(columns) + 0.5) * stride, indexing="ij"
        )
        centres = np.stack([y, x], axis=-1)[:, :, None, :]
        levels.append(np.concatenate([centres - sides / 2, centres + sides / 2], axis=-1).reshape(-1, 4))
    return np.concatenate(levels).astype(np.float32)


def overlaps(a: Any, b: Any) -> Any:
    """Intersection over union of each of a [n, 4] with each of b [m, 4]; 0 for an empty box."""
    top = tf.maximum(a[:, None, :2], b[None, :, :2])
    bottom = tf.minimum(a[:, None, 2:], b[None, :, 2:])
    both = tf.reduce_prod(tf.maximum(bottom - top, 0.0), axis=-1)
    area_a = tf.reduce_prod(tf.maximum(a[:, 2:] - a[:, :2], 0.0), axis=-1)
    area_b = tf.reduce_prod(tf.maximum(b[:, 2:] - b[:, :2], 0.0), axis=-1)
    return tf.math.divide_no_nan(both, area_a[:, None] + area_b[None, :] - both)


def middle(boxes: Any) -> tuple[Any, Any]:
    """Centres and sides."""
    sides = boxes[..., 2:] - boxes[..., :2]
    return boxes[..., :2] + sides / 2, sides


def encode(boxes: Any, bases: Any) -> Any:
    """Offsets (y, x, height, width) from the anchors `bases` to `boxes` [n, 4]."""
    centre, sides = middle(boxes)
    base_centre, base_sides = middle(bases)
    scaled = tf.math.log(tf.maximum(sides, 1e-3) / base_sides)
    return tf.concat([(centre - base_centre) / base_sides, scaled], axis=-1)


def decode(offsets: Any, bases: Any) -> Any:
    """The boxes that `encode` would give these offsets for; [..., n, 4]."""
    base_centre, base_sides = middle(bases)
    centre = offsets[..., :2] * base_sides + base_centre
    sides = tf.exp(tf.minimum(offsets[..., 2:], LARGEST)) * base_sides
    return tf.concat([centre - sides / 2, centre + sides / 2], axis=-1)


def targets(boxes: Any, classes: Any, bases: Any) -> tuple[Any, Any]:
    """What each anchor shall say of one picture: class [n] (-1: none) and offsets [n, 4].

    `boxes` [m, 4] may end in padding with class -1. An anchor takes the box it overlaps most if that is at
    least MATCHED; each box keeps, besides, the anchor that overlaps it most.
    """
    real = classes >= 0
    iou = tf.where(real[None, :], overlaps(bases, boxes), -1.0)
    best = tf.argmax(iou, axis=1, output_type=tf.int32)
    matched = tf.reduce_max(iou, axis=1) >= MATCHED
    count, boxes_most = tf.shape(bases)[0], tf.shape(boxes)[0]
    own = tf.boolean_mask(
        tf.stack([tf.argmax(iou, axis=0, output_type=tf.int32), tf.range(boxes_most)], axis=1),
        real & (tf.reduce_max(iou, axis=0) > 0),
    )
    # Where two boxes have the same best anchor, the last one gets it.
    forced = tf.tensor_scatter_nd_max(tf.fill([count], -1), own[:, :1], own[:, 1])
    best = tf.where(forced >= 0, forced, best)
    matched = matched | (forced >= 0)
    offsets = encode(tf.gather(boxes, best), bases)
    return tf.where(matched, tf.gather(classes, best), -1), tf.where(matched[:, None], offsets, 0.0)
