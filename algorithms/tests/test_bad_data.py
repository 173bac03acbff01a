"""What is wrong with data is one sentence with file, row and column."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.tabular import records
from trainyard_algorithms.tabular.table import Table

Prepared = Callable[..., Table]
HERE = Path(__file__).resolve().parent.parent
GOOD = "".join(f"{row % 2},{row / 4},{'xy'[row % 2]}\n" for row in range(60))
REGRESSION = {"classes": False}
PLAIN = {"preprocess": False}


def told(prepared: Prepared, text: str | bytes, **how: Any) -> str:
    with pytest.raises(UserError) as error:
        prepared(text, **how)
    message = str(error.value)
    assert "\n" not in message and len(message) < 500
    return message


ROWS: list[tuple[str, str | bytes, dict[str, Any], str]] = [
    ("empty", "", {}, "given_training.csv is empty."),
    ("only_line_ends", "\n\r\n", {}, "given_training.csv is empty."),
    ("only_a_target", "1\n2\n", {}, "given_training.csv, row 1: there is only one column, the target."),
    (
        "semicolons",
        "1;2\n3;4\n",
        {},
        "there is only one column, the target. Values are separated by commas, not by ';'.",
    ),
    (
        "header",
        "label,age,name\n" + GOOD,
        {},
        "given_training.csv, row 1 looks like a header (label, age, name): remove it",
    ),
    (
        "ragged",
        GOOD + "1,2.5\n",
        {},
        "given_training.csv, row 61: there are 2 values where the first row has 3.",
    ),
    ("ragged_long", GOOD + "1,2.5,x,y\n", {}, "row 61: there are 4 values where the first row has 3."),
    ("ragged_after_blank_lines", GOOD + "\n\n1\n", {}, "row 61: there is 1 value where the first row has 3."),
    (
        "latin_1",
        (GOOD + "1,2.5,caf\xe9\n").encode("latin-1"),
        {},
        "row 61: column 3 is not UTF-8 (byte 0xe9).",
    ),
    ("utf_16", GOOD.encode("utf-16"), {}, "given_training.csv is UTF-16 text: convert it to CSV, in UTF-8."),
    ("gzip", b"\x1f\x8b\x08\0\0\0", {}, "given_training.csv is compressed with gzip: convert it"),
    ("nul", GOOD + "1,2.5,a\0b\n", {}, "row 61, column 3: there is a NUL byte"),
    (
        "open_quote",
        GOOD + '1,2.5,"a\n' + GOOD,
        {},
        "row 61, column 3: the quote before this value is not closed.",
    ),
    (
        "inner_quote",
        GOOD + '1,2.5,5" pipe\n',
        {},
        "row 61, column 3: there is a quote inside a value that does not begin",
    ),
    (
        "quote_not_twice",
        GOOD + '1,2.5,"5" pipe"\n',
        {},
        "row 61, column 3: the quote before this value is not closed, or",
    ),
    (
        "text_target",
        "1.5,2.5\nabc,3.5\n" * 20,
        REGRESSION,
        "row 2, column 1: the target 'abc' is no number; is this a cl",
    ),
    ("inf_target", "1.5,2.5\ninf,3.5\n" * 20, REGRESSION, "row 2, column 1: the target is infinite"),
    (
        "inf",
        GOOD + "1,inf,x\n",
        {},
        "row 61, column 2: the number is infinite, or too large for a float32 (inf).",
    ),
    (
        "too_large",
        GOOD + "1,1e39,x\n",
        {},
        "row 61, column 2: the number is infinite, or too large for a float32 (1e39).",
    ),
    (
        "all_blank",
        "".join(f"{row % 2},{row / 4},\n" for row in range(60)),
        {},
        "Column 3 has no value in any row: remove it.",
    ),
    ("everything_blank", ",,\n" * 60, {}, "no row is left: 60 have no target, 0 have more than 10 %"),
    ("no_target", ",1.5,x\n" * 60, {}, "no row is left: 60 have no target"),
    (
        "constant_class",
        "a,1.5\na,2.5\n" * 30,
        {},
        "column 1: classification needs two different targets (all are 'a').",
    ),
    (
        "real_target",
        "".join(f"{row / 7},{row}.5\n" for row in range(60)),
        {},
        "numbers with fractions, which are too many",
    ),
    (
        "many_classes",
        "".join(f"c{row},{row}.5\n" for row in range(1100)),
        {},
        "more than 1000 different values, which are too",
    ),
    (
        "few_rows",
        "a,1.5\nb,2.5\n",
        {},
        "The training part has no row: 2 rows are too few for the shares 0.2 and 0.2",
    ),
    (
        "few_rows_of_a_regression",
        "1,1.5\n2,2.5\n",
        REGRESSION,
        "2 rows are too few for the shares 0.2 and 0.2 of validation",
    ),
    (
        "only_keys",
        "".join(f"{row % 2},{row}\n" for row in range(60)),
        {},
        "No column is left to learn from: all are keys",
    ),
    (
        "split",
        GOOD,
        {"validation_split": 0.3},
        "--validation_split=0.3 and --test_split=0.2: none may be below 0",
    ),
    ("blank_number", "0,1.5,x\n1,,y\n", PLAIN, "row 2, column 2: the value is blank: use --preprocess"),
    ("nan_number", "0,1.5,x\n1,NaN,y\n", PLAIN, "row 2, column 2: the value is blank: use --preprocess"),
    ("blank_column", "0,1.5,\n1,2.5,\n", PLAIN, "row 1, column 3: every value is blank: use --preprocess"),
    ("blank_target", "0,1.5,x\n,2.5,y\n", PLAIN, "row 2, column 1: there is no target"),
    (
        "text_for_xgboost",
        "0,1.5\n1,abc\n",
        PLAIN | {"numeric": True},
        "row 2, column 2: 'abc' is no number; XGBoost learns",
    ),
    (
        "validation_ragged",
        GOOD,
        {"validation": "1,2.5,x\n1,2\n"},
        "given_validation.csv, row 2: there are 2 values",
    ),
    (
        "validation_narrow",
        GOOD,
        {"validation": "1,2\n"},
        "validation.csv, row 1: the number of values is 2, while the tra",
    ),
    ("validation_empty", GOOD, {"validation": ""}, "given_validation.csv is empty."),
    (
        "validation_text",
        GOOD,
        {"validation": "1,abc,x\n"},
        "validation.csv, row 1, column 2: 'abc' is no number, while the",
    ),
    (
        "validation_class",
        GOOD,
        PLAIN | {"validation": "0,1,x\n7,1,x\n"},
        "validation.csv, row 2, column 1: the class '7' of the",
    ),
]


@pytest.mark.parametrize("text, how, message", [each[1:] for each in ROWS], ids=[each[0] for each in ROWS])
def test_messages(prepared: Prepared, text: str | bytes, how: dict[str, Any], message: str) -> None:
    assert message in told(prepared, text, **how)


def test_missing_file(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.csv: there is no such file\."):
        prepared(GOOD, validation=None, test_data_path=str(tmp_path / "none.csv"))


def test_rows_are_counted_over_blocks(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 100)
    assert "row 61: there are 2 values" in told(prepared, GOOD + "1,2.5\n" + GOOD)
    assert "row 61, column 2: the number is infinite" in told(prepared, GOOD + "1,inf,x\n" + GOOD)
    assert "row 61: column 3 is not UTF-8" in told(prepared, (GOOD + "1,2,\xe9\n" + GOOD).encode("latin-1"))


def test_one_enormous_field(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(records, "RECORD_BYTES", 2 << 20)
    table = prepared(GOOD + f"1,2.5,{'z' * 1500000}\n")
    assert table.columns[1].buckets == 1000  # too long to be remembered
    message = told(prepared, GOOD + f"1,2.5,{'z' * 5000000}\n")
    assert "row 61: the row is longer than 2 MiB; is a quote not closed" in message
    assert "row 61, column 3: the quote before this value is not closed" in told(
        prepared, GOOD + '1,2,"' + "a\n" * 3000000
    )


def test_line_ends_mark_and_blank_lines_are_no_errors(prepared: Prepared) -> None:
    rows = prepared(GOOD).parts["training"].rows
    for text in (
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD + "\n\r\n\n",
        GOOD.rstrip("\n"),
        "\n" + GOOD,
    ):
        table = prepared(text)
        assert (table.parts["training"].rows, table.labels) == (rows, ("0", "1"))
        assert table.columns[1].vocabulary == ("x", "y")


def test_constant_target_of_a_regression_is_a_warning(
    prepared: Prepared, caplog: pytest.LogCaptureFixture
) -> None:
    prepared("2.5,1.5\n2.5,2.5\n" * 30, classes=False)
    assert "The target is 2.5 in every row: there is nothing to learn." in caplog.text


def test_a_column_without_values_is_left_out(prepared: Prepared, caplog: pytest.LogCaptureFixture) -> None:
    text = "".join(f"{row % 2},,{','.join([str(row / 4)] * 9)}\n" for row in range(60))
    table = prepared(text)
    assert [each.name for each in table.columns][:2] == ["column_3", "column_4"]
    assert "Not used, because they have no value in the training part: column 2." in caplog.text


def test_ten_thousand_columns(prepared: Prepared) -> None:
    line = ",".join(f"{each / 8}" for each in range(9999))
    table = prepared("".join(f"{row % 2},{line}\n" for row in range(12)), preprocess=False)
    assert len(table.columns) == 9999
    bad = "".join(f"{row % 2},{line}\n" for row in range(11)) + f"1,{line},7\n"
    assert "row 12: there are 10001 values where the first row has 10000." in told(prepared, bad)


PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import pyarrow.csv, pyarrow.compute
from trainyard_algorithms.paths import JobFolder
from trainyard_algorithms.tabular.prepare import prepare
folder = Path(sys.argv[2])
draws = np.random.default_rng(1)
with (folder / "big.csv").open("wb") as file:
    for block in range(20):
        numbers = draws.normal(size=(2000, 8)).round(5)
        lines = [
            f"{row % 2},{block * 2000 + row},w{row * 31 % 5000},{','.join(map(str, each))}"
            for row, each in enumerate(numbers)
        ]
        text = ("\\n".join(lines) + "\\n").encode()
        file.write(text * 128 if block % 2 else text)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
path = str(folder / "big.csv")
args = SimpleNamespace(training_data_path=path, preprocess=True, validation_split=0.2, test_split=0.2)
table = prepare(args, JobFolder(str(folder / "job")), classes=True, numeric=sys.argv[3] == "numeric")
size = (folder / "big.csv").stat().st_size
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
print(size, grown, sum(each.rows for each in table.parts.values()))
"""


@pytest.mark.parametrize("kind", ["mixed", "numeric"])
def test_memory_is_bounded_by_the_block_not_by_the_file(tmp_path: Path, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(HERE), str(tmp_path), kind], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    size, grown, rows = map(int, done.stdout.split())
    assert size > 200e6 and rows == 2580000
    assert grown < 200e6, f"{grown / 1e6:.0f} MB for a file of {size / 1e6:.0f} MB"
