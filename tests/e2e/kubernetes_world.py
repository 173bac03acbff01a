"""Servers whose jobs run on a real Kubernetes, and what tests ask of both. conftest.py imports the fixtures."""

import itertools
import re
import secrets

import pytest

from kube_api import MERGE
from kube_cluster import KubeCluster
from trainyard_server import PROGRAM, RUNTIME, Server, wait_for, write_runtime

OURS = "app.kubernetes.io/managed-by=trainyard"
RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
# What docs/kubernetes.md says that a server needs.
ROLE = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "list", "watch", "delete"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "get", "delete"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["list"]}]
PODGROUPS_ROLE = [{"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups"], "verbs": ["create"]}]
NODES_ROLE = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]
# With three replicas, one for each node.
GANG = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
        "parameterServerType": None, "parameterServerCount": None}


class Namespace:
    """A new one, and what an administrator does there."""

    numbers = itertools.count(1)

    def __init__(self, cluster):
        """Returns when pods can be created there."""
        self.cluster, self.api = cluster, cluster.api
        self.name = f"team{next(self.numbers)}"
        self.path = f"/api/v1/namespaces/{self.name}"
        self.servers: list[Server] = []  # of which jobs run here
        self.api.must("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
        cluster.wait_for_account(self.name)

    def account(self, *, rules=ROLE, sees_nodes=True):
        """The path of a kubeconfig for a new service account, which has no other rights."""
        name = "trainyard-" + secrets.token_hex(3)
        subjects = [{"kind": "ServiceAccount", "name": name, "namespace": self.name}]
        self.api.must("POST", self.path + "/serviceaccounts", {"metadata": {"name": name}})
        roles = [("Role", f"{RIGHTS}/namespaces/{self.name}", rules)] + ([("ClusterRole", RIGHTS, NODES_ROLE)] if sees_nodes else [])
        for kind, where, allowed in roles:
            role = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
            self.api.must("POST", f"{where}/{kind.lower()}s", {"metadata": {"name": name}, "rules": allowed})
            self.api.must("POST", f"{where}/{kind.lower()}bindings", {"metadata": {"name": name}, "roleRef": role, "subjects": subjects})
        self._wait_for_rights(name, [*rules[-1:], *(NODES_ROLE if sees_nodes else [])])
        token = self.api.must("POST", f"{self.path}/serviceaccounts/{name}/token", {"spec": {"expirationSeconds": 86400}})["status"]["token"]
        return self.cluster.make_kubeconfig(name, f"token: {token}", self.name)

    def _wait_for_rights(self, account, rules):
        """The API server knows of a role a moment after it has taken it."""
        for rule in rules:
            asked = {"user": f"system:serviceaccount:{self.name}:{account}",
                     "resourceAttributes": {"namespace": self.name, "group": rule["apiGroups"][0], "resource": rule["resources"][0],
                                            "verb": rule["verbs"][0]}}

            def is_allowed():
                answer = self.api.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": asked})
                return True if answer["status"]["allowed"] else None
            wait_for(is_allowed, lambda: f"{account} has no rights: {asked}")

    def pods(self):
        """Trainyard's, by name."""
        return {pod["metadata"]["name"]: pod for pod in self.api.must("GET", f"{self.path}/pods?labelSelector={OURS}")["items"]}

    def pod_of(self, slot):
        """The pod of a slot that is not being deleted; equal replicas have slots in their order."""
        [pod] = [pod for name, pod in self.pods().items() if name.endswith(f"-{slot}") and "deletionTimestamp" not in pod["metadata"]]
        return pod

    def node_of(self, slot):
        return self.pod_of(slot)["spec"]["nodeName"]

    def left(self):
        """Names of what Trainyard has there."""
        return [*self.pods(), *(secret["metadata"]["name"] for secret in self.api.must("GET", f"{self.path}/secrets?labelSelector={OURS}")["items"])]

    def wait_until_left(self):
        wait_for(lambda: True if not self.left() else None, lambda: f"there is {self.left()}{self.cluster.logs()}")

    def delete_pod(self, slot):
        """As `kubectl delete pod` does it."""
        self.api.must("DELETE", f"{self.path}/pods/{self.pod_of(slot)['metadata']['name']}")

    def evict(self, slot):
        """As `kubectl drain` does it."""
        name = self.pod_of(slot)["metadata"]["name"]
        self.api.must("POST", f"{self.path}/pods/{name}/eviction",
                      {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": self.name}})

    def make_pod(self, name, *, cpus, node):
        """Another's pod, which runs on the node until it is deleted."""
        self.api.must("POST", f"{self.path}/pods", {"metadata": {"name": name}, "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node}, "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "main", "image": "busybox", "command": ["sleep", "infinity"], "resources": {"requests": {"cpu": str(cpus)}}}]}})

        def runs():
            return True if self.api.must("GET", f"{self.path}/pods/{name}")["status"]["phase"] == "Running" else None
        wait_for(runs, lambda: f"{name} does not run{self.cluster.logs()}")

    def delete_other_pods(self):
        self.api.must("DELETE", f"{self.path}/pods?labelSelector=app.kubernetes.io/managed-by!=trainyard")

    def set_quota(self, **hard):
        """set_quota(pods="2"): what the namespace's pods may have together; in force when this returns."""
        path = f"{self.path}/resourcequotas"
        if self.api.call("GET", path + "/quota")[0] == 404:
            self.api.must("POST", path, {"metadata": {"name": "quota"}, "spec": {"hard": hard}})
        else:
            self.api.must("PATCH", path + "/quota", {"spec": {"hard": hard}})

        def is_known():
            return True if self.api.must("GET", path + "/quota").get("status", {}).get("hard") == hard else None
        wait_for(is_known, lambda: f"the quota is not known: {self.api.call('GET', path)}{self.cluster.logs()}")

    def give_up_soon(self):
        """Its pods give up a silent node after a second, instead of what they tolerate."""
        for name, pod in self.pods().items():
            tolerations = [{**one, "tolerationSeconds": 1} if "tolerationSeconds" in one else one for one in pod["spec"]["tolerations"]]
            self.api.must("PATCH", f"{self.path}/pods/{name}", {"spec": {"tolerations": tolerations}}, MERGE)


