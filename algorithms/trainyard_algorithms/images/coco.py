"""COCO's average precision and recall in NumPy: pure functions. Source of the rules: pycocotools'
cocoeval.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
DETECTIONS_MOST = (1, 10, 100)


@dataclass(frozen=True)
class Picture:
    """One picture's boxes [n, 4] (ymin, xmin, ymax, xmax, in any one unit), classes, scores and crowds.

    A true box that is a crowd is neither found nor missed; detections on it do not count.
    """

    boxes: Array
    classes: npt.NDArray[np.int64]
    crowd: Flags
    found_boxes: Array
    found_classes: npt.NDArray[np.int64]
    found_scores: Array


@dataclass(frozen=True)
class Matches:
    """Of one class: each detection's score, and by threshold whether it hits or is ignored; how many true
    boxes."""

    scores: Array
    hits: Flags
    ignored: Flags
    truths: int


def intersection_over_union(found: Array, truths: Array, crowd: Flags) -> Array:
    """[found, truths]; with a crowd, the intersection over the detection's own area."""
    top = np.maximum(found[:, None, :2], truths[None, :, :2])
    bottom = np.minimum(found[:, None, 2:], truths[None, :, 2:])
    both = np.prod(np.maximum(bottom - top, 0), axis=-1)
    area = np.prod(found[:, 2:] - found[:, :2], axis=-1)[:, None]
    union = np.where(
        crowd[None, :], area, area + np.prod(truths[:, 2:] - truths[:, :2], axis=-1)[None, :] - both
    )
    return np.divide(both, union, out=np.zeros_like(both), where=union > 0)


def match(picture: Picture, kind: int) -> Matches:
    """Gives each of the best detections of class `kind`, best first, the free true box that it overlaps
    most."""
    order = np.argsort(-picture.found_scores, kind="mergesort")
    order = order[picture.found_classes[order] == kind][: DETECTIONS_MOST[-1]]
    mine = np.flatnonzero(picture.classes == kind)
    mine = mine[np.argsort(picture.crowd[mine], kind="mergesort")]
    crowd = picture.crowd[mine]
    iou = intersection_over_union(picture.found_boxes[order], picture.boxes[mine], crowd)
    hits = np.zeros([len(THRESHOLDS), len(order)], bool)
    ignored = np.zeros_like(hits)
    for level, threshold in enumerate(THRESHOLDS):
        taken = np.zeros(len(mine), bool)
        for place in range(len(order)):
            truth = best_free(iou[place], crowd, taken, threshold)
            if truth is not None:
                taken[truth] = True
                (ignored if crowd[truth] else hits)[level, place] = True
    return Matches(picture.found_scores[order], hits, ignored, int((~crowd).sum()))


def best_free(iou: Array, crowd: Flags, taken: Flags, threshold: float) -> int | None:
    """The box that a detection gets: the best one that is free; a crowd only where there is no other."""
    for wanted in (False, True):
        free = np.flatnonzero((crowd == wanted) & (~taken | crowd) & (iou >= min(threshold, 1 - 1e-10)))
        if len(free):
            best = free[iou[free] == iou[free].max()]
            return int(best[-1])  # of equal ones the last, as cocoeval
    return None


def first(matches: Matches, most: int) -> Matches:
    """Only the `most` best detections of a picture."""
    return Matches(matches.scores[:most], matches.hits[:, :most], matches.ignored[:, :most], matches.truths)


def precision(parts: Sequence[Matches]) -> tuple[Array, Array]:
    """Of one class over all pictures, by threshold: average precision over RECALLS, and the highest
    recall."""
    scores = np.concatenate([part.scores for part in parts])
    order = np.argsort(-scores, kind="mergesort")
    hits = np.concatenate([part.hits for part in parts], axis=1)[:, order]
    ignored = np.concatenate([part.ignored for part in parts], axis=1)[:, order]
    truths = sum(part.truths for part in parts)
    right = np.cumsum(hits, axis=1, dtype=float)
    wrong = np.cumsum(~hits & ~ignored, axis=1, dtype=float)
    average, recall = np.zeros(len(THRESHOLDS)), np.zeros(len(THRESHOLDS))
    for level in range(len(THRESHOLDS)):
        if not len(order):
            continue
        reached = right[level] / truths
        share = right[level] / np.maximum(right[level] + wrong[level], np.spacing(1))
        share = np.maximum.accumulate(share[::-1])[::-1]
        places = np.searchsorted(reached, RECALLS, side="left")
        average[level] = np.mean(np.where(places < len(share), share[np.minimum(places, len(share) - 1)], 0))
        recall[level] = reached[-1]
    return average, recall


def metrics(pictures: Sequence[Picture]) -> dict[str, float]:
    """AP, AP50, AP75 and ARmax1, ARmax10, ARmax100: means over the classes that have a true box; 0 if none
    has."""
    kinds = sorted({int(kind) for each in pictures for kind in each.classes[~each.crowd]})
    names = ("AP", "AP50", "AP75", *(f"ARmax{most}" for most in DETECTIONS_MOST))
    if not kinds:
        return dict.fromkeys(names, 0.0)
    averages, recalls = [], []
    for kind in kinds:
        of_kind = [each for each in pictures if kind in each.classes or kind in each.found_classes]
        matches = [match(each, kind) for each in of_kind]
        results = [precision([first(each, most) for each in matches]) for most in DETECTIONS_MOST]
        averages.append(results[-1][0])
        recalls.append([recall.mean() for _, recall in results])
    mean = np.mean(averages, axis=0)
    values = (mean.mean(), mean[0], mean[5], *np.mean(recalls, axis=0))
    return {name: float(value) for name, value in zip(names, values, strict=True)}
