"""Follows Trainyard's pods in a namespace of Kubernetes, for tests that count them."""

import collections
import threading
from typing import Any

from kube_nodes import RETRY_S
from kubernetes_world import OURS

JOB = "trainyard.dev/job"  # the annotation with a job's name


def slot_of(name):
    """(a job's try, the slot) of the pod's name "ty-INSTALLATION-JOBUID-TRY-SUBMISSION-SLOT"."""
    gang, _, slot = name.rsplit("-", 2)
    return gang, slot


class PodHistory:
    """The pods that exist, and those that have existed. A context manager: a thread follows them until its end.

    It survives an absent API server. A pod that was created and deleted meanwhile is not seen.
    """

    def __init__(self, space):
        self.api, self.path = space.api, f"{space.path}/pods?labelSelector={OURS}"
        self.there: dict[str, Any] = {}  # by name
        self.uids: dict[str, set[str]] = collections.defaultdict(set)  # of all pods that have had the name
        self.doubled: list[tuple[str, str]] = []  # two pods of one slot that existed at the same time, neither of them being deleted
        self.stopping = threading.Event()

    def __enter__(self):
        threading.Thread(target=self._follow, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping.set()

    def pods_of(self, job_id):
        """The pods of the job that are not being deleted."""
        return [pod for pod in list(self.there.values())
                if pod["metadata"]["annotations"].get(JOB) == job_id and "deletionTimestamp" not in pod["metadata"]]

    def _follow(self):
        while not self.stopping.is_set():
            try:
                listed = self.api.must("GET", self.path)
                self.there = {}
                for pod in listed["items"]:
                    self._see(pod)
                version = listed["metadata"]["resourceVersion"]
                while not self.stopping.is_set():
                    version = self._watch(version)
            except (OSError, AssertionError):  # the API server is away
                self.stopping.wait(RETRY_S)

    def _watch(self, version):
        for event in self.api.watch(self.path, version):
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self.there.pop(event["object"]["metadata"]["name"], None)
            elif event["type"] != "BOOKMARK":
                self._see(event["object"])
            if self.stopping.is_set():
                break
        return version

    def _see(self, pod):
        name = pod["metadata"]["name"]
        is_new = pod["metadata"]["uid"] not in self.uids[name]
        self.uids[name].add(pod["metadata"]["uid"])
        if is_new:
            self.doubled += [(name, other) for other, known in self.there.items()
                             if other != name and slot_of(other) == slot_of(name) and "deletionTimestamp" not in known["metadata"]]
        self.there[name] = pod
