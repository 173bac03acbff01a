#!/usr/bin/env python3
"""Tables from runs of tuning_bench and rivals.py: compare.py [--after N] OURS RIVAL...     (files of lines, named by tuner)

Mean log10 regret by dimension, of odd functions (which the tuner was made on), of even ones (which it was not), of mixed
spaces, of tables of real training jobs, and how often ours is better in the runs that both have (half a win for a tie).
"""

import collections
import math
import pathlib
import sys

Run = collections.namedtuple("Run", "function dimension instance parallel")
FLOOR = 1e-8  # better than this is solved: BBOB's own target
TABLE_FLOOR = 1e-3  # so near to the best of a table, where the median is 1 away


def read(path, after=None):
    """Of each run the log10 of its least regret."""
    runs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split()
        best = [float(word) for word in words[7:]]
        if len(best) >= (after or 1):
            run = Run(*map(int, words[:4]))
            floor = TABLE_FLOOR if group(run.function) == "tables" else FLOOR
            runs[run] = math.log10(max(best[(after or len(best)) - 1], floor))
    return runs


def group(function):
    if function > 100:
        return "tables" if function > 200 else "mixed"
    return "odd" if function % 2 else "even"


def wins(pairs):
    return sum(1 if ours < theirs else 0.5 if ours == theirs else 0 for ours, theirs in pairs) / len(pairs)


def main():
    words, after = sys.argv[1:], None
    if words[:1] == ["--after"]:
        after, words = int(words[1]), words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    ours = read(words[0], after)
    print(f"| against | parallel | d | functions | runs | {pathlib.Path(words[0]).stem} | rival | better by | wins |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rival in words[1:]:
        theirs = read(rival, after)
        cells = collections.defaultdict(list)
        for key in ours.keys() & theirs.keys():
            name = group(key.function)
            for cell in ((key.dimension, name), (key.dimension, "all")) if name in ("odd", "even") else ((0, name),):
                cells[key.parallel, *cell].append((ours[key], theirs[key]))
        for (parallel, dimension, name), pairs in sorted(cells.items()):
            count = len(pairs)
            we, they = (sum(pair[i] for pair in pairs) / count for i in (0, 1))
            print(f"| {pathlib.Path(rival).stem} | {parallel} | {dimension or '-'} | {name} | {count} "
                  f"| {we:.2f} | {they:.2f} | {they - we:+.2f} | {wins(pairs):.0%} |")


if __name__ == "__main__":
    main()
