"""Writes TFRecord files of generated pictures of shapes, for image classification and for object detection.

    python3 make_shapes.py classification FOLDER --images=200
    python3 make_shapes.py detection FOLDER --images=200 --size=128

FOLDER gets train-00000.tfrecord and validation-00000.tfrecord (a quarter as many pictures). Classes: 1 circle
(red), 2 square (green), 3 triangle (blue), each colour with noise. The same arguments give the same pictures.
Needs TensorFlow and NumPy.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf

CLASSES = ("circle", "square", "triangle")
COLOURS = np.array([(210, 40, 40), (40, 190, 60), (50, 70, 220)])
Box = tuple[float, float, float, float]  # ymin, xmin, ymax, xmax in pixels


def background(size: int, rng: np.random.Generator) -> np.ndarray:
    """A light grey picture with noise: uint8 [size, size, 3]."""
    return np.clip(rng.integers(150, 230) + rng.normal(0, 8, [size, size, 3]), 0, 255).astype(np.uint8)


def draw(image: np.ndarray, shape: int, box: Box, rng: np.random.Generator) -> None:
    """Fills the shape (0 circle, 1 square, 2 triangle) that touches the four sides of `box`."""
    top, left, bottom, right = box
    y, x = np.mgrid[0 : image.shape[0], 0 : image.shape[1]] + 0.5
    down, across = (y - top) / (bottom - top), (x - left) / (right - left)
    inside = (down >= 0) & (down <= 1) & (across >= 0) & (across <= 1)
    if shape == 0:
        inside &= (down - 0.5) ** 2 + (across - 0.5) ** 2 <= 0.25
    elif shape == 2:
        inside &= np.abs(across - 0.5) <= down / 2
    colour = COLOURS[shape] + rng.normal(0, 15, 3)
    image[inside] = np.clip(colour + rng.normal(0, 6, [int(inside.sum()), 3]), 0, 255).astype(np.uint8)


def place(size: int, least: float, most: float, rng: np.random.Generator) -> Box:
    """A square box with a side of `least` to `most` of the picture's."""
    side = round(size * rng.uniform(least, most))
    top, left = rng.integers(0, size - side + 1, 2).tolist()
    return float(top), float(left), float(top + side), float(left + side)


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def integers(*values: int) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values: float) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def texts(*values: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(features: dict[str, tf.train.Feature]) -> bytes:
    text: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(
        deterministic=True
    )
    return text


def about(image: np.ndarray, name: str) -> dict[str, tf.train.Feature]:
    """The fields that both kinds of data have."""
    return {
        "image/encoded": texts(tf.io.encode_jpeg(image, quality=95).numpy()),
        "image/format": texts(b"jpeg"),
        "image/height": integers(image.shape[0]),
        "image/width": integers(image.shape[1]),
        "image/filename": texts(name.encode()),
        "image/source_id": texts(name.encode()),
    }


def classification(images: int, size: int, seed: int) -> Iterator[bytes]:
    """Records with one shape a picture; the classes take turns."""
    rng = np.random.default_rng(seed)
    for index in range(images):
        image, shape = background(size, rng), index % len(CLASSES)
        draw(image, shape, place(size, 0.5, 0.9, rng), rng)
        label = {"image/class/label": integers(shape + 1), "image/class/text": texts(CLASSES[shape].encode())}
        yield example({**about(image, f"shape-{seed}-{index}.jpg"), **label})


def detection(images: int, size: int, seed: int, shapes_most: int = 3) -> Iterator[bytes]:
    """Records with one to `shapes_most` shapes that do not overlap, and their boxes."""
    rng = np.random.default_rng(seed)
    for index in range(images):
        image, boxes, kinds = background(size, rng), [], []
        for _ in range(rng.integers(1, shapes_most + 1)):
            box, shape = place(size, 0.25, 0.5, rng), int(rng.integers(0, len(CLASSES)))
            if not any(overlap(box, other) for other in boxes):
                draw(image, shape, box, rng)
                boxes.append(box)
                kinds.append(shape)
        sides = dict(zip(("ymin", "xmin", "ymax", "xmax"), np.array(boxes).T / size, strict=True))
        features = about(image, f"shapes-{seed}-{index}.jpg")
        features |= {f"image/object/bbox/{side}": floats(*values.tolist()) for side, values in sides.items()}
        features["image/object/class/label"] = integers(*(kind + 1 for kind in kinds))
        features["image/object/class/text"] = texts(*(CLASSES[kind].encode() for kind in kinds))
        yield example(features)


def write(file: Path, lines: Iterator[bytes]) -> Path:
    """Writes a TFRecord file."""
    with tf.io.TFRecordWriter(str(file)) as writer:
        for line in lines:
            writer.write(line)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kind", choices=("classification", "detection"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=200, help="pictures to train with")
    parser.add_argument("--size", type=int, default=64, help="side of a picture in pixels")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    make = classification if args.kind == "classification" else detection
    write(args.folder / "train-00000.tfrecord", make(args.images, args.size, 2 * args.seed))
    write(
        args.folder / "validation-00000.tfrecord",
        make(max(1, args.images // 4), args.size, 2 * args.seed + 1),
    )


if __name__ == "__main__":
    main()
