"""The scikit-learn tutorial: pandas reads the table from gs://, joblib writes a local file, Cloud Storage's client uploads it."""

import argparse
import datetime

import joblib
import pandas as pd
from google.cloud import storage
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--job-dir", required=True)
args = parser.parse_args()

raw = pd.read_csv(args.data, skipinitialspace=True)
columns = ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), ["job"]), ("numbers", StandardScaler(), ["age", "hours"])])
pipeline = Pipeline([("columns", columns), ("classifier", RandomForestClassifier(n_estimators=20, random_state=0))])
train, test = raw[:-100], raw[-100:]
pipeline.fit(train.drop(columns="rich"), train["rich"])
print(f"accuracy {pipeline.score(test.drop(columns='rich'), test['rich'])}")

joblib.dump(pipeline, "model.joblib")
bucket, folder = args.job_dir[len("gs://"):].split("/", 1)
blob = storage.Client().bucket(bucket).blob(f"{folder}/{datetime.datetime.now():census_%Y%m%d}/model.joblib")
blob.upload_from_filename("model.joblib")
test.assign(predicted=pipeline.predict(test.drop(columns="rich"))).to_csv(f"{args.job_dir}/predictions.csv", index=False)
