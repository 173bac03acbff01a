#!/usr/bin/env python3
"""Mean log10 regret after each trial, a panel per dimension: plot.py OUT.svg RUNS...     (files as for compare.py; needs matplotlib)

Of the runs of single trials that all the files with that dimension have, a tuner's curve as long as its shortest run.
"""

import collections
import math
import pathlib
import sys

from compare import FLOOR, Run


def curves(path):
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split()
        run = Run(*map(int, words[:4]))
        if run.function <= 100 and run.parallel == 1:
            found[run] = [math.log10(max(float(word), FLOOR)) for word in words[7:]]
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tuning"
    from matplotlib import pyplot
    tuners = {pathlib.Path(path).stem: curves(path) for path in sys.argv[2:]}
    by_dimension = collections.defaultdict(dict)
    for name, runs in tuners.items():
        for dimension in {run.dimension for run in runs}:
            by_dimension[dimension][name] = {run: curve for run, curve in runs.items() if run.dimension == dimension}
    figure, panels = pyplot.subplots(1, len(by_dimension), figsize=(4 * len(by_dimension), 3.4), squeeze=False, layout="constrained")
    for panel, dimension in zip(panels[0], sorted(by_dimension)):
        some = by_dimension[dimension]
        common = set.intersection(*(set(runs) for runs in some.values()))
        for name, runs in some.items():
            length = min(len(runs[run]) for run in common)  # slow ones were given fewer trials
            panel.plot(range(1, length + 1), [sum(runs[run][i] for run in common) / len(common) for i in range(length)], label=name)
        panel.set(title=f"d = {dimension}, {len(common)} runs", xlabel="trials", ylabel="mean log10 regret")
        panel.grid(alpha=0.3)
    panels[0][0].legend()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
