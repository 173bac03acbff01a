"""COCO's average precision and recall against cases counted by hand."""

from typing import Any

import numpy as np
import pytest
from trainyard_algorithms.images import coco

A, B, FAR = (0.0, 0.0, 10.0, 10.0), (0.0, 20.0, 10.0, 30.0), (50.0, 50.0, 60.0, 60.0)


def picture(truths: list[Any], found: list[Any]) -> coco.Picture:
    """truths: (box, class[, crowd]); found: (box, class, score)."""
    return coco.Picture(
        np.array([each[0] for each in truths], float).reshape(-1, 4),
        np.array([each[1] for each in truths], np.int64),
        np.array([len(each) > 2 and each[2] for each in truths], bool),
        np.array([each[0] for each in found], float).reshape(-1, 4),
        np.array([each[1] for each in found], np.int64),
        np.array([each[2] for each in found], float),
    )


def shifted(by: float) -> tuple[float, ...]:
    """Box A moved down: its overlap with A is (10 - by) / (10 + by)."""
    return (by, 0.0, 10.0 + by, 10.0)


half = 51 / 101  # precision 1 at the recalls 0 to 0.5, then 0
CASES: dict[str, tuple[list[coco.Picture], dict[str, float]]] = {
    "perfect": (
        [picture([(A, 1), (B, 2)], [(A, 1, 0.9), (B, 2, 0.8)])],
        dict.fromkeys(["AP", "ARmax100"], 1.0),
    ),
    "no_detection": ([picture([(A, 1)], [])], dict.fromkeys(["AP", "AP50", "ARmax100"], 0.0)),
    "no_truth": ([picture([], [(A, 1, 0.9)])], dict.fromkeys(["AP", "AP50", "ARmax100"], 0.0)),
    "wrong_class": ([picture([(A, 1)], [(A, 2, 0.9)])], {"AP": 0.0, "ARmax100": 0.0}),
    "one_of_two": ([picture([(A, 1), (B, 1)], [(A, 1, 0.9)])], {"AP": half, "AP50": half, "ARmax10": 0.5}),
    # the wrong one first: precision 1/2 at every recall
    "false_alarm_first": (
        [picture([(A, 1)], [(FAR, 1, 0.9), (A, 1, 0.8)])],
        {"AP": 0.5, "ARmax1": 0.0, "ARmax10": 1.0},
    ),
    "false_alarm_last": ([picture([(A, 1)], [(FAR, 1, 0.1), (A, 1, 0.8)])], {"AP": 1.0, "ARmax1": 1.0}),
    "seen_twice": (
        [picture([(A, 1), (B, 1)], [(A, 1, 0.9), (A, 1, 0.8), (B, 1, 0.7)])],
        {"AP": (51 + 50 * 2 / 3) / 101},
    ),
    # overlap 0.6: found at the thresholds 0.50, 0.55 and 0.60 of ten
    "shifted": (
        [picture([(A, 1)], [(shifted(2.5), 1, 0.9)])],
        {"AP": 0.3, "AP50": 1.0, "AP75": 0.0, "ARmax1": 0.3},
    ),
    "overlap_exactly_half": (
        [picture([((0, 0, 10, 10), 1)], [((0, 0, 5, 10), 1, 0.9)])],
        {"AP50": 1.0, "AP": 0.1},
    ),
    "other_picture": ([picture([(A, 1)], []), picture([], [(A, 1, 0.9)])], {"AP": 0.0, "ARmax100": 0.0}),
    "scores_order_over_pictures": (
        [picture([(A, 1)], [(A, 1, 0.3)]), picture([(A, 1)], [(FAR, 1, 0.9), (A, 1, 0.6)])],
        {"AP": (2 / 3), "ARmax1": 0.5, "ARmax10": 1.0},
    ),
    "crowd_is_neither": (
        [picture([(A, 1), (B, 1, True)], [(A, 1, 0.5), (B, 1, 0.9), (B, 1, 0.8)])],
        {"AP": 1.0},
    ),
    "only_crowd": ([picture([(A, 1, True)], [(A, 1, 0.9)])], {"AP": 0.0}),
    "a_part_of_a_crowd": (
        [picture([(A, 1), ((0, 20, 90, 90), 1, True)], [(A, 1, 0.5), (B, 1, 0.9)])],
        {"AP": 1.0},
    ),
    "mean_over_classes_with_truths": (
        [picture([(A, 1), (B, 2)], [(A, 1, 0.9), (FAR, 3, 0.9)])],
        {"AP": 0.5, "ARmax1": 0.5},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_metrics(name: str) -> None:
    pictures, wanted = CASES[name]
    result = coco.metrics(pictures)
    assert {key: result[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_at_most_a_hundred_detections_of_a_class_count() -> None:
    noise = [(FAR, 1, 0.9)] * 100
    assert coco.metrics([picture([(A, 1)], [*noise, (A, 1, 0.5)])])["ARmax100"] == 0.0
    assert coco.metrics([picture([(A, 1)], [*noise[:99], (A, 1, 0.5)])])["ARmax100"] == 1.0


def test_nothing_at_all() -> None:
    assert set(coco.metrics([]).values()) == {0.0}
