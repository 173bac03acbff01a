"""Nodes of the tests' own Kubernetes: objects that leases keep Ready, whose pods run as processes of this machine.

They do what a kubelet does, as far as the service can see it: what a pod waits for, how it ends, and what a node says that has lost its power.
"""

import datetime
import os
import pathlib
import queue
import threading

from kube_api import MERGE
from kube_pods import CannotStart, PodProcess
from kube_program import VERSION

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
BEAT_S = 1
RETRY_S = 0.2  # after a request that nobody answered
READY_EVERY = 2  # beats
AGENT_DIR = "/var/lib/trainyard-agent/node"


def now(timespec="seconds"):
    return datetime.datetime.now(datetime.UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


class HollowPod:
    """A pod that a node has taken. One thread reports what becomes of it."""

    def __init__(self, pod):
        self.pod = pod
        self.uid, self.node = pod["metadata"]["uid"], pod["spec"]["nodeName"]
        self.path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        self.started = now()
        self.process: PodProcess | None = None
        self.has_begun = threading.Event()  # its process has, or never will
        self.has_ended = threading.Event()  # its process has, or there is none
        self.is_deleted = threading.Event()
        self.is_gone = False  # its object does not exist any more
        self.is_lost = False  # with its node's power

    def status(self, phase, state, ready=False):
        conditions = [{"type": kind, "status": "True" if ready or kind == "Initialized" else "False", "lastTransitionTime": now()}
                      for kind in ("Initialized", "Ready", "ContainersReady")]
        containers = [{"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": ready, "started": ready,
                       "restartCount": 0, "state": state} for container in self.pod["spec"]["containers"]]
        return {"phase": phase, "startTime": self.started, "hostIP": "127.0.0.1", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}],
                "conditions": conditions, "containerStatuses": containers}

    def ended(self, code, reason=None):
        reason = reason or ("Error" if code else "Completed")
        return self.status("Failed" if code else "Succeeded", {"terminated": {
            "exitCode": code, "reason": reason, "startedAt": self.started, "finishedAt": now()}})


