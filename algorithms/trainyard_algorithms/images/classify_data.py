"""Pictures for a classifier: crop, flip and size, the same for evaluation as in the saved model."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from .decode import Decoder
from .pipeline import memory, pictures
from .records import CLASSIFICATION, Found

# A random crop covers this part of the picture and has this aspect ratio, as in Inception's augmentation
# (Szegedy et al., 2014; the Model Garden's), which goes down to 0.08: ours is milder, for smaller data sets
# than ImageNet.
CROP_AREA, CROP_ASPECT = (0.25, 1.0), (3 / 4, 4 / 3)
CENTRE_PADDING = 32 / 224  # evaluation crops size / (size + padding) of the shorter side, as the Model Garden


def whole(image: Any, size: int) -> Any:
    """float32 [size, size, 3] in 0 to 255: the picture's centre, as in evaluation and in the saved model."""
    shape = tf.shape(image)
    shorter = tf.cast(tf.minimum(shape[0], shape[1]), tf.float32)
    side = tf.maximum(1, tf.cast(tf.round(shorter / (1 + CENTRE_PADDING)), tf.int32))
    cut = tf.image.crop_to_bounding_box(image, (shape[0] - side) // 2, (shape[1] - side) // 2, side, side)
    return sized(cut, size)


def sized(image: Any, size: int) -> Any:
    """Bilinear, with antialiasing where it shrinks; float32 in 0 to 255."""
    result = tf.image.resize(tf.cast(image, tf.float32), [size, size], antialias=True)
    result.set_shape([size, size, 3])
    return result


def augmented(image: Any, size: int, seed: Any) -> Any:
    """A random crop and a mirror image with probability 1/2."""
    begin, extent, _ = tf.image.stateless_sample_distorted_bounding_box(
        tf.shape(image),
        tf.zeros([1, 0, 4]),
        seed,
        aspect_ratio_range=CROP_ASPECT,
        area_range=CROP_AREA,
        use_image_if_no_bounding_boxes=True,
    )
    cut = tf.slice(image, begin, extent)
    return tf.image.stateless_random_flip_left_right(sized(cut, size), seed + 1)


def training(found: Found, decoder: Decoder, size: int, offset: int, batch: int, seed: int) -> Any:
    """Endless batches (float32 pictures, int32 classes from 0)."""

    def change(image: Any, row: Mapping[str, Any], pair: Any) -> Any:
        return augmented(image, size, pair), category(row, offset)

    elements = pictures(found, decoder, CLASSIFICATION, seed, change)
    return elements.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE).with_options(memory())


def evaluation(found: Found, decoder: Decoder, size: int, offset: int, batch: int, images: int) -> Any:
    """The first `images` pictures once, in the files' order; batches as `training`."""

    def change(image: Any, row: Mapping[str, Any], pair: Any) -> Any:
        return whole(image, size), category(row, offset)

    elements = pictures(found, decoder, CLASSIFICATION, None, change).take(images)
    return elements.batch(batch).prefetch(tf.data.AUTOTUNE).with_options(memory())


def category(row: Mapping[str, Any], offset: int) -> Any:
    return tf.cast(row["image/class/label"][0] - offset, tf.int32)
