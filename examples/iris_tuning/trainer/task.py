"""Trains a linear classifier on the iris data, epoch by epoch, and reports its accuracy after each."""

import argparse

import hypertune
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", help="not used: the metric is all that is left")
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--penalty", choices=["l1", "l2", "elasticnet"], default="l2")
    parser.add_argument("--power-t", type=float, default=0.25)
    return parser.parse_args()


def main():
    args = parse_args()
    iris = load_iris()
    train_x, test_x, train_y, test_y = train_test_split(iris.data, iris.target, test_size=0.4, random_state=0, stratify=iris.target)
    scaler = StandardScaler().fit(train_x)
    model = SGDClassifier(alpha=args.alpha, penalty=args.penalty, power_t=args.power_t, learning_rate="invscaling", eta0=0.1,
                          random_state=0)
    reporter = hypertune.HyperTune()
    order = np.random.RandomState(0)
    for epoch in range(1, args.epochs + 1):
        shuffled = order.permutation(len(train_x))
        model.partial_fit(scaler.transform(train_x[shuffled]), train_y[shuffled], classes=np.unique(iris.target))
        accuracy = model.score(scaler.transform(test_x), test_y)
        reporter.report_hyperparameter_tuning_metric(hyperparameter_metric_tag="accuracy", metric_value=accuracy, global_step=epoch)
    print(f"accuracy={accuracy:.4f} after {args.epochs} epochs")


if __name__ == "__main__":
    main()
