"""Trains a random forest on the iris data and writes model, metrics and predictions to the job-dir."""

import argparse
import io
import json
import logging

import joblib
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trainer import job_dir


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True, help="a folder, or gs://BUCKET/PATH")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--max-depth", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    args = parse_args()
    iris = load_iris()
    names = iris.target_names[iris.target]
    train_x, test_x, train_y, test_y = train_test_split(
        iris.data, names, test_size=0.3, stratify=names, random_state=args.seed)
    logging.info("training on %d flowers, %d features, %d kinds", *train_x.shape, len(iris.target_names))

    model = make_pipeline(StandardScaler(), RandomForestClassifier(
        n_estimators=args.trees, max_depth=args.max_depth, random_state=args.seed))
    folds = cross_val_score(model, train_x, train_y, cv=5)
    logging.info("cross-validation: %.3f +- %.3f", folds.mean(), folds.std())

    model.fit(train_x, train_y)
    predicted = model.predict(test_x)
    accuracy = accuracy_score(test_y, predicted)
    print("accuracy=%.4f on %d flowers" % (accuracy, len(test_y)))

    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    metrics = {"accuracy": accuracy, "cross_validation": folds.tolist(),
               "labels": iris.target_names.tolist(),
               "confusion": confusion_matrix(test_y, predicted, labels=iris.target_names).tolist()}
    table = ["actual,predicted"] + ["%s,%s" % pair for pair in zip(test_y, predicted)]
    print("model:", job_dir.write(args.job_dir, "model/model.joblib", buffer.getvalue()))
    job_dir.write(args.job_dir, "metrics.json", (json.dumps(metrics, indent=1) + "\n").encode())
    job_dir.write(args.job_dir, "predictions.csv", ("\n".join(table) + "\n").encode())


if __name__ == "__main__":
    main()
