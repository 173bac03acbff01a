"""Anchors, targets, losses and frames of the detector, each rule alone."""

import os
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms.images import anchors, detect_data, retinanet  # noqa: E402
from trainyard_algorithms.images.detect_data import Augmentation, Frame  # noqa: E402


def test_anchors_cover_every_place_with_every_size_and_ratio() -> None:
    boxes = anchors.anchors(64, 32, 3, 5, 4.0, [1.0, 2.0])
    places = 8 * 4 + 4 * 2 + 2 * 1
    assert boxes.shape == (places * 3 * 2, 4)
    assert boxes[0] == pytest.approx([4 - 16, 4 - 16, 4 + 16, 4 + 16])  # stride 8, side 4 * 8
    height, width = boxes[1, 2] - boxes[1, 0], boxes[1, 3] - boxes[1, 1]
    assert (width / height, width * height) == (pytest.approx(2), pytest.approx(32 * 32))
    assert anchors.sizes(65, 32, 3, 4) == [(9, 4), (5, 2)]


def test_decode_is_the_inverse_of_encode() -> None:
    rng = np.random.default_rng(1)
    corner = rng.uniform(0, 50, [100, 2])
    boxes = np.concatenate([corner, corner + rng.uniform(1, 40, [100, 2])], axis=1).astype(np.float32)
    bases = boxes[rng.permutation(100)]
    assert anchors.decode(anchors.encode(boxes, bases), bases).numpy() == pytest.approx(boxes, abs=1e-3)


def test_targets() -> None:
    bases = np.array([(0, 0, 10, 10), (0, 6, 10, 16), (40, 40, 50, 50), (80, 80, 90, 90)], np.float32)
    boxes = tf.constant([(0, 1, 10, 11), (38, 38, 60, 60), (0, 0, 0, 0)], tf.float32)
    classes, offsets = anchors.targets(boxes, tf.constant([2, 0, -1]), tf.constant(bases))
    # the second box overlaps no anchor by half; its best one stands for it all the same
    assert classes.numpy().tolist() == [2, -1, 0, -1]
    assert anchors.decode(offsets, bases).numpy()[[0, 2]] == pytest.approx(boxes.numpy()[:2], abs=1e-4)
    assert not offsets.numpy()[[1, 3]].any()


def test_targets_without_boxes_are_all_background() -> None:
    bases = anchors.anchors(32, 32, 3, 4, 4.0, [1.0])
    classes, offsets = anchors.targets(tf.zeros([3, 4]), tf.fill([3], -1), tf.constant(bases))
    assert set(classes.numpy()) == {-1} and not offsets.numpy().any()


def test_focal_loss_and_huber() -> None:
    logits = np.array([0.0, 2.0, -3.0], np.float32)
    wanted = np.array([1.0, 0.0, 1.0], np.float32)
    chance = 1 / (1 + np.exp(-logits))
    right = np.where(wanted == 1, chance, 1 - chance)
    by_hand = np.where(wanted == 1, 0.25, 0.75) * (1 - right) ** 1.5 * -np.log(right)
    assert float(retinanet.focal(logits, wanted, 0.25, 1.5)) == pytest.approx(by_hand.sum(), rel=1e-5)
    assert float(retinanet.huber(np.array([0.05, -0.3], np.float32))) == pytest.approx(
        0.00125 + 0.025, rel=1e-5
    )


def test_loss_is_per_matched_anchor_and_weighs_boxes() -> None:
    logits, offsets = tf.fill([1, 2, 3], -20.0), tf.constant([[[0.5, 0, 0, 0], [9.0, 9, 9, 9]]])
    wanted = (tf.constant([[1, -1]]), tf.zeros([1, 2, 4]))
    result = retinanet.losses((logits, offsets), wanted, 0.25, 2.0, 50.0)
    assert float(result["box_loss"]) == pytest.approx(
        (0.1 * 0.5 - 0.005) / 4
    )  # the background's offsets do not count
    assert float(result["class_loss"]) == pytest.approx(0.25 * 20 / 2, rel=1e-4)
    assert float(result["loss"]) == pytest.approx(
        float(result["class_loss"]) + 50 * float(result["box_loss"])
    )


def test_frame_keeps_proportions_and_pads_to_the_stride() -> None:
    frame = Frame(60, 100, 32)
    assert (frame.rows, frame.columns) == (64, 128)
    canvas, extent = detect_data.framed(np.full([30, 20, 3], 200, np.uint8), frame)
    assert canvas.shape == (64, 128, 3) and extent.numpy().tolist() == [60.0, 40.0]
    assert canvas.numpy()[:60, :40].min() == 200 and canvas.numpy()[60:].max() == detect_data.GREY
    _, thin = detect_data.framed(np.zeros([1, 900, 3], np.uint8), frame)
    assert thin.numpy().tolist() == [1.0, 100.0]


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("flip", [False, True])
def test_augmentation_moves_boxes_with_the_picture(scale: float, flip: bool) -> None:
    image = np.zeros([40, 80, 3], np.uint8)
    image[8:24, 16:40] = 255
    box = tf.constant([[8 / 40, 16 / 80, 24 / 40, 40 / 80]])
    frame, how = Frame(64, 64, 32), Augmentation(flip, scale, scale, True)
    for seed in range(6):
        plain = Augmentation(flip, scale, scale, False)
        shown, moved = detect_data.changed(image, box, frame, plain, tf.constant([seed, 1], tf.int64))
        top, left, bottom, right = (round(float(side)) for side in moved[0])
        inside = shown.numpy()[top + 1 : bottom - 1, left + 1 : right - 1]
        assert inside.size == 0 or inside.min() > 200
        whole = shown.numpy().sum()
        assert shown.numpy()[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1].sum() > 0.95 * whole
        coloured, same = detect_data.changed(image, box, frame, how, tf.constant([seed, 1], tf.int64))
        assert np.array_equal(same, moved) and coloured.numpy().min() >= 0 and coloured.numpy().max() <= 255


def outputs(**options: Any) -> Any:
    settings = {
        "fpn_type": "fpn",
        "fpn_min_level": 3,
        "fpn_max_level": 7,
        "fpn_feature_dims": 8,
        "head_num_convs": 1,
    }
    return retinanet.network((128, 128), 18, 2, 3, settings | options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fpn_type": "nasfpn"},
        {"fpn_min_level": 2, "fpn_max_level": 4},
        {"fpn_min_level": 5, "head_num_convs": 0},
    ],
)
def test_network_says_as_much_as_there_are_anchors(options: dict[str, Any]) -> None:
    low, high = options.get("fpn_min_level", 3), options.get("fpn_max_level", 7)
    count = len(anchors.anchors(128, 128, low, high, 4.0, [1.0]))
    _, _, model = outputs(**options)
    assert [tuple(each.shape) for each in model.outputs] == [(None, count, 2), (None, count, 4)]
