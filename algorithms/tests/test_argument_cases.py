"""The cases that the server's own check is tried with, too (src/rules/algorithms/check_arguments_test.cc)."""

import json
from pathlib import Path
from typing import Any

import pytest
from trainyard_algorithms.arguments import attribute, check
from trainyard_algorithms.failure import UserError

READ: dict[str, Any] = json.loads(Path(__file__).with_name("argument_cases.json").read_text("utf-8"))
ALGORITHM = READ["algorithm"]


def judged(args: list[str]) -> str:
    """What is wrong with `args`; '' if nothing is. The service adds --job-dir, so that a case need not have
    it."""
    has = any(attribute(each).startswith("__job_dir") for each in args)
    try:
        check(ALGORITHM["arguments"], args if has else [*args, "--job-dir=gs://b/j"], ALGORITHM["sums"])
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("case", READ["cases"], ids=lambda case: " ".join(case["args"]) or "nothing")
def test_agrees_with_the_server(case: dict[str, Any]) -> None:
    said = judged(case["args"])
    if case["wrong"] is None:
        assert said == ""
    else:
        assert case["wrong"] in said


def test_texts() -> None:
    kind = "--model_type=regression"
    assert judged(["--model_type=classification"]) == "--model_type=classification needs --num_class."
    assert judged([kind, "--preprocess", "--validation_split=0.3"]) == (
        "--validation_split=0.3 and --test_split=0.2 (default) are 0.5 together: at most 0.4."
    )
    assert judged([kind, "--depth=19"]) == "--depth=19: it is one of 18, 50."
