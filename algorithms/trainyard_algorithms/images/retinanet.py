"""RetinaNet: a ResNet, a pyramid of features and two heads. Source: the TPU RetinaNet of the TensorFlow Model
Garden."""

import math
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from . import backbones

# NAS-FPN's seven merging cells (Ghiasi et al., 2019): level, how two nodes are merged, the nodes. Nodes 0 to
# 4 are the levels 3 to 7 that come in; cells are 5 and on, the last five of them the levels that go out.
NASFPN_LEVELS = (3, 7)
NASFPN_REPEATS = 5
NASFPN_CELLS = (
    (4, "attention", 1, 3),
    (4, "sum", 1, 5),
    (3, "sum", 0, 6),
    (4, "sum", 6, 7),
    (5, "attention", 7, 8),
    (7, "attention", 6, 9),
    (6, "attention", 9, 10),
)
NASFPN_OUT = (7, 8, 9, 10, 11)
# How probable an object is at the start, so that the many anchors without one do not drown the rest.
PRIOR = 0.01

Maps = dict[int, Any]


def conv(x: Any, width: int, name: str, kernel: int = 3, strides: int = 1) -> Any:
    layers = tf.keras.layers
    return layers.Conv2D(width, kernel, strides, padding="same", name=name, kernel_initializer="he_normal")(x)


def norm(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(epsilon=1e-4, name=name)(x)


def resized(x: Any, by: int, name: str) -> Any:
    """From a map to one `by` levels coarser (above 0, by maxima) or finer (below 0, by repetition)."""
    layers = tf.keras.layers
    if by == 0:
        return x
    if by > 0:
        return layers.MaxPooling2D(2**by, 2**by, "same", name=name)(x)
    return layers.UpSampling2D(2**-by, name=name)(x)


def pyramid(stages: Maps, low: int, high: int, width: int) -> Maps:
    """The maps of the levels `low` to `high`, of the backbone's at levels 2 to 5: feature pyramid network."""
    top = min(high, max(stages))
    maps = {level: conv(stages[level], width, f"lateral_{level}", kernel=1) for level in range(low, top + 1)}
    for level in range(top - 1, low - 1, -1):
        finer = resized(maps[level + 1], -1, f"up_{level}")
        maps[level] = tf.keras.layers.Add(name=f"merge_{level}")([maps[level], finer])
    maps = {level: conv(x, width, f"post_{level}") for level, x in maps.items()}
    coarser(maps, top, high, width)
    return {level: norm(x, f"pyramid_bn_{level}") for level, x in maps.items()}


def coarser(maps: Maps, top: int, high: int, width: int) -> None:
    """Adds the levels that the backbone has not, each from the one below it."""
    for level in range(top + 1, high + 1):
        below = maps[level - 1]
        if level > top + 1:
            below = tf.keras.layers.Activation("relu", name=f"coarse_relu_{level}")(below)
        maps[level] = conv(below, width, f"coarse_{level}", strides=2)


def nas_pyramid(stages: Maps, width: int) -> Maps:
    """The maps of the levels 3 to 7 by NAS-FPN."""
    low, high = NASFPN_LEVELS
    maps = {level: conv(stages[level], width, f"lateral_{level}", kernel=1) for level in range(low, 6)}
    coarser(maps, 5, high, width)
    for repeat in range(NASFPN_REPEATS):
        maps = nas_cells(maps, width, f"cell{repeat}")
    return maps


def nas_cells(maps: Maps, width: int, name: str) -> Maps:
    """One round of merging cells."""
    layers = tf.keras.layers
    nodes = [(level, maps[level]) for level in sorted(maps)]
    used = {node for _, _, *pair in NASFPN_CELLS for node in pair}
    for index, (level, how, first, second) in enumerate(NASFPN_CELLS):
        place = len(nodes)
        pair = [
            resized(nodes[node][1], level - nodes[node][0], f"{name}_{index}_{side}")
            for side, node in enumerate((first, second))
        ]
        if how == "attention":
            peak = layers.GlobalMaxPooling2D(keepdims=True, name=f"{name}_{index}_peak")(pair[0])
            gate = layers.Activation("sigmoid", name=f"{name}_{index}_gate")(peak)
            pair[1] = layers.Multiply(name=f"{name}_{index}_gated")([pair[1], gate])
        if place in NASFPN_OUT:
            pair += [x for node, (other, x) in enumerate(nodes) if other == level and node not in used]
        merged = layers.Add(name=f"{name}_{index}_add")(pair)
        active = layers.Activation("relu", name=f"{name}_{index}_relu")(merged)
        nodes.append((level, norm(conv(active, width, f"{name}_{index}_conv"), f"{name}_{index}_bn")))
    return {nodes[place][0]: nodes[place][1] for place in NASFPN_OUT}


def head(maps: Maps, convs: int, width: int, out: int, name: str, bias: float, per_anchor: int) -> Any:
    """[pictures, anchors, out / per place]: convolutions that all levels share, normalisations of each
    level's own."""
    layers = tf.keras.layers
    shared = [
        layers.Conv2D(width, 3, padding="same", name=f"{name}_{index}", kernel_initializer="he_normal")
        for index in range(convs)
    ]
    last = layers.Conv2D(
        out * per_anchor,
        3,
        padding="same",
        name=f"{name}_out",
        kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.01),
        bias_initializer=tf.keras.initializers.Constant(bias),
    )
    rows = []
    for level, x in sorted(maps.items()):
        for index, layer in enumerate(shared):
            x = layers.Activation("relu")(norm(layer(x), f"{name}_{index}_bn_{level}"))
        rows.append(layers.Reshape((-1, out), name=f"{name}_rows_{level}")(last(x)))
    return layers.Concatenate(axis=1, name=f"{name}_all")(rows) if len(rows) > 1 else rows[0]