class HollowNodes:
    """All nodes of a cluster. It starts when it is made.

    @param resources  of each node: {"cpu": "4", "memory": "4Gi"}
    @param image  files that all containers have: path -> where it is here
    @param environments  a folder for what pods have built, which other clusters may use, too
    @param kill_after_s  a pod that is deleted is killed after so long, if its own grace period is not shorter
    """

    def __init__(self, api, folder, names, resources, *, image, environments, kill_after_s):
        self.api, self.folder, self.names, self.resources = api, pathlib.Path(folder), names, resources
        self.image, self.environments, self.kill_after_s = image, pathlib.Path(environments), kill_after_s
        self.unpullable: dict[str, tuple[str, str]] = {}  # image -> reason and message of its waiting containers
        self.pods: dict[str, HollowPod] = {}
        self.down: set[str] = set()
        self.stopping = threading.Event()
        self.to_begin: queue.SimpleQueue = queue.SimpleQueue()  # pods; None: no more
        self.said: queue.SimpleQueue = queue.SimpleQueue()  # errors of threads
        for name in names:
            self._make_node(name)
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self._begin_all, self._watch, self._beat)]
        self.beginning = self.threads[0]
        for thread in self.threads:
            thread.start()

    def stop(self):
        """All pods' processes are gone when this returns. Threads end with the API server: join()."""
        self.stopping.set()
        self.to_begin.put(None)
        self.beginning.join()
        for hollow in list(self.pods.values()):
            self._kill(hollow)

    def join(self):
        for thread in self.threads:
            thread.join()

    def kill_node(self, name):
        """Its power is lost: its processes are gone when this returns, and nobody hears of it."""
        self.down.add(name)
        for hollow in self._pods_of(name):
            hollow.is_lost = hollow.has_begun.is_set() and not hollow.has_ended.is_set()
            self._kill(hollow)

    def start_node(self, name):
        """It begins pods that it was given meanwhile, and says of those whose processes were lost what a kubelet says."""
        self.down.discard(name)
        self._until_answered(lambda: self._say_ready(name))
        for hollow in self._pods_of(name):
            if not hollow.has_begun.is_set():
                self.to_begin.put(hollow)
            else:
                self._spawn(self._finish, hollow, hollow.ended(255, "Unknown") if hollow.is_lost else None)
                hollow.is_lost = False

    def errors(self):
        found = []
        while not self.said.empty():
            found.append(self.said.get())
        return "".join(found)

    # Nodes.

    def _make_node(self, name):
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        self.api.must("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
        self.api.must("POST", LEASES, {"metadata": {"name": name}, "spec": self._lease(name)})
        self._say_ready(name)

    def _lease(self, name):
        return {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now("microseconds")}

    def _say_ready(self, name):
        info = {"kubeletVersion": "v" + VERSION, "operatingSystem": "linux", "architecture": "amd64", "kernelVersion": "6", "osImage": "hollow",
                "containerRuntimeVersion": "hollow://1", "kubeProxyVersion": "", "machineID": name, "systemUUID": name, "bootID": name}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "hollow", "lastHeartbeatTime": now(),
                 "lastTransitionTime": now()}
        self.api.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": self.resources, "allocatable": self.resources, "nodeInfo": info, "conditions": [ready],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}]}})

    def _beat(self):
        beats = 0
        while not self.stopping.wait(BEAT_S):
            beats += 1
            for name in self.names:
                if name in self.down:
                    continue
                try:
                    self.api.call("PATCH", f"{LEASES}/{name}", {"spec": self._lease(name)}, MERGE)
                    if beats % READY_EVERY == 0:
                        self._say_ready(name)
                except (OSError, AssertionError):  # the API server is away, or the node's object was deleted
                    break

    # Pods.

    def _pods_of(self, node):
        return [hollow for hollow in list(self.pods.values()) if hollow.node == node]

    def _watch(self):
        path = "/api/v1/pods?fieldSelector=spec.nodeName!="
        while not self.stopping.is_set():
            try:
                listed = self.api.must("GET", path)
                for pod in listed["items"]:
                    self._see(pod)
                for event in self.api.watch(path, listed["metadata"]["resourceVersion"]):
                    if event["type"] == "DELETED":
                        self._forget(event["object"])
                    elif event["type"] != "BOOKMARK":
                        self._see(event["object"])
                    if self.stopping.is_set():
                        return
            except (OSError, AssertionError):  # the API server is away
                self.stopping.wait(RETRY_S)

    def _see(self, pod):
        uid = pod["metadata"]["uid"]
        if pod["spec"]["nodeName"] not in self.names:
            return
        hollow = self.pods.get(uid)
        if hollow is None and pod["status"]["phase"] == "Pending":
            hollow = self.pods[uid] = HollowPod(pod)
            self.to_begin.put(hollow)
        if hollow and pod["metadata"].get("deletionTimestamp") and not hollow.is_deleted.is_set():
            hollow.pod = pod
            hollow.is_deleted.set()
            self._spawn(self._end, hollow)

    def _forget(self, pod):
        """It was deleted without its node, as by force: then the kubelet ends what is left of it."""
        hollow = self.pods.pop(pod["metadata"]["uid"], None)
        if hollow:
            hollow.is_gone = True
            self._spawn(self._kill, hollow)

    def _begin_all(self):
        """One thread for all: a process ends with the thread that has started it."""
        while hollow := self.to_begin.get():
            if hollow.node in self.down or hollow.is_gone or hollow.has_begun.is_set():
                continue
            try:
                self._begin(hollow)
            except OSError:  # the API server is away
                if not self.stopping.wait(RETRY_S):
                    self.to_begin.put(hollow)

    def _begin(self, hollow):
        refused = self.unpullable.get(hollow.pod["spec"]["containers"][0]["image"])
        try:
            if refused:
                raise CannotStart(*refused)
            hollow.process = PodProcess(hollow.pod, self.folder / "pods" / hollow.uid, self.api, image=self.image, kept=self._kept(hollow))
        except CannotStart as why:
            hollow.has_ended.set()
            status = hollow.status("Pending", {"waiting": {"reason": why.reason, "message": why.message}})
            self._spawn(self._report, hollow, status)
        else:
            self._spawn(self._follow, hollow)
        hollow.has_begun.set()

    def _kept(self, hollow):
        """Environments outlive pods, and all nodes share them, which saves the time that real ones need for building theirs. The paths of all
        nodes are there, since an environment knows the one that it was made at."""
        folder = self.environments
        folder.mkdir(exist_ok=True)
        user = hollow.pod["spec"].get("securityContext", {}).get("runAsUser", 0)
        os.chown(folder, user, user)
        folder.chmod(0o700)
        return {f"{AGENT_DIR}/nodes/{name}/environments": folder for name in self.names}

    def _follow(self, hollow):
        self._report(hollow, hollow.status("Running", {"running": {"startedAt": hollow.started}}, ready=True))
        code = hollow.process.wait()
        hollow.has_ended.set()
        if not hollow.is_lost:
            self._finish(hollow, hollow.ended(code))

    def _end(self, hollow):
        """It is deleted: SIGTERM, SIGKILL after a while."""
        hollow.has_begun.wait()
        if hollow.process is None:
            return self._finish(hollow, hollow.ended(137, "ContainerStatusUnknown"))
        while not self._is_without_power(hollow) and not hollow.process.terminate() and not hollow.has_ended.wait(RETRY_S):
            pass
        if not hollow.has_ended.wait(min(hollow.pod["metadata"].get("deletionGracePeriodSeconds", 0), self.kill_after_s)):
            self._kill(hollow)

    def _is_without_power(self, hollow):
        return hollow.node in self.down or self.stopping.is_set()

    def _finish(self, hollow, status):
        """Says how it has ended, if that is not known, and when it is deleted that nothing of it is left."""
        if status:
            self._report(hollow, status)
        while not hollow.is_deleted.wait(RETRY_S):
            if self._is_without_power(hollow) or hollow.is_gone:
                return
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": hollow.uid}}
        self._until_answered(lambda: None if hollow.node in self.down else self.api.call("DELETE", hollow.path, body))
        if hollow.process:
            hollow.process.remove()

    def _report(self, hollow, status):
        if hollow.node in self.down:
            return
        body = {"metadata": {"uid": hollow.uid}, "status": status}
        self._until_answered(lambda: None if hollow.node in self.down else self.api.call("PATCH", hollow.path + "/status", body))

    def _kill(self, hollow):
        if hollow.process and hollow.process.is_running():
            hollow.process.kill()

    def _until_answered(self, ask):
        while not self.stopping.is_set():
            try:
                return ask()
            except (OSError, AssertionError):
                self.stopping.wait(RETRY_S)
        return None

    def _spawn(self, target, *words):
        def run():
            try:
                target(*words)
            except Exception as error:
                self.said.put(f"\n{target.__name__}: {error!r}")
        threading.Thread(target=run, daemon=True).start()
