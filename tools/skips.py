#!/usr/bin/env python3
"""Fails when a test was skipped that tests/expected_skips.txt does not name: skips.py RESULTS."""
import collections
import fnmatch
import pathlib
import sys

import results as runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIME_OVER = "the time of CI was over"
EXPECTED = ROOT / "tests/expected_skips.txt"


def read_expected():
    """(pattern of names, a part of the reason that the test gives)."""
    for line in EXPECTED.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = line.partition(" | ")
            yield pattern.strip(), reason.strip()


def main():
    folder = pathlib.Path(sys.argv[1])
    expected = list(read_expected())
    skipped = [case for case in [*runs.unit_cases(folder), *runs.pytest_cases(folder)] if case.skipped is not None]
    surprises = [case for case in skipped
                 if not any(fnmatch.fnmatchcase(case.name.replace("[", "("), pattern.replace("[", "(")) and reason in case.skipped
                            for pattern, reason in expected)]
    left_out = collections.Counter(case.group for case in skipped if TIME_OVER in case.skipped)
    for group, count in left_out.items():
        print(f"{group}: {count} not run, {TIME_OVER}")
    print(f"skips: {len(skipped) - len(surprises)} expected, {len(surprises)} not")
    for case in surprises:
        print(f"{case.name}: skipped, and tests/expected_skips.txt does not say so: {case.skipped}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
