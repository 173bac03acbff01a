"""What a run of algorithms_quality.py found: kept line by line, so that an interrupted run can be continued, and shown as tables."""

import json
import os
import statistics
import threading

from algorithms_ranges import NAMES

TITLES = {"linear_learner": "linear learner", "wide_deep_learner": "wide & deep", "boosted_trees": "boosted trees", "tab_net": "TabNet"}
PEERS = {"histogram": "HistGradientBoosting", "linear": "logistic / linear regression"}


class Results:
    """A file of JSON lines, each with a `unit`, its name. May be used by several threads."""

    def __init__(self, path, settings):
        """Reads what is there. ValueError: it is of a run with other settings."""
        self.lock = threading.Lock()
        self.found = {}
        self.path = path
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    each = json.loads(line)
                except ValueError:
                    continue  # cut off when the run was
                self.found[each.pop("unit")] = each
        known = self.found.pop("settings", None)
        if known is not None and known != settings:
            raise ValueError(f"{path} is of a run with other settings: {known}")
        self.file = path.open("a")
        if known is None:
            self._write({"unit": "settings", **settings})

    def add(self, unit, result):
        with self.lock:
            self.found[unit] = result
            self._write({"unit": unit, **result})

    def _write(self, line):
        self.file.write("\n" * self._cut() + json.dumps(line) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def _cut(self):
        """Whether the file's last line has no end."""
        text = self.path.read_bytes()
        return bool(text) and not text.endswith(b"\n")


def number(metric, value):
    return "" if value is None else f"{value:.4g}" if metric == "RMSE" else f"{value:.3f}"


def value_of(found, table, split, name, mode, field="test"):
    return found.get(f"{table}/{split}/{name}/{mode}", {}).get(field)


def better(metric, one, other):
    """Whether `one` is as good as `other`, or better."""
    return one <= other if metric == "RMSE" else one >= other


def chosen(found, table, metric):
    """The algorithm whose tuned model is best on the validation part, and its metric on the test part; None if there is none."""
    validated = {name: value_of(found, table, 0, name, "tuned", "validation") for name in NAMES}
    validated = {name: value for name, value in validated.items() if value is not None}
    if not validated:
        return None
    name = (min if metric == "RMSE" else max)(validated, key=lambda each: validated[each])
    return name, value_of(found, table, 0, name, "tuned")


def tuned_table(found, tables):
    """Of the first split: each algorithm with defaults and tuned, the one that the validation part chooses, and the peers."""
    peers = list(PEERS)
    lines = [f"| table | metric | {' | '.join(TITLES.values())} | chosen by validation | {' | '.join(PEERS.values())} |",
             f"|{'---|' * (3 + len(NAMES) + len(PEERS))}"]
    count = won = 0
    for table, about in tables.items():
        metric = about["metric"]
        cells = []
        for name in NAMES:
            default, tuned = (value_of(found, table, 0, name, mode) for mode in ("defaults", "tuned"))
            cells.append(f"{number(metric, default) or '?'} → {number(metric, tuned) or '?'}")
        theirs = [value_of(found, table, 0, "boosted_trees", "defaults", peer) for peer in peers]
        best = chosen(found, table, metric)
        cells.append(f"{number(metric, best[1])} ({TITLES[best[0]]})" if best else "?")
        lines.append(f"| {table} | {metric} | {' | '.join(cells)} | {' | '.join(number(metric, each) or '?' for each in theirs)} |")
        if best and None not in theirs:
            count += 1
            won += all(better(metric, best[1], each) for each in theirs)
    return lines, f"The tuned model that the validation part chooses is at least as good on the test part as both peers on {won} of {count} tables."


def splits_table(found, tables, splits):
    """Defaults and peers over all splits: mean and standard deviation."""
    lines = [f"| table | metric | {' | '.join(TITLES.values())} | {' | '.join(PEERS.values())} |", f"|{'---|' * (2 + len(NAMES) + len(PEERS))}"]
    for table, about in tables.items():
        columns = [(name, "test") for name in NAMES] + [("boosted_trees", peer) for peer in PEERS]
        cells = []
        for name, field in columns:
            values = [value_of(found, table, split, name, "defaults", field) for split in range(splits)]
            values = [each for each in values if each is not None]
            cells.append(spread(about["metric"], values))
        lines.append(f"| {table} | {about['metric']} | {' | '.join(cells)} |")
    return lines


def spread(metric, values):
    if len(values) < 2:
        return f"{number(metric, values[0])} (one split)" if values else "?"
    return f"{number(metric, statistics.mean(values))} ± {number(metric, statistics.stdev(values))}"


def speed_table(found):
    lines = ["| algorithm | training, rows/s | the library alone, rows/s | share | with evaluations and checkpoints, rows/s |",
             "|---|---|---|---|---|"]
    for name in NAMES:
        ours, alone = (found.get(f"speed/{name}/{who}") for who in ("ours", "alone"))
        if not ours or not alone:
            continue
        rate, peer = (each["rows"] / each["seconds"] for each in (ours, alone))
        fit = f"{ours['fit_rows'] / ours['fit_seconds']:,.0f}" if "fit_rows" in ours else ""
        lines.append(f"| {TITLES[name]} | {rate:,.0f} | {peer:,.0f} | {rate / peer:.2f} | {fit} |")
    return lines


def about_tables(tables):
    lines = ["| table | package | rows | columns | of them text | blanks | target |", "|---|---|---|---|---|---|---|"]
    for name, each in tables.items():
        target = {"binary": "two classes", "classes": f"{each['classes']} classes", "regression": "a number"}[each["kind"]]
        lines.append(f"| {name} | {each['package']} | {each['rows']:,} | {each['columns']} | {each['texts']} | {each['blanks']} | {target} |")
    return lines
