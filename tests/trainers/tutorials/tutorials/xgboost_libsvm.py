"""XGBoost trains on a DMatrix of a file that was on gs://, and the booster goes back there."""

import argparse
import json
import os

import gcsfs
import xgboost as xgb

parser = argparse.ArgumentParser()
parser.add_argument("--train", required=True)
parser.add_argument("--job-dir", required=True)
args = parser.parse_args()

files = gcsfs.GCSFileSystem()
files.get(args.train, "train.libsvm")
matrix = xgb.DMatrix("train.libsvm?format=libsvm")
watched = {}
booster = xgb.train({"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "eval_metric": "error"}, matrix, 20,
                    [(matrix, "train")], evals_result=watched)
booster.save_model("model.bst")
files.put("model.bst", os.path.join(args.job_dir, "model.bst"))
with files.open(os.path.join(args.job_dir, "result.json"), "w") as out:
    json.dump({"rows": matrix.num_row(), "error": watched["train"]["error"][-1]}, out)
