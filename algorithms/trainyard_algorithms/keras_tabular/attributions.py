"""How much TabNet looked at each column: artifacts/feature_importances.json."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from trainyard_algorithms.keras_tabular.job import Job, evaluation_rows
from trainyard_algorithms.keras_tabular.tabnet_network import TabNet

LOG = logging.getLogger(__name__)


def by_column(places: np.ndarray, owner: np.ndarray, columns: int) -> np.ndarray:
    """Sums the input places of each column, [..., places] -> [..., columns], and makes each row sum to 1;
    a row of zeros stays one."""
    found = np.zeros((*places.shape[:-1], columns))
    for column in range(columns):
        found[..., column] = places[..., owner == column].sum(axis=-1)
    total = found.sum(axis=-1, keepdims=True)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 0)


def measure(job: Job) -> tuple[np.ndarray, np.ndarray, int]:
    """The mean attribution per input place over the judged part's rows, the mean mask of each step, and
    the rows."""
    network: TabNet = job.trainer.network
    compute = tf.function(network.attributions, reduce_retracing=True)
    weighted: np.ndarray | float = 0.0
    masks: np.ndarray | float = 0.0
    rows = 0
    for batch in job.rows[job.judged_part].once(evaluation_rows(job.table)):
        places, steps = (
            value.numpy().astype(np.float64) for value in compute(batch.numeric, batch.categorical)
        )
        total = places.sum(axis=1, keepdims=True)
        weighted += np.divide(places, total, out=np.zeros_like(places), where=total > 0).sum(axis=0)
        masks += steps.sum(axis=1)
        rows += len(places)
    return np.asarray(weighted) / max(rows, 1), np.asarray(masks) / max(rows, 1), rows


def document(names: Sequence[str], importance: np.ndarray, steps: np.ndarray, part: str, rows: int) -> Any:
    """The file's content, the most important column first; each list of importances sums to 1."""
    order = np.argsort(-importance, kind="stable")
    return {
        "part": part,
        "rows": rows,
        "features": [
            {
                "name": names[each],
                "importance": float(importance[each]),
                "steps": [float(step[each]) for step in steps],
            }
            for each in order
        ],
    }


def explain(job: Job) -> None:
    """Writes the file and says the first columns in the log."""
    network: TabNet = job.trainer.network
    places, masks, rows = measure(job)
    table = job.table
    ordered = [
        column for kind in ("numeric", "categorical") for column in table.columns if column.kind == kind
    ]
    importance, steps = (by_column(each, network.owner, len(ordered)) for each in (places, masks))
    content = document([column.name for column in ordered], importance, steps, job.judged_part, rows)
    path = job.folder.folder("artifacts") / "feature_importances.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    first = ", ".join(f"{each['name']} {100 * each['importance']:.0f}%" for each in content["features"][:5])
    LOG.info(f"Most used columns: {first}. All: artifacts/feature_importances.json.")
