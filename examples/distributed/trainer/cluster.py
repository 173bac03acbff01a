"""This replica's place in the cluster, from TF_CONFIG."""

import json
import os


class Cluster:
    """role: master, worker, ps or evaluator. rank: this trainer's number among `trainers` (the master is 0)."""

    def __init__(self, environ=os.environ):
        config = json.loads(environ.get("TF_CONFIG") or "{}")
        hosts, task = config.get("cluster", {}), config.get("task", {})
        self.role = {"chief": "master"}.get(task.get("type"), task.get("type") or "master")
        self.index = int(task.get("index", 0))
        self.servers = [_address(text) for text in hosts.get("ps", [])]
        self.trainers = 1 + len(hosts.get("worker", []))
        self.rank = 0 if self.role == "master" else 1 + self.index


def _address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)
