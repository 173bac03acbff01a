"""A pipeline with preprocessing, found by a grid search on all processors of the replica (joblib's processes)."""

import argparse
import io
import json
import os

import joblib
import pandas
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from trainer import job_dir


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--table", required=True, help="CSV with the columns age, hours, job and rich; a path or gs://")
    parser.add_argument("--processes", type=int, default=-1)
    args = parser.parse_args()
    table = pandas.read_csv(args.table)
    train, test = train_test_split(table, test_size=0.25, random_state=0, stratify=table["rich"])
    model = Pipeline([
        ("columns", ColumnTransformer([("numbers", StandardScaler(), ["age", "hours"]),
                                       ("words", OneHotEncoder(handle_unknown="ignore"), ["job"])])),
        ("trees", GradientBoostingClassifier(random_state=0)),
    ])
    search = GridSearchCV(model, {"trees__max_depth": [1, 3], "trees__n_estimators": [20, 60]}, cv=3,
                          n_jobs=args.processes)
    with joblib.parallel_backend("loky"):
        search.fit(train.drop(columns="rich"), train["rich"])
    accuracy = search.score(test.drop(columns="rich"), test["rich"])
    print("accuracy=%.4f with %s" % (accuracy, search.best_params_))
    saved = io.BytesIO()
    joblib.dump(search.best_estimator_, saved)
    job_dir.write(args.job_dir, "model/model.joblib", saved.getvalue())
    job_dir.write(args.job_dir, "result.json", json.dumps(
        {"accuracy": accuracy, "best": search.best_params_, "rows": len(table), "cpus": os.cpu_count()}).encode())


if __name__ == "__main__":
    main()
