"""Models of the built-in algorithms, loaded by the plain libraries: a program for the runtime version `algorithms`.

Reads requests as lines of JSON ([function, arguments...]) and answers each with a line, so that a library is loaded once.
The functions take folders and files and know nothing of the trainers, except `detection`, which asks them for COCO's
average precision.
"""

import csv
import io
import json
import math
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def table(file):
    with open(file, newline="", encoding="utf-8") as opened:
        return list(csv.reader(opened))


def numbers(*files):
    """Features and target of CSV files of numbers."""
    rows = np.array([[float(value) for value in row] for file in files for row in table(file)], np.float32)
    return rows[:, 1:], rows[:, 0]


def booster(folder, params, rounds, training, validation):
    """model.bst beside a model that the library trains with the same data by hand: the largest difference of their predictions, and metrics
    of model.bst."""
    import xgboost
    features, target = numbers(*training)
    seen, wanted = numbers(validation)
    model = xgboost.Booster(model_file=f"{folder}/model/model.bst")
    same = xgboost.Booster(model_file=f"{folder}/model/model.json")
    by_hand = xgboost.train(params, xgboost.DMatrix(features, target), rounds)
    found, other, third = (each.predict(xgboost.DMatrix(seen)) for each in (model, by_hand, same))
    if found.ndim == 1:
        found, other, third = (np.stack([1 - each, each], 1) for each in (found, other, third))
    chosen = found[np.arange(len(found)), wanted.astype(int)].astype(np.float64)
    return {"rounds": model.num_boosted_rounds(), "apart": float(np.abs(found - other).max()), "formats_apart": float(np.abs(found - third).max()),
            "loss": float(-np.log(chosen).mean()), "accuracy": float((found.argmax(1) == wanted).mean()),
            "accuracy_by_hand": float((other.argmax(1) == wanted).mean())}


def rows_of(folder):
    """Rows of the validation part as the model takes them, and their targets: processed_data/ leaves keys out, the model has a place for
    them."""
    columns = json.loads(Path(folder, "artifacts/metadata.json").read_text())["columns"]
    rows, targets = [], []
    for row in table(f"{folder}/processed_data/validation.csv"):
        values = iter(row[1:])
        text = io.StringIO()
        csv.writer(text).writerow([next(values) if column["kind"] in ("numeric", "categorical") else "0" for column in columns])
        rows.append(text.getvalue().strip("\r\n"))
        targets.append(row[0])
    return rows, targets


def serving(folder):
    import tensorflow as tf
    model = tf.saved_model.load(f"{folder}/model")
    return tf, model, model.signatures["serving_default"]


def tabular(folder):
    """Metrics of the SavedModel on processed_data/validation.csv, from its predictions alone."""
    rows, targets = rows_of(folder)
    tf, model, predict = serving(folder)
    found = {name: value.numpy() for name, value in predict(tf.constant(rows)).items()}
    if "predictions" in found:
        wrong = found["predictions"][:, 0].astype(np.float64) - np.array(targets, np.float64)
        return {"rows": len(rows), "rmse": math.sqrt((wrong ** 2).mean()), "mae": float(np.abs(wrong).mean())}
    labels = [name.decode() for name in found["all_classes"][0]]
    right = found["classes"][:, 0].astype("U") == np.array(targets)
    chosen = found["probabilities"][np.arange(len(rows)), [labels.index(target) for target in targets]]
    return {"rows": len(rows), "labels": labels, "accuracy": float(right.mean()), "loss": float(-np.log(chosen.astype(np.float64)).mean())}


def examples(tf, file):
    for record in tf.data.TFRecordDataset(str(file)):
        yield tf.train.Example.FromString(record.numpy()).features.feature


def answered(folder, records):
    """What the SavedModel says of the pictures, as arrays by name, and the pictures' features."""
    tf, model, predict = serving(folder)
    pictures = list(examples(tf, records))
    encoded = tf.constant([picture["image/encoded"].bytes_list.value[0] for picture in pictures])
    found = predict(image_bytes=encoded, key=tf.constant([str(place) for place in range(len(pictures))]))
    return {name: value.numpy() for name, value in found.items()}, pictures


def classification(folder, records):
    """Accuracy and loss of the SavedModel on the pictures of a TFRecord file."""
    found, pictures = answered(folder, records)
    labels = np.array([picture["image/class/label"].int64_list.value[0] for picture in pictures])
    chosen = found["probabilities"][np.arange(len(labels)), labels - 1].astype(np.float64)
    texts = {picture["image/class/text"].bytes_list.value[0].decode() for picture in pictures}
    return {"rows": len(labels), "accuracy": float((found["classes"] == labels).mean()), "loss": float(-np.log(chosen).mean()),
            "keys": [key.decode() for key in found["key"]], "texts": sorted(texts),
            "labels": sorted({text.decode() for text in found["labels"]})}


def detection(folder, records):
    """COCO's metrics of the SavedModel's detections in the pictures of a TFRecord file, and what the detections look like."""
    sys.path.append(str(ROOT / "algorithms"))
    from trainyard_algorithms.images import coco
    found, pictures = answered(folder, records)
    seen = []
    for place, picture in enumerate(pictures):
        boxes = np.array([picture[f"image/object/bbox/{side}"].float_list.value for side in ("ymin", "xmin", "ymax", "xmax")]).T
        classes = np.array(picture["image/object/class/label"].int64_list.value)
        count = int(found["num_detections"][place])
        seen.append(coco.Picture(boxes, classes, np.zeros(len(classes), bool), found["detection_boxes"][place, :count].astype(np.float64),
                                 found["detection_classes"][place, :count].astype(np.int64),
                                 found["detection_scores"][place, :count].astype(np.float64)))
    boxes, scores = found["detection_boxes"], found["detection_scores"]
    return {**coco.metrics(seen), "pictures": len(pictures), "shape": list(boxes.shape), "sorted": bool((np.diff(scores, axis=1) <= 0).all()),
            "inside": bool((boxes >= 0).all() and (boxes <= 1).all()), "classes": sorted({int(each) for each in found["detection_classes"].flat}),
            "detections": int(found["num_detections"].sum())}


def shapes(folder, side, training, validation):
    """Pictures to train with: FOLDER/classification-train and so on."""
    sys.path.append(str(ROOT / "examples/algorithms"))
    import make_shapes
    for kind in ("classification", "detection"):
        for part, count, seed in (("train", training, 2), ("validation", validation, 3)):
            make_shapes.write(Path(folder, f"{kind}-{part}"), getattr(make_shapes, kind)(count, side, seed))


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print goes elsewhere
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = {"answer": globals()[name](*arguments)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
