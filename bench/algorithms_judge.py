"""Loads trained models with the plain libraries and looks at the test part; fits the peers on the same rows.

usage: PYTHON bench/algorithms_judge.py < QUESTION > ANSWER

PYTHON is that of the runtime version `algorithms`. QUESTION is JSON: `kind` (binary, classes or regression), `test` (the test part as it
was given to the algorithm), `job` (the folder of the job or trial), `trees` (the model is XGBoost's), `peers` (fit them too, on the job's
processed_data, which is all numbers). The answer: `test` and, with peers, `histogram` and `linear`: the metric of each.
"""

import csv
import io
import json
import os
import pathlib
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # jobs run beside it

import numpy as np  # noqa: E402
from sklearn import metrics  # noqa: E402

KEYS = {"linear": "logistic or linear regression", "histogram": "HistGradientBoosting"}


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def metric(kind, target, outcome):
    """`outcome`: probabilities [rows, classes] or values [rows]."""
    if kind == "binary":
        return float(metrics.roc_auc_score(target, outcome[:, 1]))
    if kind == "classes":
        return float(metrics.accuracy_score(target, outcome.argmax(axis=1)))
    return float(metrics.root_mean_squared_error(target, outcome))


def numbers(path):
    """Target and features of a processed part that is all numbers."""
    table = np.array(rows_of(path), np.float64)
    return table[:, 0], table[:, 1:]


def of_trees(question):
    import xgboost as xgb

    target, features = numbers(f"{question['job']}/processed_data/test.csv")
    given = [float(row[0]) for row in rows_of(question["test"])]
    assert np.allclose(target, given, rtol=1e-6), "preprocessing dropped rows of the test part, or changed their order"
    booster = xgb.Booster(model_file=f"{question['job']}/model/model.json")
    outcome = booster.predict(xgb.DMatrix(features))
    return metric(question["kind"], target, np.stack([1 - outcome, outcome], axis=1) if question["kind"] == "binary" else outcome)


def of_network(question):
    import tensorflow as tf

    rows = rows_of(question["test"])
    texts = io.StringIO()
    csv.writer(texts, lineterminator="\n").writerows(row[1:] for row in rows)
    # No value has a line's end in it.
    lines = texts.getvalue().splitlines()
    signature = tf.saved_model.load(f"{question['job']}/model").signatures["serving_default"]
    name = list(signature.structured_input_signature[1])[0]
    found = signature(**{name: tf.constant(lines)})
    outcome = found["predictions" if question["kind"] == "regression" else "probabilities"].numpy()
    outcome = outcome.reshape(len(lines)) if question["kind"] == "regression" else outcome
    return metric(question["kind"], np.array([float(row[0]) for row in rows]), outcome)


def of_peers(question):
    """Both with the library's defaults, on the training part alone. The linear one gets standardised numbers, as our linear learner has
    them."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    target, features = numbers(f"{question['job']}/processed_data/training.csv")
    test_target, test_features = numbers(f"{question['job']}/processed_data/test.csv")
    regression = question["kind"] == "regression"
    peers = {"histogram": HistGradientBoostingRegressor(random_state=0) if regression else HistGradientBoostingClassifier(random_state=0),
             "linear": make_pipeline(StandardScaler(), LinearRegression() if regression else LogisticRegression())}
    found = {}
    for name, peer in peers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence: the defaults are what is measured
            peer.fit(features, target)
        outcome = peer.predict(test_features) if regression else peer.predict_proba(test_features)
        found[name] = metric(question["kind"], test_target, outcome)
    return found


def main():
    question = json.load(sys.stdin)
    assert pathlib.Path(question["job"]).is_dir(), question["job"]
    answer = {"test": of_trees(question) if question["trees"] else of_network(question)}
    if question["peers"]:
        answer |= of_peers(question)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
