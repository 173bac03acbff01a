#!/usr/bin/env python3
"""Prints what each house cost to compile in a build folder: build_cost.py [BUILD] [--slowest N]

The figures are from ninja's log: seconds between the start and the end of a step, summed. With as many steps at once as the machine has
cores, and nothing beside them, they are CPU seconds. A build with a compiler cache (ccache) shows what the cache saved, so measure with
CCACHE_DISABLE=1. Only the last time that each file was made counts.
"""
import argparse
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
OBJECT = re.compile(r"src/(?P<house>\w+)/(?:\S+/)?CMakeFiles/(?P<target>\w+)\.dir/")


def steps(log):
    """(output, seconds) of each file that is there."""
    last = {}
    for row in log.splitlines():
        if not row.startswith("#"):
            begin, end, _, output, _ = row.split("\t")
            last[output] = (int(end) - int(begin)) / 1000
    return last.items()


def part_of(output):
    """What a step is counted for, and whether it is a test's."""
    match = OBJECT.match(output)
    if match and output.endswith(".o"):
        return "src/" + match["house"], match["target"].endswith("_test")
    if output.endswith(".pch"):
        return "precompiled headers", "test" in output
    if output.startswith("proto/"):
        return "proto", False
    if output.endswith(".o"):
        return output.split("/")[0], not output.startswith("bench/")
    return "linking and generating", "_test" in output or output.startswith(("tests/", "fuzz/"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--slowest", type=int, default=0, metavar="N")
    options = parser.parse_args()
    made = list(steps((options.build / ".ninja_log").read_text()))
    seconds, files = collections.Counter(), collections.Counter()
    for output, spent in made:
        seconds[part_of(output)] += spent
        files[part_of(output)] += 1
    print("| part | program: files | seconds | tests: files | seconds |\n|---|---|---|---|---|")
    for part in sorted({part for part, _ in seconds}, key=lambda part: -seconds[part, False]):
        print(f"| {part} | {files[part, False]} | {seconds[part, False]:.0f} | {files[part, True]} | {seconds[part, True]:.0f} |")
    sums = [sum(count for (_, test), count in counts.items() if test == of_tests) for of_tests in (False, True) for counts in (files, seconds)]
    print("| all | {:.0f} | {:.0f} | {:.0f} | {:.0f} |".format(*sums))
    for output, spent in sorted(made, key=lambda step: -step[1])[:options.slowest]:
        print(f"{spent:7.1f} s  {output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
