#!/usr/bin/env python3
"""Runs the benchmarks, each with its floor or peer in the same run, and prints them; --write puts them into
docs/benchmarks.md.

usage: bench/run.py --build DIR [--beside PROGRAM] [--write] [--check-names] [NAME...]
names: start imports container_start image_pull creates takeover access jobs trials logs tail memory history retention tuning
  tuning_trials slurm slurm_simulation kubernetes kubernetes_simulation floods console parts
algorithms_quality and algorithms_preprocessing are programs of their own, which ./dev bench runs only when they are named.

With --beside, both programs run in turn, and a row is the median of the rounds' ratios with its 95 % interval. A case that
measures a program of the benchmarks (parts, tuning, history and others) takes the other's from the directory bench beside it.
--short: start, creates, jobs and logs, a few rounds of each, in about two minutes.
"""

import argparse
import difflib
import os

import by_round
import pairs
from cases import CASES
from harness import ROOT, Bench, machine

MARK = "<!-- below: written by ./dev bench --write -->"
ALONE = ("algorithms_quality", "algorithms_preprocessing")  # ./dev runs them, alone


def write(rows, notes):
    path = ROOT / "docs/benchmarks.md"
    head = path.read_text().split(MARK)[0].rstrip() if path.exists() else "# Benchmarks"
    lines = ["| what | budget | seen | beside it, in the same run |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row[:4])} |" for row in rows]
    head = by_round.with_row(head, rows, LOAD[0])
    path.write_text(f"{head}\n\n{MARK}\n`./dev bench --write` on {machine(LOAD[0])}:\n\n" + "\n".join(lines) + "\n"
                    + "".join(f"\n```\n{note}\n```\n" for note in notes))


def unknown(name):
    likest = sorted([*CASES, *ALONE], key=lambda case: difflib.SequenceMatcher(None, name, case).ratio(), reverse=True)
    return f"there is no benchmark {name!r}; there are: {' '.join(likest)}"


LOAD = os.getloadavg()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--beside", metavar="PROGRAM", help="another trainyard to compare with")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--short", action="store_true", help="a quick report, with --beside")
    parser.add_argument("--check-names", action="store_true", help="only look at the names")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    for name in options.names:
        if name in ALONE:
            parser.error(f"{name} is a benchmark of its own: name it first and alone, as in ./dev bench {name}")
        if name not in CASES:
            parser.error(unknown(name))
    if options.beside and options.write:
        parser.error("--write keeps the figures of one program: run it without --beside")
    if options.short and not options.beside:
        parser.error("--short compares two programs: name the other one with --beside")
    if options.check_names:
        return
    bench = Bench(options.build, options.beside)
    try:
        for name in options.names or (pairs.SHORT if options.short else CASES):
            if options.beside:
                pairs.compare(bench, name, CASES[name], options.short)
            else:
                CASES[name](bench)
    finally:
        bench.close()
    if options.write:
        write(bench.rows, bench.notes)


if __name__ == "__main__":
    main()
