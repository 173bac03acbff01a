"""Tables as trainers get them."""

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trainyard_algorithms import failure
from trainyard_algorithms.paths import JobFolder
from trainyard_algorithms.tabular import records
from trainyard_algorithms.tabular.batches import batches, ids, matrix
from trainyard_algorithms.tabular.hashing import hash_bucket
from trainyard_algorithms.tabular.prepare import prepare
from trainyard_algorithms.tabular.table import Table

Prepared = Callable[..., Table]


def census(rows: int = 600, blanks: bool = True) -> str:
    """Target, key, numeric with blanks, category, code, category of numbers, quoted text; eleven columns."""
    draws = np.random.default_rng(5)
    lines = []
    for row in range(rows):
        age = "" if blanks and row % 20 == 3 else f"{draws.normal(40, 9):.2f}"
        job = (
            ""
            if blanks and row % 30 == 7
            else ["clerk", "nurse", "miner, coal", 'the "boss"'][draws.integers(4)]
        )
        job = '"' + job.replace('"', '""') + '"' if "," in job or '"' in job else job
        code = draws.integers(8)
        rest = ",".join(f"{each:.3f}" for each in draws.normal(size=6))
        lines.append(f"{['no', 'yes'][int(code > 3)]},{row * 7 % 6007},{age},{job},{code},{rest}")
    return "\n".join(lines) + "\n"


