#!/usr/bin/env python3
"""Preprocessing of the built-in algorithms: MB and rows a second on one core, beside pyarrow's own CSV reader and beside reading
the bytes, in one run.

usage: ./dev bench algorithms_preprocessing [--mb 200] [--folder DIR] [--rounds 3] [--write]

It runs in the Python of the runtime version `algorithms`. Each table is generated; what is said is the best round, by the process's CPU time:
others may use the machine. --write puts the table
into docs/algorithms-benchmarks.md in place of the one below its mark.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time
from types import SimpleNamespace

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "<!-- below: written by ./dev bench algorithms_preprocessing --write -->"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # pyarrow's too
sys.path.insert(0, str(ROOT / "algorithms"))

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.csv  # noqa: E402
from trainyard_algorithms.paths import JobFolder  # noqa: E402
from trainyard_algorithms.tabular.batches import batches  # noqa: E402
from trainyard_algorithms.tabular.kinds import Split  # noqa: E402
from trainyard_algorithms.tabular.prepare import prepare  # noqa: E402
from trainyard_algorithms.tabular.scan import scan, width  # noqa: E402

import marked_page  # noqa: E402

WORDS = np.array([f"word-{number:02d}" for number in range(40)])


def numbers(draws, rows):
    """A class and twelve numbers: nothing has to be changed."""
    return [draws.integers(0, 2, rows)] + [draws.normal(size=rows).round(5) for _ in range(12)]


def mixed(draws, rows):
    """Census-like: numbers, whole numbers, words, a key, 1 % blanks."""
    columns = [WORDS[draws.integers(0, 2, rows)], np.arange(rows)]
    columns += [blanked(draws, draws.normal(size=rows).round(4).astype(str)) for _ in range(4)]
    columns += [draws.integers(0, 100, rows), draws.integers(0, 10, rows)]
    return columns + [blanked(draws, WORDS[draws.integers(0, 40, rows)]) for _ in range(6)]


def blanked(draws, texts):
    texts = texts.astype(object)
    texts[draws.random(len(texts)) < 0.01] = ""
    return texts


def generate(path, make, size):
    """Writes at least `size` bytes. @return rows"""
    draws, rows = np.random.default_rng(1), 0
    with path.open("wb") as file:
        while file.tell() < size:
            columns = make(draws, 100_000)
            if make is mixed:
                columns[1] = columns[1] + rows
            table = pa.table({str(place): pa.array(each) for place, each in enumerate(columns)})
            pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=False, quoting_style="none"))
            rows += 100_000
    return rows


def best(rounds, act):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        act()
        times.append(time.process_time() - begin)
    return min(times)


def read_bytes(path):
    with path.open("rb", buffering=0) as file:
        while file.read(8 << 20):
            pass


def read_arrow(path):
    options = pa.csv.ReadOptions(use_threads=False, block_size=8 << 20, autogenerate_column_names=True)
    for _ in pa.csv.open_csv(path, options, pa.csv.ParseOptions(newlines_in_values=True)):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = ["| table | what | MB/s | rows/s | beside it |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = pathlib.Path(folder) / "table.csv"
        for make in (numbers, mixed):
            rows = generate(path, make, options.mb << 20)
            lines += cases(make.__name__, path, rows, options.rounds, pathlib.Path(folder))
    text = f"One core, load before it {LOAD[0]:.2f}, pyarrow {pa.__version__}, tables of {options.mb} MiB, best of {options.rounds}, by CPU time:\n\n"
    text += "\n".join(lines) + "\n"
    print(text)
    if options.write:
        marked_page.replace(ROOT / "docs/algorithms-benchmarks.md", MARK, text)


def cases(name, path, rows, rounds, folder):
    size = path.stat().st_size / 1e6
    floor = best(rounds, lambda: read_bytes(path))
    arrow = best(rounds, lambda: read_arrow(path))
    beside = f"bytes {size / floor:,.0f} MB/s, pyarrow's reader {size / arrow:,.0f} MB/s"
    tables = {}

    def run(numeric):
        args = SimpleNamespace(training_data_path=str(path), preprocess=True, validation_split=0.2, test_split=0.2)
        tables[numeric] = prepare(args, JobFolder(str(folder / "job")), classes=True, numeric=numeric)

    def train():
        for _ in batches(tables[False], "training", 1024):
            pass

    columns = width(path, str(path))

    def first_reading():
        scan([path], columns, True, Split(0.2, 0.2).next, lambda seen: None)

    seen = [("first reading: kinds and statistics", best(rounds, first_reading), size)]
    seen.append(("--preprocess for XGBoost", best(rounds, lambda: run(True)), size))
    seen.append(("--preprocess", best(rounds, lambda: run(False)), size))
    part = tables[False].parts["training"].files[0].stat().st_size / 1e6
    seen.append(("a reading of the training part in batches of 1024", best(rounds, train), part))
    result = []
    for what, seconds, mb in seen:
        result.append(f"| {name} | {what} | {mb / seconds:,.0f} | {rows * mb / size / seconds:,.0f} | {beside} |")
        beside = ""
    return result


LOAD = os.getloadavg()

if __name__ == "__main__":
    main()
