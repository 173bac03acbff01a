"""Each replica's share of the data, and what the replicas have to agree on: columns and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import xgboost as xgb
from xgboost import collective

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.paths import listed, local
from trainyard_algorithms.xgb import labels, libsvm, matrices, numeric_csv
from trainyard_algorithms.xgb.numeric_csv import Deal
from trainyard_algorithms.xgb.parameters import Settings

T = TypeVar("T")
#: Makes a matrix, with the training matrix or None.
Make = Callable[[Settings, "xgb.DMatrix | None"], xgb.DMatrix]


@dataclass(frozen=True)
class Share:
    parts: dict[str, Make]
    classes: labels.Classes
    told: str  #: what it is, for the log

    def matrices(self, settings: Settings) -> tuple[xgb.DMatrix, xgb.DMatrix | None]:
        """Training and validation. All replicas call this at the same time."""
        train = self.parts["training"](settings, None)
        other = self.parts.get("validation")
        return train, other(settings, train) if other is not None else None


def dealt(all_files: Sequence[T], rank: int, size: int) -> tuple[list[T], Deal]:
    """Whole files in turn; of fewer files than replicas, every `size`-th row of all. Pure."""
    if len(all_files) < size:
        return list(all_files), Deal(rank, size)
    return list(all_files[rank::size]), numeric_csv.ALL


def read(args: SimpleNamespace, settings: Settings, rank: int, size: int) -> Share:
    """Looks at this replica's rows once, and agrees with the others. UserError: it names file and row."""
    paths = {"training": args.training_data_path, "validation": args.validation_data_path}
    every = {part: listed(path) for part, path in paths.items() if path}
    seen = labels.Seen(settings.task)
    reader = _csv if args.data_type == "csv" else _libsvm
    parts, rows = reader(every, seen, rank, size)
    count = agreed(seen.classes().count)
    if _total(rows["training"]) == 0:
        raise UserError("The training data have no row.")
    told = ", ".join(f"{number} of the {_total(number)} {part} rows" for part, number in rows.items())
    return Share(parts, labels.Classes(count), told)


def _csv(
    every: dict[str, list[str]], seen: labels.Seen, rank: int, size: int
) -> tuple[dict[str, Make], dict[str, int]]:
    columns = _width(every["training"], rank, size)
    parts: dict[str, Make] = {}
    rows = dict.fromkeys(every, 0)
    for part, of_part in every.items():
        parts[part] = _blocks(dealt(of_part, rank, size), columns, seen, rows, part)
    return parts, rows


def _width(training: list[str], rank: int, size: int) -> int:
    """numeric_csv.width() of all files, of which each replica has its own: the first replica's that has a
    row."""
    mine, _ = dealt(training, rank, size)
    widths = np.zeros(size, np.int64)
    widths[rank] = numeric_csv.width_if_any([local(each) for each in mine]) or 0
    found = [int(each) for each in collective.allreduce(widths, collective.Op.MAX) if each]
    if not found:
        raise UserError("The training data have no row.")
    return found[0]


def _blocks(
    share: tuple[list[str], Deal], columns: int, seen: labels.Seen, rows: dict[str, int], part: str
) -> Make:
    mine, deal = [local(each) for each in share[0]], share[1]

    def look(features: np.ndarray, target: np.ndarray) -> None:
        seen.add(target, mine)
        rows[part] += len(features)

    start = numeric_csv.looked_at(lambda: numeric_csv.chunks(mine, columns, deal), look)
    return lambda settings, like: matrices.of_blocks(start, columns - 1, settings, like)


def _libsvm(
    every: dict[str, list[str]], seen: labels.Seen, rank: int, size: int
) -> tuple[dict[str, Make], dict[str, int]]:
    loaded: dict[str, libsvm.Rows] = {}
    for part, of_part in every.items():
        names, deal = dealt(of_part, rank, size)
        mine = [local(each) for each in names]
        loaded[part] = libsvm.load(mine, deal)
        seen.add(loaded[part].target, mine)
    columns = agreed(max(each.features.shape[1] for each in loaded.values()))
    parts = {part: _rows(each, columns) for part, each in loaded.items()}
    return parts, {part: len(each.target) for part, each in loaded.items()}


def _rows(rows: libsvm.Rows, columns: int) -> Make:
    features: Any = libsvm.widened(rows.features, columns)
    return lambda settings, like: matrices.of_rows(features, rows.target, settings, like, rows.groups)


def agreed(number: int) -> int:
    """The highest of the replicas' numbers."""
    return int(collective.allreduce(np.array([number], np.int64), collective.Op.MAX)[0])


def _total(number: int) -> int:
    return int(collective.allreduce(np.array([number], np.int64), collective.Op.SUM)[0])