def read(tmp_path: Path, part: str) -> list[list[str]]:
    with (tmp_path / f"job/processed_data/{part}.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_kinds_means_and_vocabularies_are_the_training_parts(prepared: Prepared, tmp_path: Path) -> None:
    table = prepared(census())
    kinds = [(each.index, each.name, each.kind) for each in table.columns[:4]]
    assert kinds == [
        (1, "column_3", "numeric"),
        (2, "column_4", "categorical"),
        (3, "column_5", "categorical"),
        (4, "column_6", "numeric"),
    ]
    assert table.columns[1].vocabulary == ("clerk", "miner, coal", "nurse", 'the "boss"')
    assert table.labels == ("no", "yes")
    given = list(csv.reader(census().splitlines()))
    parts = {part: read(tmp_path, part) for part in ("training", "validation", "test")}
    assert {part: len(each) for part, each in parts.items()} == {
        part: each.rows for part, each in table.parts.items()
    }
    assert sum(map(len, parts.values())) == 600
    assert len(parts["training"]) == pytest.approx(360, abs=40)
    # Each row is in one part, in order, without its key; the mean is that of the training part's own values.
    known = {tuple(each[:1] + each[3:]): each[2] for each in given}
    own = [
        float(known[tuple(each[:1] + each[2:])])
        for each in parts["training"]
        if known[tuple(each[:1] + each[2:])]
    ]
    assert table.columns[0].mean == pytest.approx(np.mean(own), rel=1e-12)
    filled = [each for each in parts["validation"] if not known[tuple(each[:1] + each[2:])]]
    assert filled and all(float(each[1]) == table.columns[0].mean for each in filled)


def test_reruns_are_byte_identical_and_blocks_do_not_matter(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def content() -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in sorted((tmp_path / "job").rglob("*.[cj]s*"))}

    for numeric in (False, True):
        prepared(census(), numeric=numeric)
        first = content()
        prepared(census(), numeric=numeric)
        assert content() == first and len(first) == 4
        monkeypatch.setattr(records, "BLOCK_BYTES", 1000)
        prepared(census(), numeric=numeric)
        check_close(first, content())
        monkeypatch.undo()


def check_close(first: dict[str, bytes], again: dict[str, bytes]) -> None:
    """Only the last digits of means may differ, which are summed block by block."""
    for name in ("training.csv", "validation.csv", "test.csv"):
        left, right = (list(csv.reader(each[name].decode().splitlines())) for each in (first, again))
        assert [len(each) for each in left] == [len(each) for each in right]
        for a, b in zip(sum(left, []), sum(right, [])):
            assert a == b or float(a) == pytest.approx(float(b), rel=1e-12)


def test_rows_are_copied_as_they_are_or_formatted_the_same(prepared: Prepared, tmp_path: Path) -> None:
    text = "".join(f"{row % 2},{row / 8},{'ab'[row % 2]}\n" for row in range(200))
    prepared(text)
    plain = [read(tmp_path, part) for part in ("training", "validation", "test")]
    prepared(text.replace("\n", "\r\n"))
    assert [read(tmp_path, part) for part in ("training", "validation", "test")] == plain


def test_metadata(prepared: Prepared, tmp_path: Path) -> None:
    prepared(census())
    seen: dict[str, Any] = json.loads((tmp_path / "job/artifacts/metadata.json").read_text())
    assert [each["kind"] for each in seen["columns"]][:4] == ["key", "numeric", "categorical", "categorical"]
    assert seen["labels"] == ["no", "yes"]
    assert (seen["split"]["validation"], seen["split"]["test"], seen["split"]["seed"]) == (0.2, 0.2, 1)
    assert seen["dropped"] == {"training": {"no_target": 0, "blank": 0}}
    assert sum(seen["rows"].values()) == 600


def test_rows_without_target_or_with_many_blanks_are_dropped(prepared: Prepared, tmp_path: Path) -> None:
    lines = census(blanks=False).splitlines()
    lines[1] = "," + lines[1].split(",", 1)[1]
    cells = lines[2].split(",")
    lines[2] = ",".join([*cells[:-2], "", ""])  # two of eleven: more than 10 %
    cells = lines[4].split(",")
    lines[4] = ",".join([*cells[:-1], " "])  # one of eleven
    table = prepared("\n".join(lines))
    assert sum(each.rows for each in table.parts.values()) == 598
    seen = json.loads((tmp_path / "job/artifacts/metadata.json").read_text())
    assert seen["dropped"] == {"training": {"no_target": 1, "blank": 1}}


def test_xgboost_has_one_hot_and_hashed_columns(prepared: Prepared, tmp_path: Path) -> None:
    draws = np.random.default_rng(2)
    text = "".join(
        f"{row % 3},{['a', 'b', ''][row % 3]},v{draws.integers(150)},{draws.normal():.3f}{',1.0' * 6}\n"
        for row in range(1000)
    )
    table = prepared(text, numeric=True)
    assert [each.name for each in table.columns[:4]] == [
        "column_2=a",
        "column_2=b",
        "column_3_bucket",
        "column_4",
    ]
    assert all(each.kind == "numeric" for each in table.columns)
    features, target = matrix(table, "training")
    assert features.dtype == np.float32 and target.dtype == np.int32
    first = {0: [1, 0], 1: [0, 1], 2: [0, 0]}  # a blank is all zeros
    assert all(features[row, :2].tolist() == first[int(target[row])] for row in range(len(target)))
    assert features[:, 2].min() >= 1 and features[:, 2].max() <= 1000
    rows = read(tmp_path, "training")
    assert np.array_equal(np.array(rows, np.float32), np.column_stack([target, features]))
    assert str(hash_bucket("v7", 1000) + 1) in {each[3] for each in rows}


def test_more_values_than_are_remembered_are_hashed(prepared: Prepared) -> None:
    text = "".join(f"{row % 2},word{row * 7919 % 1500},{row / 4}\n" for row in range(3000))
    table = prepared(text)
    column = table.columns[0]
    assert (column.kind, column.vocabulary, column.buckets) == ("categorical", (), 1000)
    seen = next(batches(table, "training", 50))
    assert seen.categorical.min() >= 1
    assert ids(column, ["word7", ""]).tolist() == [hash_bucket("word7", 1000) + 1, 0]


def test_wide_tables_remember_fewer_values(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainyard_algorithms.tabular import scan

    monkeypatch.setattr(scan, "REMEMBERED_VALUES", 90)
    text = "".join(f"class-{row % 50},word{row % 40},few{row % 7}\n" for row in range(800))
    assert [each.buckets for each in prepared(text).columns] == [1000, 0]


def test_a_number_column_with_late_text_becomes_categorical(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 20000)
    lines = [f"{row % 2},{row / 8},{row / 4}" for row in range(6000)]
    lines[5000] = "1,unknown,4.5"
    table = prepared("\n".join(lines))
    assert [(each.kind, each.buckets) for each in table.columns] == [("categorical", 1000), ("numeric", 0)]


def test_a_key_may_be_in_any_order_and_one_repetition_makes_it_a_number(prepared: Prepared) -> None:
    order = np.random.default_rng(3).permutation(4000)
    text = "".join(f"{row % 2},{number},{row / 4}\n" for row, number in enumerate(order))
    assert [each.name for each in prepared(text).columns] == ["column_3"]
    lines = text.splitlines()
    lines[3999] = f"1,{order[0]},1.5"
    assert [each.name for each in prepared("\n".join(lines)).columns] == ["column_2", "column_3"]


def test_without_preprocess_data_is_as_it_is(prepared: Prepared, tmp_path: Path) -> None:
    text = "".join(f"{row % 2 + 0.5},{row},{row % 3},{'xy'[row % 2]}\n" for row in range(100))
    table = prepared(text, classes=False, preprocess=False, validation=text)
    assert [(each.index, each.kind) for each in table.columns] == [
        (1, "numeric"),
        (2, "categorical"),
        (3, "categorical"),
    ]
    assert {part: each.rows for part, each in table.parts.items()} == {"training": 100, "validation": 100}
    assert not (tmp_path / "job/processed_data").exists()
    seen = next(batches(table, "validation", 3))
    assert seen.numeric.tolist() == [[0], [1], [2]]
    assert seen.categorical.tolist() == [[1, 1], [2, 2], [3, 1]]
    assert seen.target.tolist() == [0.5, 1.5, 0.5]


def test_without_preprocess_xgboost_has_missing_values(prepared: Prepared) -> None:
    table = prepared("0,1.5,\n1,,2\n0,2.5,3\n1,nan,4\n", preprocess=False, numeric=True)
    features, target = matrix(table, "training")
    assert np.array_equal(
        features, np.array([[1.5, np.nan], [np.nan, 2], [2.5, 3], [np.nan, 4]], np.float32), equal_nan=True
    )
    assert target.tolist() == [0, 1, 0, 1]


def test_a_class_seen_only_in_validation(prepared: Prepared, caplog: pytest.LogCaptureFixture) -> None:
    training = "".join(f"{'ab'[row % 2]},{row / 4}\n" for row in range(50))
    table = prepared(training, validation="a,1.5\nc,2.5\nb,3.5\n")
    assert table.parts["validation"].rows == 2
    assert "1 rows are dropped: their class is not in the training part." in caplog.text


def test_blank_keys_are_no_reason_to_drop_a_row(prepared: Prepared, caplog: pytest.LogCaptureFixture) -> None:
    training = "".join(f"{'ab'[each % 2]},{each * 7},{each}.5,{each}.25\n" for each in range(50))
    table = prepared(training, validation="a,,1.5,2.5\nb,,2.5,3.5\na,,,4.5\n")
    assert table.parts["validation"].rows == 2
    assert "1 of 3 rows" in caplog.text


def test_batches_shuffle_and_repeat(prepared: Prepared) -> None:
    table = prepared("".join(f"{row}.0,{row}.5\n" for row in range(100)), classes=False, preprocess=False)
    plain = list(batches(table, "training", 30))
    assert [len(each) for each in plain] == [30, 30, 30, 10]
    assert np.concatenate([each.target for each in plain]).tolist() == list(range(100))
    shuffled = [each.target.tolist() for each in batches(table, "training", 30, shuffle_seed=1)]
    assert sorted(sum(shuffled, [])) == list(range(100)) and sum(shuffled, []) != list(range(100))
    assert shuffled == [each.target.tolist() for each in batches(table, "training", 30, shuffle_seed=1)]
    endless = batches(table, "training", 30, shuffle_seed=1, repeat=True)
    two = [next(endless) for _ in range(10)]
    assert all(len(each) == 30 for each in two)
    readings = np.concatenate([each.target for each in two])
    assert (
        sorted(readings[:100]) == sorted(readings[100:200])
        and readings[:100].tolist() != readings[100:200].tolist()
    )
    assert all(each.numeric[0, 0] == each.target[0] + 0.5 for each in two)


def test_batches_of_a_part_that_is_not_held(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainyard_algorithms.tabular import batches as module

    monkeypatch.setattr(module, "HELD_BYTES", 200)
    monkeypatch.setattr(records, "BLOCK_BYTES", 100)
    table = prepared("".join(f"{row}.0,{row}.5\n" for row in range(100)), classes=False, preprocess=False)
    seen = np.concatenate([each.target for each in batches(table, "training", 7, shuffle_seed=1)])
    assert sorted(seen) == list(range(100)) and seen.tolist() != list(range(100))


def test_a_trainer_that_is_told_to_stop_prepares_no_further(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failure, "_told_to_stop", True)
    with pytest.raises(failure.Stopped):
        prepared("a,1\nb,2\n")


def test_several_files(tmp_path: Path) -> None:
    for number in range(3):
        rows = "".join(f"{row % 2},{number}.{row},{row / 4}\n" for row in range(40))
        (tmp_path / f"part-{number}.csv").write_text(rows if number != 1 else "\ufeff" + rows.rstrip("\n"))
    args = SimpleNamespace(
        training_data_path=str(tmp_path / "part-[1-9].csv"),
        preprocess=True,
        validation_split=0.2,
        test_split=0.0,
    )
    table = prepare(args, JobFolder(str(tmp_path / "job")), classes=True, numeric=False)
    assert sum(each.rows for each in table.parts.values()) == 80
    assert set(table.parts) == {"training", "validation"}


def test_ids(prepared: Prepared) -> None:
    table = prepared(census())
    assert ids(table.columns[1], ["nurse", "clerk", "", "pilot"]).tolist() == [3, 1, 0, 0]


def reference(text: str) -> dict[str, list[list[str]]]:
    """processed_data/ of a Keras trainer in plain Python: a target, a number, a word, 18 numbers."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    draws = np.random.Generator(np.random.Philox(1)).random(len(rows))
    kept = [
        (row, "validation" if draw < 0.2 else "test" if draw < 0.4 else "training")
        for row, draw in zip(rows, draws)
        if row[0].strip() and sum(not each.strip() for each in row) <= 0.1 * len(row)
    ]
    numbers = [float(row[1]) for row, part in kept if part == "training" and row[1].strip()]
    labels = {row[0] for row, part in kept if part == "training"}
    made: dict[str, list[list[str]]] = {"training": [], "validation": [], "test": []}
    for row, part in kept:
        if row[0] in labels:
            row[1] = row[1] if row[1].strip() else str(math.fsum(numbers) / len(numbers))
            row[2] = row[2].strip(" ") and row[2]
            made[part].append(row)
    return made


@pytest.mark.parametrize("seed", range(12))
def test_random_tables_are_as_plain_python_makes_them(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    monkeypatch.setattr(records, "BLOCK_BYTES", int(draws.integers(300, 5000)))
    end = ["\n", "\r\n"][seed % 2]
    words = ["a", "", " ", "b,c", 'd"e', "line" + end + "end", "é"]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=end)
    for _ in range(int(draws.integers(100, 400))):
        target = ["x", "y", "", "rare"][draws.choice(4, p=[0.5, 0.46, 0.03, 0.01])]
        number = ["", "  ", str(draws.integers(-9, 9)), f"{draws.normal():.3f}"][draws.integers(4)]
        writer.writerow(
            [target, number, words[draws.integers(len(words))], *np.round(draws.normal(size=18), 2)]
        )
    prepared(out.getvalue())
    for part, rows in reference(out.getvalue()).items():
        seen = read(tmp_path, part)
        assert len(seen) == len(rows)
        for left, right in zip(seen, rows):
            assert left[:1] + left[2:] == right[:1] + right[2:]
            assert float(left[1]) == pytest.approx(float(right[1]), rel=1e-12)