@pytest.fixture(scope="module")
def three_nodes(environments):
    """Each takes one n1-standard-4."""
    of_pods = environments.with_name(environments.name + "-of-pods")
    with KubeCluster(3, cpus="4.2", gpus=2, program=PROGRAM, environments=of_pods) as cluster:
        yield cluster
        print(cluster.logs())


@pytest.fixture
def make_kubernetes_server(tmp_path, environments, runtime, monkeypatch):
    """make_kubernetes_server(space, flags...): a server whose jobs run there. KUBECONFIG in its environment is all that it is told."""
    write_runtime(environments)
    runtime(RUNTIME)  # where it cannot be built, pods cannot build it, either
    servers = []

    def make(space, *flags, kubeconfig=None):
        for name, value in space.cluster.env(kubeconfig or space.account()).items():
            monkeypatch.setenv(name, value)
        servers.append(Server(tmp_path / f"data{len(servers)}", "--engine", "kubernetes", *flags, environments=environments))
        space.servers.append(servers[-1])
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def space(three_nodes, make_kubernetes_server):
    """A namespace of one test, on nodes that all tests share. Its servers leave nothing in it."""
    space = Namespace(three_nodes)
    yield space
    space.delete_other_pods()
    for server in space.servers:
        for job in server.request("GET", "/v1/projects/p/jobs").json().get("jobs", []):
            if "endTime" not in job:
                server.cancel(job["jobId"])
    space.wait_until_left()


def restarts(server, job_id):
    """Resources that the job has had after its first ones."""
    return [text for text in server.texts(job_id, "service") if "The job has resources again." in text]


def steps(server, job_id):
    """How often the program has begun, and the last step that it has printed."""
    texts = server.texts(job_id, "master-replica-0")
    printed = [int(found[1]) for text in texts if (found := re.search(r"\bstep=(\d+)", text))]
    return sum("resumed_from" in text for text in texts), max(printed, default=0)


def wait_for_step(server, job_id, step):
    wait_for(lambda: True if steps(server, job_id)[1] >= step else None, lambda: f"{server.texts(job_id)[-30:]}{server.stderr()[-3000:]}")
