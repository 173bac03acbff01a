"""Jobs in a queue of a real Kueue, which admits all pods of a job or none."""

import datetime
import time

import pytest

from kube_api import MERGE
from kube_cluster import KubeCluster
from kubernetes_world import GANG, ROLE, restarts, wait_for_step
from kueue import IN_QUEUE, QUEUE, Kueue
from slurm_world import distributed, probe, wait_for_reason
from trainyard_server import PROGRAM, wait_for

pytestmark = pytest.mark.long  # Kueue takes some minutes of CPU to build
WORKLOADS_ROLE = [{"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["get", "delete"]}]
GANG_CPUS = 12
NOT_ADMITTED = "A queue of the cluster has not admitted it yet: couldn't assign flavors"  # the rest are Kueue's own words
VERDICT_MAX_S = 60  # kVerdictMax: without a queue, a gang gives its turn up after this time if the scheduler has said nothing about its pods
COLLECTOR_S = 20  # Kubernetes' pause between two searches for deleted pods that have no node
HIGH = "system-cluster-critical"  # a priority class that every cluster has
KEEPS = "tests.trainyard/keeps"  # a finalizer


@pytest.fixture(scope="module")
def three_nodes(environments):
    """They have room for two gangs, so if one waits, that is because of the queue."""
    of_pods = environments.with_name(environments.name + "-of-pods")
    with KubeCluster(3, cpus="8.4", memory="64Gi", program=PROGRAM, environments=of_pods) as cluster:
        yield cluster
        print(cluster.logs())


@pytest.fixture(scope="module")
def kueue(three_nodes):
    with Kueue(three_nodes) as kueue:
        yield kueue


@pytest.fixture
def make_queue_server(space, kueue, make_kubernetes_server):
    """make_queue_server(flags..., cpus=4): a server whose jobs wait in a queue, which admits so many CPUs at once."""
    def make(*flags, cpus):
        kueue.make_queue(space, cpus=cpus)
        return make_kubernetes_server(space, "--kubernetes-queue", QUEUE, *flags, kubeconfig=space.account(rules=[*ROLE, *WORKLOADS_ROLE]))

    return make


def succeeded(server, job_id):
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", (job, server.texts(job_id)[-40:], server.stderr()[-3000:])
    return job


def condition(thing, kind):
    """The condition of a Workload, or {}."""
    return next((one for one in thing.get("status", {}).get("conditions", []) if one["type"] == kind), {})


def is_admitted(workload):
    return condition(workload, "Admitted").get("status") == "True"


def wait_for_pending(space, kueue, count):
    """Until Kueue has found that so many Workloads do not fit; returns them."""
    def pending():
        found = [one for one in kueue.workloads(space).values() if condition(one, "QuotaReserved").get("reason") == "Pending"]
        return found if len(found) == count else None
    return wait_for(pending, lambda: f"{kueue.workloads(space)}{space.cluster.logs()}")


def gated(space):
    """UIDs of pods that the queue has not admitted, without those that are being deleted."""
    found = [pod for pod in space.pods().values() if "deletionTimestamp" not in pod["metadata"]]
    return {pod["metadata"]["uid"] for pod in found if pod["spec"].get("schedulingGates")}


def wait_until_nothing(space, kueue, deadline_s=60):
    def left():
        return [*space.left(), *kueue.workloads(space)]
    wait_for(lambda: True if not left() else None, lambda: f"there is {left()}{space.cluster.logs()}", deadline_s)


def seconds(text):
    """A time of Kubernetes, in whole seconds."""
    return datetime.datetime.fromisoformat(text).timestamp()


def test_a_gang_is_admitted_as_a_whole(space, kueue, make_queue_server, upload):
    server = make_queue_server(cpus=GANG_CPUS - 4)  # enough for two of the three
    distributed(server, upload, "job", **GANG)
    [workload] = wait_for_pending(space, kueue, 1)
    assert sum(pods["count"] for pods in workload["spec"]["podSets"]) == 3
    wait_for_reason(server, "job", NOT_ADMITTED)
    assert len(gated(space)) == len(space.pods()) == 3
    kueue.set_cpus(space, GANG_CPUS)
    succeeded(server, "job")
    wait_until_nothing(space, kueue)


def test_a_gang_keeps_its_place_in_the_queue(space, kueue, make_queue_server, upload):
    server = make_queue_server("--kubernetes-turn", "2", cpus=0)
    distributed(server, upload, "one", "--steps=21", "--sleep-per-step=3", **GANG)  # longer than VERDICT_MAX_S
    [first] = wait_for_pending(space, kueue, 1)
    # Kueue admits Workloads in the order of their times, which are whole seconds.
    wait_for(lambda: True if time.time() >= seconds(first["metadata"]["creationTimestamp"]) + 1 else None, lambda: "the next second")
    distributed(server, upload, "other", "--sleep-per-step=0.05", **GANG)
    [second] = [one for one in wait_for_pending(space, kueue, 2) if one["metadata"]["uid"] != first["metadata"]["uid"]]
    pods = gated(space)
    assert len(pods) == 6, "no gang waits for another one's turn"

    kueue.set_cpus(space, GANG_CPUS)
    server.wait_for_text("one", "Job is running.")
    wait_for_reason(server, "other", NOT_ADMITTED)
    job = succeeded(server, "one")

    def admitted():
        found = kueue.workloads(space).get(second["metadata"]["name"])
        return found if found and is_admitted(found) else None
    now = wait_for(admitted, lambda: f"{kueue.workloads(space)}{space.cluster.logs()}")
    assert now["metadata"]["uid"] == second["metadata"]["uid"], "it would be the last one in the queue"
    assert {pod["metadata"]["uid"] for pod in space.pods().values()} <= pods
    assert seconds(condition(now, "Admitted")["lastTransitionTime"]) > seconds(now["metadata"]["creationTimestamp"]) + VERDICT_MAX_S
    assert succeeded(server, "other")["startTime"] >= job["endTime"]
    assert not restarts(server, "one") and not restarts(server, "other")
    wait_until_nothing(space, kueue)


def wait_for_collector(space):
    """Until Kubernetes has searched for deleted pods that have no node: it has set a pod that a finalizer keeps to Failed."""
    path = f"{space.path}/pods/kept"
    space.api.must("POST", f"{space.path}/pods", {"metadata": {"name": "kept", "finalizers": [KEEPS]}, "spec": {
        "schedulingGates": [{"name": "tests.trainyard/gate"}], "containers": [{"name": "main", "image": "busybox"}]}})
    space.api.must("DELETE", path)
    wait_for(lambda: True if space.api.must("GET", path)["status"]["phase"] == "Failed" else None, lambda: f"{space.api.must('GET', path)}")
    space.api.must("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)


def test_a_gated_gang_that_is_cancelled_leaves_nothing(space, kueue, make_queue_server, upload):
    server = make_queue_server(cpus=0)
    distributed(server, upload, "job", **GANG)
    wait_for_pending(space, kueue, 1)
    wait_for_collector(space)
    server.cancel("job")
    wait_until_nothing(space, kueue, COLLECTOR_S * 3 / 4)  # before the next search, which ends such pods, too
    assert server.wait("job")["state"] == "CANCELLED"
    assert "Workloads of Kueue cannot be deleted" not in server.stderr()


def test_what_the_queue_preempts_starts_again(space, kueue, make_queue_server, upload):
    server = make_queue_server(cpus=4)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=120", "--checkpoint-every=10")
    wait_for_step(server, "job", 20)
    space.api.must("POST", f"{space.path}/pods", {"metadata": {"name": "other", "labels": IN_QUEUE}, "spec": {
        "priorityClassName": HIGH, "terminationGracePeriodSeconds": 0, "containers": [{
            "name": "main", "image": "busybox", "command": ["sleep", "infinity"], "resources": {"requests": {"cpu": "4", "memory": "1Gi"}}}]}})
    wait_for(lambda: space.api.must("GET", f"{space.path}/pods/other")["spec"].get("nodeName"), lambda: f"it has no node{space.cluster.logs()}")
    wait_for(lambda: gated(space) or None, lambda: f"{space.pods()}")
    space.delete_other_pods()
    server.wait_for_text("job", "The job has resources again.")
    succeeded(server, "job")
    assert any("stopped by a queue of the cluster: Preempted" in text for text in server.texts("job", "service"))
    resumed = [text for text in server.texts("job", "master-replica-0") if "resumed_from" in text]
    assert len(resumed) == 2 and "resumed_from=0" not in resumed[1], "it went on where it was"
    wait_until_nothing(space, kueue)
