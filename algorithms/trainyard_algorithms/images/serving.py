"""What a SavedModel of these trainers has in common."""

from typing import Any

import tensorflow as tf

# The names that AI Platform Prediction's samples and AutoML's exported models used for pictures: bytes under
# `image_bytes` (a name that ends in `_bytes` takes {"b64": ...} in JSON), and `key`, which comes back.
SIGNATURE = (
    tf.TensorSpec([None], tf.string, name="image_bytes"),
    tf.TensorSpec([None], tf.string, name="key"),
)


class Served(tf.Module):  # type: ignore[misc]
    """Holds what a serving function uses; `function` takes `image_bytes` and `key`.

    Only the model's variables are held: of a Keras model TensorFlow would save each layer's functions too,
    which takes half a minute for ResNet-50 and serves nobody.
    """

    def __init__(self, variables: list[Any], tables: dict[str, Any], function: Any) -> None:
        super().__init__()
        self.weights = list(variables)
        self.tables = tables
        self.function = tf.function(function, input_signature=SIGNATURE)
