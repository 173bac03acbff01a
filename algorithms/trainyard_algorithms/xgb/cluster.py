"""Who trains together, by TF_CONFIG. Pure but for reading the variable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard_algorithms.failure import UserError


@dataclass(frozen=True)
class Cluster:
    """The master has rank 0, worker N has rank N + 1."""

    rank: int
    size: int
    host: str  #: of the master
    port: int  #: of the master


def parse(environment: Mapping[str, str]) -> Cluster:
    """The cluster that TF_CONFIG describes. UserError: it is not a master with at least one worker."""
    try:
        config = json.loads(environment.get("TF_CONFIG") or "{}")
        found = _cluster(config.get("cluster") or {}, config.get("task") or {})
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise UserError(f"TF_CONFIG is not of the form that is expected: {error!r}.") from error
    return found


def _cluster(cluster: Mapping[str, Any], task: Mapping[str, Any]) -> Cluster:
    masters = cluster.get("chief") or cluster.get("master") or []
    workers = cluster.get("worker") or []
    if cluster.get("ps"):
        raise UserError("Distributed XGBoost has no parameter servers: set parameterServerCount to 0.")
    if len(masters) != 1 or not workers:
        raise UserError(
            "Distributed XGBoost needs a master and at least one worker: set workerCount, "
            "or use boosted_trees."
        )
    host, _, port = masters[0].rpartition(":")
    kind = task["type"]
    if kind not in ("chief", "master", "worker"):
        raise UserError(f"Distributed XGBoost has a master and workers; this replica is of the type {kind}.")
    rank = int(task["index"]) + 1 if kind == "worker" else 0
    if rank > len(workers):
        raise UserError(f"TF_CONFIG names {len(workers)} workers, and this is worker {rank - 1}.")
    return Cluster(rank, len(workers) + 1, host, int(port))