def network(
    shape: tuple[int, int], depth: int, classes: int, per_place: int, options: Mapping[str, Any]
) -> Any:
    """(backbone, detector, model): the model takes pictures as `prepared` and gives class logits [pictures,
    anchors, classes] and offsets [pictures, anchors, 4].

    options: fpn_type, fpn_min_level, fpn_max_level, fpn_feature_dims, head_num_convs.
    """
    low, high, width = options["fpn_min_level"], options["fpn_max_level"], options["fpn_feature_dims"]
    top = min(high, 5)
    backbone = backbones.resnet(depth, *shape, count=top - 1)
    outputs = backbones.stages(backbone, depth, top - 1)[low - 2 :]
    inputs = {low + index: tf.keras.layers.Input(x.shape[1:]) for index, x in enumerate(outputs)}
    maps = (
        nas_pyramid(inputs, width) if options["fpn_type"] == "nasfpn" else pyramid(inputs, low, high, width)
    )
    convs, bias = options["head_num_convs"], -math.log((1 - PRIOR) / PRIOR)
    logits = head(maps, convs, width, classes, "class", bias, per_place)
    offsets = head(maps, convs, width, 4, "box", 0.0, per_place)
    detector = tf.keras.Model(list(inputs.values()), [logits, offsets], name="detector")
    model = tf.keras.Model(backbone.input, detector(outputs), name="retinanet")
    return backbone, detector, model


def focal(logits: Any, wanted: Any, alpha: float, gamma: float) -> Any:
    """Sum of the focal loss of sigmoids (Lin et al., 2017); `wanted` is 0 or 1."""
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(wanted, logits)
    right = tf.exp(-entropy)
    weight = wanted * alpha + (1 - wanted) * (1 - alpha)
    # (1 - right) ** gamma has no gradient at 0.
    return tf.reduce_sum(weight * tf.pow(tf.maximum(1 - right, 1e-7), gamma) * entropy)


def huber(error: Any, delta: float = 0.1) -> Any:
    """Sum of Huber's loss: squares up to delta, then lines. 0.1 is the Model Garden's."""
    size = tf.abs(error)
    return tf.reduce_sum(tf.where(size <= delta, 0.5 * size * size, delta * size - 0.5 * delta * delta))


def losses(answer: Any, wanted: Any, alpha: float, gamma: float, weight: float) -> dict[str, Any]:
    """`loss` = class_loss + weight * box_loss; both are per anchor that stands for a box. wanted: as
    `anchors.targets` of each picture, stacked."""
    logits, offsets = answer
    classes, goal = wanted
    matched = classes >= 0
    count = tf.reduce_sum(tf.cast(matched, tf.float32))
    kinds = tf.one_hot(classes, tf.shape(logits)[-1])  # -1 gives zeros
    class_loss = focal(logits, kinds, alpha, gamma) / (count + 1.0)
    error = tf.where(matched[..., None], offsets - goal, 0.0)
    box_loss = huber(error) / (4.0 * tf.maximum(count, 1.0))
    return {"loss": class_loss + weight * box_loss, "class_loss": class_loss, "box_loss": box_loss}
