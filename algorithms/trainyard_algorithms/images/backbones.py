"""The networks: ResNet and EfficientNet with keras.applications' layer names, so that its weights fit."""

from typing import Any

import tensorflow as tf

RESNETS = {
    # depth: blocks of each stage, and whether they are bottlenecks (He et al., 2015)
    18: ((2, 2, 2, 2), False),
    34: ((3, 4, 6, 3), False),
    50: ((3, 4, 6, 3), True),
    101: ((3, 4, 23, 3), True),
    152: ((3, 8, 36, 3), True),
    200: ((3, 24, 36, 3), True),
}
EFFICIENTNETS = {  # side of the picture in pixels, dropout before the last layer (Tan and Le, 2019)
    0: (224, 0.2),
    1: (240, 0.2),
    2: (260, 0.3),
    3: (300, 0.3),
    4: (380, 0.4),
    5: (456, 0.4),
    6: (528, 0.5),
    7: (600, 0.5),
}
MODEL_TYPES = tuple(f"resnet-{depth}" for depth in RESNETS) + tuple(
    f"efficientnet-b{n}" for n in EFFICIENTNETS
)
BLUE_GREEN_RED_MEANS = (103.939, 116.779, 123.68)  # of ImageNet: keras.applications.resnet.preprocess_input
EPSILON = 1.001e-5


def default_size(model_type: str) -> int:
    """The side of the picture that the family was designed for, in pixels."""
    family, _, kind = model_type.partition("-")
    return 224 if family == "resnet" else EFFICIENTNETS[int(kind[1:])][0]


def default_dropout(model_type: str) -> float:
    family, _, kind = model_type.partition("-")
    return 0.0 if family == "resnet" else EFFICIENTNETS[int(kind[1:])][1]


def prepared(images: Any, model_type: str) -> Any:
    """What the network takes, of RGB in 0 to 255: ResNet BGR less ImageNet's means; EfficientNet scales by
    itself."""
    if model_type.startswith("resnet"):
        return tf.reverse(images, axis=[-1]) - tf.constant(BLUE_GREEN_RED_MEANS)
    return images


def backbone(model_type: str, height: int, width: int) -> Any:
    """The network without its last layers: pictures as `prepared` to the last map of features. Random
    weights."""
    family, _, kind = model_type.partition("-")
    if family == "resnet":
        return resnet(int(kind), height, width)
    build = getattr(tf.keras.applications, f"EfficientNetB{kind[1:]}")
    return build(include_top=False, weights=None, input_shape=(height, width, 3))


def resnet(depth: int, height: int | None, width: int | None, count: int = 4) -> Any:
    """A ResNet as keras.applications builds it, any depth of RESNETS, any size of picture, its first
    `count` stages.

    Its outputs at strides 4, 8, 16 and 32 are the layers `conv2_block*_out` to `conv5_block*_out` (`stages`).
    """
    layers = tf.keras.layers
    blocks, bottleneck = RESNETS[depth]
    inputs = layers.Input((height, width, 3))
    x = layers.ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(inputs)
    x = layers.Conv2D(64, 7, strides=2, name="conv1_conv", kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization(epsilon=EPSILON, name="conv1_bn")(x)
    x = layers.Activation("relu", name="conv1_relu")(x)
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stage, size in enumerate(blocks[:count]):
        for index in range(size):
            stride = 2 if stage > 0 and index == 0 else 1
            shortcut = index == 0 and (bottleneck or stage > 0)
            name = f"conv{stage + 2}_block{index + 1}"
            x = block(x, 64 * 2**stage, stride, bottleneck, shortcut, name)
    return tf.keras.Model(inputs, x, name=f"resnet{depth}")


def block(x: Any, filters: int, stride: int, bottleneck: bool, shortcut: bool, name: str) -> Any:
    """One residual block; the stride is in its first convolution, as in keras.applications."""
    layers = tf.keras.layers

    def convolve(
        y: Any, place: int, width: int, kernel: int, strides: int, relu: bool, gamma: str = "ones"
    ) -> Any:
        y = layers.Conv2D(
            width,
            kernel,
            strides=strides,
            padding="same",
            name=f"{name}_{place}_conv",
            kernel_initializer="he_normal",
        )(y)
        y = layers.BatchNormalization(epsilon=EPSILON, name=f"{name}_{place}_bn", gamma_initializer=gamma)(y)
        return layers.Activation("relu", name=f"{name}_{place}_relu")(y) if relu else y

    width = 4 * filters if bottleneck else filters
    straight = convolve(x, 0, width, 1, stride, False) if shortcut else x
    if bottleneck:
        x = convolve(x, 1, filters, 1, stride, True)
        x = convolve(x, 2, filters, 3, 1, True)
        x = convolve(x, 3, width, 1, 1, False, "zeros")
    else:
        x = convolve(x, 1, filters, 3, stride, True)
        x = convolve(x, 2, filters, 3, 1, False, "zeros")
    x = layers.Add(name=f"{name}_add")([straight, x])
    return layers.Activation("relu", name=f"{name}_out")(x)


def stages(model: Any, depth: int, count: int = 4) -> list[Any]:
    """The outputs of a `resnet`'s first `count` stages, of strides 4, 8, 16 and 32."""
    blocks = RESNETS[depth][0][:count]
    return [model.get_layer(f"conv{stage + 2}_block{size}_out").output for stage, size in enumerate(blocks)]


def set_batch_norm_momentum(model: Any, momentum: float) -> None:
    """Sets what every batch normalisation in `model`, nested ones too, keeps of its averages; before it is
    traced."""
    for layer in model._flatten_layers():
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = min(layer.momentum, momentum)


def penalty(variables: list[Any]) -> Any:
    """Half the sum of squares of the kernels: what weight_decay multiplies. Biases and normalisations are
    left out."""
    return tf.add_n([tf.nn.l2_loss(v) for v in variables if "kernel" in v.name])
