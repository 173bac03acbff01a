"""The rules, without files."""

import numpy as np
import pytest
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.tabular.hashing import buckets_of, hash_bucket
from trainyard_algorithms.tabular.kinds import (
    KeyCheck,
    Split,
    kind_of,
    labels_of,
    looks_like_header,
    number_of,
)


@pytest.mark.parametrize(
    "numbers, integers, distinct, rows, key, kind",
    [
        (False, False, 3, 100, False, "categorical"),
        (True, True, None, 5000, True, "key"),
        (True, True, 5, 100, False, "categorical"),
        (True, True, 6, 100, False, "numeric"),  # more than 5 % of the rows
        (True, True, 20, 10000, False, "categorical"),
        (True, True, 21, 10000, False, "numeric"),
        (True, False, 2, 10000, False, "numeric"),  # written with a point
    ],
)
def test_kinds(numbers: bool, integers: bool, distinct: int | None, rows: int, key: bool, kind: str) -> None:
    assert kind_of(numbers, integers, distinct, rows, key) == kind


@pytest.mark.parametrize(
    "text, number",
    [
        ("1", 1.0),
        (" -1.5e3 ", -1500.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+2", 2.0),
        ("inf", np.inf),
        ("1e999", np.inf),
    ]
    + [(each, None) for each in ("", "x", "1,5", "0x1F", "1_0", "nan", "1 2", "--1", "٣")],
)
def test_numbers(text: str, number: float | None) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    "texts, labels",
    [
        (["b", "a"], ("a", "b")),
        (["10", "9"], ("9", "10")),
        (["1", "0"], ("0", "1")),
        (["4", "0", "1"], ("0", "1", "2", "3", "4")),  # whole numbers keep their number
        (["6", "0", "1"], ("0", "1", "6")),  # not with many gaps
        (["2", "0"], ("0", "2")),  # two classes stay two
        (["0", "1000000"], ("0", "1000000")),
        (["1.0", "0.0"], ("0.0", "1.0")),
        (["-1", "1"], ("-1", "1")),
        (["1", "x"], ("1", "x")),
    ],
)
def test_labels(texts: list[str], labels: tuple[str, ...]) -> None:
    assert labels_of(texts, "f") == labels


def test_labels_refused() -> None:
    with pytest.raises(
        UserError, match=r"f, column 1: classification needs two different targets \(all are 'a'\)"
    ):
        labels_of(["a"], "f")
    with pytest.raises(UserError, match="21 different numbers with fractions.*regression"):
        labels_of([str(each + 0.5) for each in range(21)], "f")


@pytest.mark.parametrize(
    "first, below, header",
    [
        (["age", "job"], [True, False], True),
        (["39", "job"], [True, False], False),
        (["a", "b"], [False, False], False),
        (["age", ""], [True, True], False),
    ],
)
def test_headers(first: list[str], below: list[bool], header: bool) -> None:
    assert looks_like_header(first, below) is header


def test_split_is_the_same_whatever_the_blocks_and_known() -> None:
    whole = Split(0.2, 0.1).next(1000)
    split = Split(0.2, 0.1)
    assert np.array_equal(whole, np.concatenate([split.next(each) for each in (1, 299, 700)]))
    assert "".join(map(str, whole[:20])) == KNOWN_SPLIT
    assert np.bincount(whole).tolist() == KNOWN_COUNTS
    assert not Split(0, 0).next(10).any()


KNOWN_SPLIT = "11102000000120000021"
KNOWN_COUNTS = [705, 188, 107]


@pytest.mark.parametrize("validation, test", [(0.3, 0.2), (-0.1, 0.2), (0.41, 0.0)])
def test_split_bounds(validation: float, test: float) -> None:
    with pytest.raises(UserError, match=r"--validation_split=.*at most 0\.40"):
        Split(validation, test)
    Split(0.2, 0.2)


@pytest.mark.parametrize(
    "blocks, distinct",
    [
        ([[1, 2, 3], [4, 5]], True),
        ([[1, 2, 3], [3, 4]], False),
        ([[3, 1, 2], [5, 4]], True),
        ([[3, 1, 2], [2, 9]], False),
        ([[1, 2, 3], [9, 8], [1]], False),
        ([[1, 1]], False),
        ([[9, 8, 7, 6, 5, 4, 3, 2], [2, 1]], True),  # beyond the limit: not seen
    ],
)
def test_keys(blocks: list[list[int]], distinct: bool) -> None:
    check = KeyCheck(limit=6)
    for each in blocks:
        check.add(np.array(each, np.int64))
    assert check.finish() is distinct


def test_hashes_are_tensorflows() -> None:
    tf = pytest.importorskip("tensorflow")
    draws = np.random.default_rng(1)
    texts = ["".join(map(chr, draws.integers(32, 900, size))) for size in [*range(140), 200, 300, 1000]]
    assert np.array_equal(buckets_of(texts, 1000003), tf.strings.to_hash_bucket_fast(texts, 1000003).numpy())


def test_hashes_are_known() -> None:
    assert [hash_bucket(each, 1000) for each in ("", "a", "New York", "x" * 40, "x" * 100)] == KNOWN_BUCKETS


KNOWN_BUCKETS = [263, 939, 198, 852, 719]
