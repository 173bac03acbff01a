"""Real tables that come inside Python packages, as the CSV files that the built-in algorithms take, split into three parts.

usage: PYTHON bench/algorithms_data.py FOLDER SPLITS [NAME...]

PYTHON has the packages that ./dev installs for this (packages_of_tables). Writes FOLDER/NAME/SPLIT/{training,validation,test}.csv: 60, 20
and 20 % of the rows, by class in the same shares, shuffled by the split's number; FOLDER/tables.json says what each table is; and
FOLDER/speed.csv, one larger table in one file. Rows with more than 10 % blanks are left out here, since --preprocess drops them: so all
learners see the same rows.
"""

import json
import pathlib
import sys

import numpy as np
import pandas as pd
import sklearn.datasets
from palmerpenguins import load_penguins_raw
from sklearn.model_selection import train_test_split
from statsmodels import datasets as statsmodels_data
from vega_datasets import local_data

BLANK_SHARE_MAX = 0.10
SPEED_COPIES = 10
KINDS = {"binary": "AUC", "classes": "accuracy", "regression": "RMSE"}  # the metric of the test part


def of_sklearn(load, kind):
    found = load(as_frame=True)
    return kind, found.target, found.data


def breast_cancer():
    return of_sklearn(sklearn.datasets.load_breast_cancer, "binary")


def digits():
    return of_sklearn(sklearn.datasets.load_digits, "classes")  # pixels are floats there, so numeric columns here


def diabetes():
    return of_sklearn(sklearn.datasets.load_diabetes, "regression")


def fair():
    """Who had an affair. The occupations are codes, so categories."""
    table = statsmodels_data.fair.load_pandas().data
    for name in ("occupation", "occupation_husb"):
        table[name] = "code_" + table[name].astype(int).astype(str)
    return "binary", (table.pop("affairs") > 0).astype(int), table


def weather():
    """Seattle's weather of a day."""
    table = local_data.seattle_weather()
    table["month"] = "m" + pd.to_datetime(table.pop("date")).dt.month.astype(str)
    return "classes", coded(table.pop("weather")), table


def cars():
    """Miles per gallon; Horsepower has blanks, Name is text and nearly distinct."""
    table = local_data.cars()
    table["Year"] = pd.to_datetime(table["Year"]).dt.year
    table["maker"] = table["Name"].str.split().str[0]
    return "regression", table.pop("Miles_per_Gallon"), table


def penguins():
    """Body mass; sex and the two isotopes have blanks."""
    table = load_penguins_raw().drop(columns=["Comments", "Individual ID", "Sample Number", "Date Egg"])
    return "regression", table.pop("Body Mass (g)"), table


def randhie():
    """Visits to a doctor: for speed."""
    table = statsmodels_data.randhie.load_pandas().data
    return "regression", table.pop("mdvis"), table


def coded(labels):
    return labels.astype("category").cat.codes


TABLES = {each.__name__: each for each in (breast_cancer, fair, digits, weather, diabetes, cars, penguins)}
PACKAGES = {"breast_cancer": "scikit-learn", "digits": "scikit-learn", "diabetes": "scikit-learn", "fair": "statsmodels",
            "weather": "vega_datasets (seattle_weather)", "cars": "vega_datasets", "penguins": "palmerpenguins (raw)"}


def joined(target, features):
    """The target first, as the algorithms want it; without rows that have no target or too many blanks."""
    table = features.reset_index(drop=True)
    table.insert(0, "target", np.asarray(target))
    kept = table["target"].notna() & (table.isna().mean(axis=1) <= BLANK_SHARE_MAX)
    return table[kept].reset_index(drop=True)


def parts(table, kind, seed):
    classes = table["target"] if kind != "regression" else None
    rest, test = train_test_split(table, test_size=0.2, random_state=seed, stratify=classes)
    classes = rest["target"] if kind != "regression" else None
    training, validation = train_test_split(rest, test_size=0.25, random_state=seed, stratify=classes)
    return {"training": training, "validation": validation, "test": test}


def write(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, header=False)


def main():
    folder, splits = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    said = {}
    for name in sys.argv[3:] or TABLES:
        kind, target, features = TABLES[name]()
        table = joined(target, features)
        texts = [column for column in features if features[column].map(lambda value: isinstance(value, str)).any()]
        said[name] = {"kind": kind, "metric": KINDS[kind], "rows": len(table), "left_out": len(features) - len(table),
                      "columns": len(features.columns), "texts": len(texts), "blanks": int(table.isna().sum().sum()),
                      "package": PACKAGES[name], "classes": int(table["target"].nunique()) if kind != "regression" else 0}
        for seed in range(splits):
            for part, rows in parts(table, kind, seed).items():
                write(rows, folder / name / str(seed) / f"{part}.csv")
    _, target, features = randhie()
    write(pd.concat([joined(target, features)] * SPEED_COPIES), folder / "speed.csv")
    (folder / "tables.json").write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
