"""The Kubernetes that other tests run on: it runs pods as a cluster does, loses what a test takes from it, and leaves nothing behind."""

import pathlib

import pytest

from kube_cluster import KubeCluster
from kubernetes_world import Namespace
from trainyard_server import processes_with, wait_for


def pod(name, script, **spec):
    """A pod of bash; Kubernetes replaces $(NAME) in the script."""
    return {"metadata": {"name": name}, "spec": {
        "restartPolicy": "Never", "volumes": [{"name": "own", "emptyDir": {}}], "containers": [{
            "name": "main", "image": "any", "command": ["bash", "-c", script], "volumeMounts": [{"name": "own", "mountPath": "/var/lib/own"}],
            "env": [{"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "secret", "key": "word"}}},
                    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}], **spec}}


def make_secret(space):
    space.api.must("POST", space.path + "/secrets", {"metadata": {"name": "secret"}, "stringData": {"word": "abc"}})


def status_of(space, name):
    answer = space.api.call("GET", f"{space.path}/pods/{name}")[1]
    return answer.get("status", {}) if answer.get("kind") == "Pod" else None


def wait_for_phase(space, name, phase):
    def reached():
        status = status_of(space, name)
        return status if status and status["phase"] == phase else None
    return wait_for(reached, lambda: f"{name} is not {phase}: {status_of(space, name)}{space.cluster.logs()}")


@pytest.fixture(scope="module")
def two_nodes():
    with KubeCluster(2) as cluster:
        yield cluster
        print(cluster.logs())


def test_runs_pods_as_processes_and_leaves_nothing_behind(make_kubernetes):
    with make_kubernetes(2, cpus="2") as cluster:
        space = Namespace(cluster)
        make_secret(space)
        checks = ["[ $(SECRET) = abc ]", "[[ $NODE == node? ]]", "[ $$$$ = 1 ]", "touch /var/lib/own/file /tmp/file", "[ $(id -u) = 1000 ]",
                  "! touch /file 2>/dev/null"]
        script = " && ".join(checks).replace("$(id", "$$(id") + " && exit 3"
        space.api.must("POST", space.path + "/pods", pod("three", script, securityContext={"runAsUser": 1000}))
        ended = wait_for_phase(space, "three", "Failed")["containerStatuses"][0]["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (3, "Error"), cluster.logs()
        space.api.must("POST", space.path + "/pods", pod("lives", f"tail -f {cluster.folder}/pki/ca.crt & tail -f {cluster.folder}/pki/ca.crt"))
        wait_for_phase(space, "lives", "Running")
        assert processes_with(f"tail -f {cluster.folder}")
    assert not cluster.folder.exists() and not processes_with(str(cluster.folder))
    assert str(cluster.folder) not in pathlib.Path("/proc/self/mounts").read_text()


def test_a_pod_that_is_deleted_gets_sigterm(two_nodes):
    space = Namespace(two_nodes)
    make_secret(space)
    space.api.must("POST", space.path + "/pods", pod("told", "trap 'exit 5' TERM; touch /var/lib/own/begun; while :; do sleep 0.05; done"))
    wait_for(lambda: True if list(two_nodes.folder.glob("pods/*/volumes/own/begun")) else None, two_nodes.logs)
    codes = []
    version = space.api.must("GET", space.path + "/pods")["metadata"]["resourceVersion"]
    space.api.must("DELETE", space.path + "/pods/told")
    for event in space.api.watch(space.path + "/pods?labelSelector=", version):
        for status in event["object"].get("status", {}).get("containerStatuses", []):
            codes.append(status["state"].get("terminated", {}).get("exitCode"))
        if event["type"] == "DELETED":
            break
    assert codes[-1] == 5


def test_a_node_loses_its_power_and_comes_back(two_nodes):
    space = Namespace(two_nodes)
    make_secret(space)
    there = {"kubernetes.io/hostname": "node2"}
    space.api.must("POST", space.path + "/pods", pod("lost", f"tail -f {two_nodes.folder}/pki/ca.crt", nodeSelector=there))
    wait_for_phase(space, "lost", "Running")
    two_nodes.kill_node("node2")
    assert not processes_with(f"tail -f {two_nodes.folder}")
    two_nodes.wait_for_nodes("Unknown", "node2")
    assert status_of(space, "lost")["phase"] == "Running", "nobody knows"
    two_nodes.start_node("node2")
    two_nodes.wait_for_nodes("True")
    ended = wait_for_phase(space, "lost", "Failed")["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (255, "Unknown")


def test_what_the_api_server_had_is_there_when_it_is_back(two_nodes):
    space = Namespace(two_nodes)
    make_secret(space)
    space.api.must("POST", space.path + "/pods", pod("job", "while ! [ -e /var/lib/own/go ]; do sleep 0.05; done"))
    wait_for_phase(space, "job", "Running")
    for part in ("apiserver", "etcd"):
        two_nodes.kill(part)
    for folder in two_nodes.folder.glob("pods/*/volumes/own"):
        (folder / "go").touch()
    for part in ("etcd", "apiserver"):
        two_nodes.start(part)
    wait_for_phase(space, "job", "Succeeded")
