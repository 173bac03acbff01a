"""Pictures and boxes for a detector: size, augmentation, targets. Boxes are [ymin, xmin, ymax, xmax]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from . import anchors, colours
from .decode import Decoder
from .detect_records import DETECTION, LABEL, SIDES
from .pipeline import memory, pictures
from .records import Found


@dataclass(frozen=True)
class Frame:
    """The network's picture, in pixels: pictures fill height x width as far as their proportions allow, from
    the top left; the rest, and what makes rows and columns multiples of the coarsest stride, is grey."""

    height: int
    width: int
    stride: int

    @property
    def rows(self) -> int:
        return -(-self.height // self.stride) * self.stride

    @property
    def columns(self) -> int:
        return -(-self.width // self.stride) * self.stride


@dataclass(frozen=True)
class Augmentation:
    """The arguments aug_rand_hflip, aug_scale_min, aug_scale_max and auto_augmentation."""

    flip: bool = False
    scale_min: float = 1.0
    scale_max: float = 1.0
    colours: bool = False


GREY = 127.0


def framed(image: Any, frame: Frame) -> tuple[Any, Any]:
    """(float32 [rows, columns, 3] in 0 to 255, the picture's height and width in it): evaluation and saved
    model."""
    extent = fitted(image, frame, 1.0)
    scaled = tf.image.resize(tf.cast(image, tf.float32), extent, antialias=True)
    return padded(scaled, frame), tf.cast(extent, tf.float32)


def fitted(image: Any, frame: Frame, scale: Any) -> Any:
    """Height and width of the picture when it fills the frame times `scale`; at least 1."""
    shape = tf.cast(tf.shape(image)[:2], tf.float32)
    factor = scale * tf.reduce_min(tf.constant([frame.height, frame.width], tf.float32) / shape)
    return tf.maximum(tf.cast(tf.round(shape * factor), tf.int32), 1)


def padded(image: Any, frame: Frame) -> Any:
    shape = tf.shape(image)
    room = [[0, frame.rows - shape[0]], [0, frame.columns - shape[1]], [0, 0]]
    result = tf.pad(image, room, constant_values=GREY)
    result.set_shape([frame.rows, frame.columns, 3])
    return result


def truths(row: Mapping[str, Any], offset: int) -> tuple[Any, Any, Any]:
    """Boxes in shares, cut at the edges, classes from 0, crowds; without boxes that are empty or crossed."""
    boxes = tf.clip_by_value(tf.stack([row[side] for side in SIDES], axis=1), 0.0, 1.0)
    good = tf.reduce_all(boxes[:, 2:] > boxes[:, :2], axis=1)
    classes = tf.cast(row[LABEL] - offset, tf.int32)
    flags = row["image/object/is_crowd"]
    crowd = tf.cond(tf.size(flags) > 0, lambda: flags > 0, lambda: tf.zeros_like(classes, tf.bool))
    return tf.boolean_mask(boxes, good), tf.boolean_mask(classes, good), tf.boolean_mask(crowd, good)


def changed(image: Any, boxes: Any, frame: Frame, how: Augmentation, seed: Any) -> tuple[Any, Any]:
    """The augmented picture, not yet padded, and the boxes in its pixels; boxes outside it have no area."""
    image = tf.cast(image, tf.float32)
    if how.colours:
        image = colours.recoloured(image, seed + 1)
    if how.flip:
        mirror = tf.random.stateless_uniform([], seed + 2) < 0.5
        image = tf.where(mirror, tf.reverse(image, [1]), image)
        turned = tf.stack([boxes[:, 0], 1 - boxes[:, 3], boxes[:, 2], 1 - boxes[:, 1]], axis=1)
        boxes = tf.where(mirror, turned, boxes)
    scale = tf.random.stateless_uniform([], seed + 3, how.scale_min, how.scale_max + 1e-6)
    extent = fitted(image, frame, scale)
    image = tf.image.resize(image, extent, antialias=True)
    most = tf.constant([frame.height, frame.width])
    spare = tf.cast(tf.maximum(extent - most, 0) + 1, tf.float32)
    start = tf.cast(tf.floor(tf.random.stateless_uniform([2], seed + 4) * spare), tf.int32)
    image = image[start[0] : start[0] + frame.height, start[1] : start[1] + frame.width]
    pixels = boxes * tf.cast(tf.tile(extent, [2]), tf.float32) - tf.cast(tf.tile(start, [2]), tf.float32)
    shown = tf.cast(tf.tile(tf.shape(image)[:2], [2]), tf.float32)
    return image, tf.clip_by_value(pixels, 0.0, shown)


def filled(values: Any, count: int, value: float) -> Any:
    """The first `count` rows of `values`, padded."""
    values = values[:count]
    room = [[0, count - tf.shape(values)[0]]] + [[0, 0]] * (len(values.shape) - 1)
    result = tf.pad(values, room, constant_values=tf.cast(value, values.dtype))
    return tf.ensure_shape(result, [count, *values.shape[1:]])


def training(
    found: Found,
    decoder: Decoder,
    frame: Frame,
    bases: Any,
    how: Augmentation,
    offset: int,
    most: int,
    seed: int,
) -> Any:
    """Endless elements (picture, (class [anchors], offsets [anchors, 4])); crowds and boxes after the first
    `most` are left out."""

    def change(image: Any, row: Mapping[str, Any], pair: Any) -> Any:
        boxes, classes, crowd = truths(row, offset)
        boxes, classes = tf.boolean_mask(boxes, ~crowd), tf.boolean_mask(classes, ~crowd)
        image, boxes = changed(image, boxes, frame, how, pair)
        shown = tf.reduce_all(boxes[:, 2:] - boxes[:, :2] >= 1.0, axis=1)
        boxes, classes = tf.boolean_mask(boxes, shown), tf.boolean_mask(classes, shown)
        wanted = anchors.targets(filled(boxes, most, 0.0), filled(classes, most, -1), bases)
        return padded(image, frame), wanted

    return pictures(found, decoder, DETECTION, seed, change)


def evaluation(found: Found, decoder: Decoder, frame: Frame, offset: int, images: int) -> Any:
    """The first `images` pictures once: (picture, extent, boxes in shares, classes, crowds), the last three
    padded with class -1."""
    most = max(1, found.boxes_most)

    def change(image: Any, row: Mapping[str, Any], pair: Any) -> Any:
        boxes, classes, crowd = truths(row, offset)
        canvas, extent = framed(image, frame)
        return canvas, extent, filled(boxes, most, 0.0), filled(classes, most, -1), filled(crowd, most, False)

    return pictures(found, decoder, DETECTION, None, change).take(images)


def batched(elements: Any, batch: int, training: bool) -> Any:
    """Batches, prepared ahead; only whole ones in training."""
    return elements.batch(batch, drop_remainder=training).prefetch(tf.data.AUTOTUNE).with_options(memory())
