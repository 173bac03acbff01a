"""Nodes of the tests' own Kubernetes: objects that leases keep Ready, whose pods run as processes of this machine.

They do what a kubelet does, as far as the service can see it: what a pod waits for, how it ends, and what a node says that has lost its power.
"""

import pathlib
import queue
import threading

from kube_api import MERGE
from kube_pods import HollowPod, now
from kube_program import VERSION

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
BEAT_S = 1
RETRY_S = 0.2  # after a request that nobody answered
READY_EVERY = 2  # beats
AGENT_DIR = "/var/lib/trainyard-agent/node"


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
        self.to_begin: queue.SimpleQueue = queue.SimpleQueue()  # (a pod, its next step); None: no more
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
            hollow.kill()

    def join(self):
        for thread in self.threads:
            thread.join()

    def kill_node(self, name):
        """Its power is lost: its processes are gone when this returns, and nobody hears of it."""
        self.down.add(name)
        for hollow in self._pods_of(name):
            hollow.is_lost = hollow.has_begun.is_set() and not hollow.has_ended.is_set()
            hollow.kill()

    def start_node(self, name):
        """It begins pods that it was given meanwhile, and says of those whose processes were lost what a kubelet says."""
        self.down.discard(name)
        self._until_answered(lambda: self._say_ready(name))
        for hollow in self._pods_of(name):
            if hollow.is_lost:
                hollow.set_all_ended(255, "Unknown")
                hollow.is_lost = False
            if hollow.has_begun.is_set():
                self._spawn(self._report, hollow)
            else:
                self.to_begin.put((hollow, 0))
            if hollow.is_deleted.is_set():
                self._spawn(self._end, hollow)

    def kill_container(self, uid, name, why=None):
        """A container of the pod of that uid: its processes are gone when this returns. `why`: the reason of its end, as "OOMKilled"."""
        self.pods[uid].kill(name, why=why)

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
            hollow = self.pods[uid] = HollowPod(pod, self.folder / "pods" / uid, image=self.image, kept=self._kept())
            self.to_begin.put((hollow, 0))
        if hollow and pod["metadata"].get("deletionTimestamp") and not hollow.is_deleted.is_set():
            hollow.pod = pod
            hollow.is_deleted.set()
            self._spawn(self._end, hollow)

    def _forget(self, pod):
        """It was deleted without its node, as by force: then the kubelet ends what is left of it."""
        hollow = self.pods.pop(pod["metadata"]["uid"], None)
        if hollow:
            hollow.is_gone = True
            self._spawn(hollow.kill)

    def _kept(self):
        """Environments outlive pods, and all nodes share them, which saves the time that real ones need for building theirs. The paths of all
        nodes are there, since an environment knows the one that it was made at."""
        self.environments.mkdir(exist_ok=True)
        self.environments.chmod(0o700)
        return {f"{AGENT_DIR}/nodes/{name}/environments": self.environments for name in self.names}

    def _begin_all(self):
        """One thread for all: a process ends with the thread that has started it."""
        while item := self.to_begin.get():
            hollow, step = item
            if hollow.node in self.down:
                continue
            try:
                begun = hollow.begin(step, self.unpullable, self.api)
            except OSError:  # the API server is away
                if not self.stopping.wait(RETRY_S):
                    self.to_begin.put(item)
                continue
            self._spawn(self._report, hollow)
            for name in begun:
                self._spawn(self._follow, hollow, name)

    def _follow(self, hollow, name):
        next_step = hollow.end(name)
        self._report(hollow)
        if next_step is not None:
            self.to_begin.put((hollow, next_step))

    def _end(self, hollow):
        """It is deleted: SIGTERM, SIGKILL after a while, and when nothing of it is left, its node says so."""
        while not self._is_without_power(hollow) and not hollow.terminate() and not hollow.has_ended.wait(RETRY_S):
            pass
        if not hollow.has_ended.wait(min(hollow.pod["metadata"].get("deletionGracePeriodSeconds", 0), self.kill_after_s)):
            hollow.kill()
        while not hollow.has_ended.wait(RETRY_S):
            if self._is_without_power(hollow):
                return
        hollow.set_all_ended(137, "ContainerStatusUnknown")
        self._report(hollow)
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": hollow.uid}}
        self._until_answered(lambda: None if hollow.node in self.down else self.api.call("DELETE", hollow.path, body))
        hollow.remove()

    def _is_without_power(self, hollow):
        return hollow.node in self.down or self.stopping.is_set()

    def _report(self, hollow):
        """What it has become by now."""
        def ask():
            if hollow.node in self.down or hollow.is_gone:
                return
            self.api.call("PATCH", hollow.path + "/status", {"metadata": {"uid": hollow.uid}, "status": hollow.status()})
        with hollow.reporting:
            self._until_answered(ask)

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
