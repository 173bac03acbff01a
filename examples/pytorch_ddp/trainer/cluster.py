"""Where this replica stands: from the variables that torch reads, from TF_CONFIG or from CLUSTER_SPEC."""

import json
import os


def from_environment():
    return {"rank": int(os.environ["RANK"]), "world_size": int(os.environ["WORLD_SIZE"]), "init_method": "env://"}


def from_description(variable):
    """The first replica is called master or chief; it has rank 0, the workers follow."""
    description = json.loads(os.environ[variable])
    cluster, task = description["cluster"], description["task"]
    first = cluster.get("master") or cluster["chief"]
    return {"rank": 0 if task["type"] in ("master", "chief") else int(task["index"]) + 1,
            "world_size": 1 + len(cluster.get("worker", [])), "init_method": "tcp://" + first[0]}


def find(how):
    return from_environment() if how == "env" else from_description({"tf-config": "TF_CONFIG", "cluster-spec": "CLUSTER_SPEC"}[how])
