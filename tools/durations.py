#!/usr/bin/env python3
"""Prints how long everything in a run of ./dev test took, as Markdown: durations.py RESULTS [--write]

--write puts the tables into docs/ci-durations.md, between its markers.
"""
import argparse
import collections
import os
import pathlib

import results as runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/ci-durations.md"
BEGIN, END = "<!-- durations -->\n", "<!-- /durations -->\n"
SLOW_S = 5  # a single test that is named
SLOW_MAX = 40  # so many are named


def table(title, rows):
    yield f"| {title} | s |\n|---|---|"
    yield from (f"| {name} | {seconds:.0f} |" for name, seconds in rows)
    yield ""


def by_length(cases):
    seconds = collections.Counter()
    for case in cases:
        seconds[case.group] += case.seconds
    return seconds.most_common()


def tables(folder):
    yield f"{os.cpu_count()} cores.\n"
    yield from table("step", runs.steps(folder))
    yield from table("target of ctest", [(name, seconds) for name, seconds in by_length(runs.ctest_cases(folder)) if seconds >= 1])
    yield from table("file of end-to-end tests (waiting for a shared runtime included)", by_length(runs.pytest_cases(folder)))
    slow = [(f"{case.name.removeprefix('tests/e2e/')}", case.seconds) for case in runs.pytest_cases(folder) if case.seconds >= SLOW_S]
    slow.sort(key=lambda row: -row[1])
    yield from table(f"the slowest {min(SLOW_MAX, len(slow))} of {len(slow)} end-to-end tests of {SLOW_S} s or more", slow[:SLOW_MAX])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = "\n".join(tables(options.results))
    print(text)
    if options.write:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
