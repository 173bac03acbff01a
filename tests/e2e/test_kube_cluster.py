"""The Kubernetes that other tests run on: it runs pods as a cluster does, loses what a test takes from it, and leaves nothing behind."""

import pathlib

import pytest

from kube_cluster import KubeCluster
from kubernetes_world import Namespace
from trainyard_server import processes_with, wait_for

WAITS = "until [ -e /var/lib/own/go ]; do sleep 0.05; done"


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


def several(name, init, **scripts):
    """A pod whose containers share a volume: init containers with these scripts, then one container for each other script."""
    def container(own, script):
        return {"name": own, "image": f"of-{own}", "command": ["bash", "-c", script], "volumeMounts": [{"name": "own", "mountPath": "/var/lib/own"}]}
    spec = {"initContainers": [container(f"init{number}", script) for number, script in enumerate(init)],
            "containers": [container(own, script) for own, script in scripts.items()]}
    return {"metadata": {"name": name}, "spec": {"restartPolicy": "Never", "volumes": [{"name": "own", "emptyDir": {}}],
                                                 "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000}, **spec}}


def ends(status, kind="containerStatuses"):
    """{container: (exit status, reason), or the reason why it waits}"""
    states = {one["name"]: one["state"] for one in status[kind]}
    return {name: (state["terminated"]["exitCode"], state["terminated"]["reason"]) if "terminated" in state else state["waiting"]["reason"]
            for name, state in states.items()}


def test_containers_of_a_pod_share_volumes_and_nothing_else(two_nodes):
    space = Namespace(two_nodes)
    one = "touch /tmp/one; mkfifo /var/lib/own/told; echo x > /var/lib/own/told"
    other = "until [ -p /var/lib/own/told ]; do sleep 0.05; done; read -r x < /var/lib/own/told; ! [ -e /tmp/one ] && [ $$$$ = 1 ] && id -u && exit 4"
    body = several("both", ["echo 1 >> /var/lib/own/log", "echo 2 >> /var/lib/own/log; id -u >> /var/lib/own/log"], one=one, other=other)
    body["spec"]["initContainers"][1]["securityContext"] = {"runAsUser": 0}
    space.api.must("POST", space.path + "/pods", body)
    status = wait_for_phase(space, "both", "Failed")
    assert ends(status) == {"one": (0, "Completed"), "other": (4, "Error")}, two_nodes.logs()
    assert ends(status, "initContainerStatuses") == {"init0": (0, "Completed"), "init1": (0, "Completed")}
    [log] = two_nodes.folder.glob("pods/*/volumes/own/log")
    assert log.read_text() == "1\n2\n0\n"


def test_a_pod_whose_init_container_fails_runs_nothing_else(two_nodes):
    space = Namespace(two_nodes)
    space.api.must("POST", space.path + "/pods", several("failed", ["exit 7"], one="true"))
    status = wait_for_phase(space, "failed", "Failed")
    assert ends(status, "initContainerStatuses") == {"init0": (7, "Error")} and ends(status) == {"one": "PodInitializing"}


def test_one_container_is_killed_and_another_never_begins(two_nodes):
    space = Namespace(two_nodes)
    two_nodes.refuse_image("of-refused", "ErrImagePull")
    space.api.must("POST", space.path + "/pods", several("half", [], refused="true", lives=f"tail -f {two_nodes.folder}/log/etcd"))
    space.api.must("POST", space.path + "/pods", several("whole", [], dies="sleep infinity", lives=WAITS))
    wait_for_phase(space, "whole", "Running")
    two_nodes.kill_container(space.api.must("GET", space.path + "/pods/whole"), "dies", "OOMKilled")
    wait_for(lambda: True if "terminated" in status_of(space, "whole")["containerStatuses"][0]["state"] else None, two_nodes.logs)
    assert status_of(space, "whole")["phase"] == "Running", "the other one lives"
    for folder in two_nodes.folder.glob("pods/*/volumes/own"):
        (folder / "go").touch()
    assert ends(wait_for_phase(space, "whole", "Failed")) == {"dies": (137, "OOMKilled"), "lives": (0, "Completed")}
    wait_for(lambda: True if "running" in status_of(space, "half")["containerStatuses"][1]["state"] else None, two_nodes.logs)
    half = status_of(space, "half")
    assert half["phase"] == "Pending" and half["containerStatuses"][0]["state"]["waiting"]["reason"] == "ErrImagePull"
    space.api.must("DELETE", space.path + "/pods/half?gracePeriodSeconds=1")
    wait_for(lambda: True if status_of(space, "half") is None else None, two_nodes.logs)
    assert not processes_with(f"tail -f {two_nodes.folder}")


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
    space.api.must("POST", space.path + "/pods", pod("job", WAITS))
    wait_for_phase(space, "job", "Running")
    for part in ("apiserver", "etcd"):
        two_nodes.kill(part)
    for folder in two_nodes.folder.glob("pods/*/volumes/own"):
        (folder / "go").touch()
    for part in ("etcd", "apiserver"):
        two_nodes.start(part)
    wait_for_phase(space, "job", "Succeeded")
