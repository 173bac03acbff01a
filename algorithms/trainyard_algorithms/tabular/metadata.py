"""artifacts/metadata.json: what a client needs to make a model's input from a row. The file's name and form
are ours; the original documented only that there is one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard_algorithms.outputs import write_json
from trainyard_algorithms.tabular.kinds import BLANK_SHARE, SPLIT_SEED
from trainyard_algorithms.tabular.plan import Source
from trainyard_algorithms.tabular.scan import Scan
from trainyard_algorithms.tabular.table import Table

if TYPE_CHECKING:
    from trainyard_algorithms.tabular.prepare import Given


def write(
    path: Path, table: Table, sources: tuple[Source, ...], seen: dict[str, Scan], data: "Given"
) -> None:
    """Writes it, in the same bytes for the same data and arguments."""
    write_json(
        path,
        {
            "version": 1,
            "preprocess": data.preprocess,
            "model_type": "regression" if table.labels is None else "classification",
            "labels": table.labels,
            "columns": [source(each) for each in sources],
            "features": [each.name for each in table.columns],
            "rows": {part: each.rows for part, each in table.parts.items()},
            "dropped": {
                part: {"no_target": each.untargeted, "blank": each.sparse} for part, each in seen.items()
            },
            "split": {
                "validation": data.validation_split,
                "test": data.test_split,
                "seed": SPLIT_SEED,
                "draw": "numpy.random.Generator(numpy.random.Philox(seed)).random(), one for each row",
            },
            "blank_share_max": BLANK_SHARE,
        },
    )


def source(column: Source) -> dict[str, Any]:
    """A column of the user's file."""
    result: dict[str, Any] = {"column": column.place + 1, "name": column.name, "kind": column.kind}
    if column.kind == "numeric":
        result["mean"] = column.mean
    elif column.buckets:
        result |= {"hash": "farmhash64 % buckets + 1; 0: blank", "buckets": column.buckets}
    elif column.kind == "categorical":
        result["vocabulary"] = column.vocabulary
    return result
