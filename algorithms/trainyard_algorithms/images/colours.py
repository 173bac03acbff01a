"""Random changes of colour: what `--auto_augmentation` does.

AutoAugment's policy for detection (Zoph et al., 2019) also moves and turns boxes; these changes leave them
where they are.
"""

from typing import Any

import tensorflow as tf

CHANGES = 2  # for each picture


def recoloured(image: Any, seed: Any) -> Any:
    """float32 in 0 to 255 after CHANGES random ones of the changes below."""
    for number in range(CHANGES):
        image = one(image, seed + 10 * number)
    return image


def one(image: Any, seed: Any) -> Any:
    """One change of random kind and strength."""
    strength = tf.random.stateless_uniform([], seed, -1.0, 1.0)
    grey = tf.image.rgb_to_grayscale(image)
    mean = tf.reduce_mean(grey)
    kinds = (
        lambda: image,
        lambda: image + 60.0 * strength,  # brightness
        lambda: mean + (image - mean) * (1.0 + 0.6 * strength),  # contrast
        lambda: grey + (image - grey) * (1.0 + 0.8 * strength),  # saturation
        lambda: tf.image.adjust_hue(image / 255.0, 0.08 * strength) * 255.0,
        lambda: tf.tile(grey, [1, 1, 3]),
        lambda: tf.where(image < 190.0 + 60.0 * strength, image, 255.0 - image),  # solarize
        lambda: tf.floor(image / 32.0) * 32.0,  # posterize
    )
    index = tf.random.stateless_uniform([], seed + 5, 0, len(kinds), tf.int32)
    return tf.clip_by_value(tf.switch_case(index, kinds), 0.0, 255.0)
