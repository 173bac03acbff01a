"""The table in docs/benchmarks.md with a row for each round of work, so that a slip is seen in the round in which it happens."""

import os
import platform
import time

HEADER = "| round |"
# A column's figure is the beginning of what a row of the run says.
COLUMNS = {
    "start, native": "submit to first user instruction, native, warm",
    "start, Python": "the same for a Python module",
    "trivial jobs": "trivial jobs completed per second, native, durable",
    "creates": "durable creates per second (64 connections)",
    "takeover of 20,000": "serving again after kill -9, 20,000 unfinished jobs",
    "log lines, native": "log lines per second, one native replica, stamped, indexed, durable",
    "log lines, Python": "log lines per second, one Python replica, stamped, indexed, durable",
    "a line beside 1,000 tails": "the same beside 1,000 tails of this job",
    "supervisor": "supervisor, resident",
    "its own": "of it its own",
    "server": "server with one job, resident",
}


def with_row(text, rows, load):
    """The page with one more row; as it was if the run has none of the figures."""
    seen = {row.what: row.seen.split(" (")[0].split(", p50")[0].split(", of it")[0] for row in rows}
    figures = [seen.get(what, "-") for what in COLUMNS.values()]
    if set(figures) == {"-"}:
        return text
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith(HEADER))
    end = next(number for number in range(first, len(lines) + 1) if number == len(lines) or not lines[number].startswith("|"))
    kernel = ".".join(platform.release().split(".")[:2])
    where = f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} CPUs, Linux {kernel}, load {load:.1f}"
    lines.insert(end, f"| {' | '.join([where, *figures])} |")
    return "\n".join(lines)
