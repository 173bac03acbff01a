"""Arguments by a table."""

from typing import Any

import pytest
from trainyard_algorithms.arguments import check
from trainyard_algorithms.failure import UserError

TABLE: list[dict[str, Any]] = [
    {"name": "preprocess", "type": "flag"},
    {"name": "model_type", "type": "string", "choices": ["classification", "regression"], "required": True},
    {"name": "max_steps", "type": "int", "min": 1, "default": 100},
    {"name": "dnn_dropout", "type": "float", "min": 0, "below": 1, "default": 0.0},
    {"name": "learning_rate", "type": "float", "above": 0, "aliases": ["lr"]},
    {"name": "hidden_units", "type": "ints", "min": 1, "default": "30,30,30"},
    {"name": "ratios", "type": "floats", "default": [1.0, 2.0]},
    {"name": "transform", "type": "bool", "default": True},
    {"name": "validation_split", "type": "float", "requires": "preprocess", "default": 0.2},
    {"name": "training_data_path", "type": "path"},
]
NEEDED = ["--model_type=regression", "--job-dir=gs://b/j"]


def test_defaults_and_none() -> None:
    seen = vars(check(TABLE, NEEDED))
    assert seen == {
        "preprocess": False,
        "model_type": "regression",
        "max_steps": 100,
        "dnn_dropout": 0.0,
        "learning_rate": None,
        "hidden_units": [30, 30, 30],
        "ratios": [1.0, 2.0],
        "transform": True,
        "validation_split": 0.2,
        "training_data_path": None,
        "job_dir": "gs://b/j",
    }


@pytest.mark.parametrize(
    "argv, name, value",
    [
        (["--preprocess"], "preprocess", True),
        (["--preprocess=False"], "preprocess", False),
        (["--preprocess", "--validation_split=0.1"], "validation_split", 0.1),
        (["--max-steps", "7"], "max_steps", 7),
        (["--max_steps=5000.0"], "max_steps", 5000),
        (["--max_steps=1", "--max_steps=2"], "max_steps", 2),
        (["--lr=1e-3"], "learning_rate", 0.001),
        (["--hidden-units=120,60"], "hidden_units", [120, 60]),
        (["--transform=false"], "transform", False),
        (["--training_data_path=gs://b/[1-9]=x.csv"], "training_data_path", "gs://b/[1-9]=x.csv"),
    ],
)
def test_accepted(argv: list[str], name: str, value: object) -> None:
    assert getattr(check(TABLE, NEEDED + argv), name) == value


@pytest.mark.parametrize(
    "argv, text",
    [
        (
            ["--max_step=7"],
            "There is no argument --max_step. Did you mean --max_steps? There are: --dnn_dropout, ",
        ),
        (["--max_steps=0"], "--max_steps=0: it must be at least 1."),
        (["--max_steps=1.5"], "--max_steps=1.5: it is a whole number."),
        (["--max_steps=1_0"], "--max_steps=1_0: it is a whole number."),
        (["--max_steps="], "--max_steps has no value"),
        (["--max_steps"], "--max_steps needs a value: write --max_steps=VALUE."),
        (["--max_steps", "--preprocess"], "--max_steps needs a value"),
        (["--dnn_dropout=1"], "--dnn_dropout=1: it must be below 1."),
        (["--learning_rate=0"], "--learning_rate=0: it must be above 0."),
        (["--learning_rate=nan"], "--learning_rate=nan: it is a number."),
        (["--hidden_units=1,x"], "--hidden_units=x: it is a whole number."),
        (["--transform=maybe"], "--transform=maybe: it is true or false."),
        (
            ["--model_type=classificatoin"],
            "it is one of classification, regression. Did you mean classification?",
        ),
        (["--validation_split=0.1"], "--validation_split needs --preprocess."),
        (["--preprocess", "True"], "'True' is not an argument: write --NAME=VALUE."),
    ],
)
def test_refused(argv: list[str], text: str) -> None:
    with pytest.raises(UserError) as error:
        check(TABLE, NEEDED + argv)
    assert text in str(error.value)


def test_required() -> None:
    with pytest.raises(UserError, match="--model_type is required"):
        check(TABLE, ["--job-dir=x"])
    with pytest.raises(UserError, match="--job-dir is required"):
        check(TABLE, ["--model_type=regression"])
