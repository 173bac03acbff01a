"""Gangs on a Kubernetes whose own scheduler places them, as PodGroups."""

import pytest

from kubernetes_world import GANG, PODGROUPS_ROLE, ROLE, Namespace, restarts
from slurm_world import distributed, wait_for_reason
from trainyard_server import PROGRAM, wait_for

pytestmark = pytest.mark.long  # this Kubernetes takes a quarter of an hour of CPU to build
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/{}/podgroups"
IN_TURN = "so gangs get nodes one after the other"


@pytest.fixture
def space(make_kubernetes, environments):
    of_pods = environments.with_name(environments.name + "-of-pods")
    return Namespace(make_kubernetes(3, cpus="4.2", program=PROGRAM, environments=of_pods, gangs=True))


def groups(space):
    """minCount of each PodGroup."""
    return [group["spec"]["schedulingPolicy"]["gang"]["minCount"] for group in space.api.must("GET", GROUPS.format(space.name))["items"]]


def test_its_scheduler_places_gangs(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space, kubeconfig=space.account(rules=[*ROLE, *PODGROUPS_ROLE]))
    assert "the cluster's scheduler places gangs, as PodGroups" in server.stderr()
    for name in ("one", "other"):
        distributed(server, upload, name, "--sleep-per-step=0.05", **GANG)
    wait_for(lambda: True if groups(space) == [3, 3] and len(space.pods()) == 6 else None, lambda: f"{groups(space)}, {list(space.pods())}")
    jobs = sorted((server.wait(name) for name in ("one", "other")), key=lambda job: job["startTime"])
    assert [job["state"] for job in jobs] == ["SUCCEEDED", "SUCCEEDED"], (jobs, server.stderr()[-3000:])
    assert jobs[0]["endTime"] <= jobs[1]["startTime"], "never side by side"
    assert not restarts(server, "one") and not restarts(server, "other")
    space.wait_until_left()
    wait_for(lambda: True if not groups(space) else None, lambda: f"{groups(space)} are left")


def test_half_a_gang_gets_no_node_and_says_why(space, make_kubernetes_server, upload):
    space.make_pod("other", cpus=2, node="node2")
    server = make_kubernetes_server(space, kubeconfig=space.account(rules=[*ROLE, *PODGROUPS_ROLE]))
    distributed(server, upload, "job", **GANG)
    wait_for_reason(server, "job", "too few free CPUs")
    assert not [pod for pod in space.pods().values() if pod["spec"].get("nodeName")]
    space.delete_other_pods()
    assert server.wait("job")["state"] == "SUCCEEDED", server.stderr()[-3000:]


def test_without_the_right_gangs_take_turns(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    assert IN_TURN in server.stderr() and "--resource=podgroups.scheduling.k8s.io" in server.stderr()
    distributed(server, upload, "job", **GANG)
    assert server.wait("job")["state"] == "SUCCEEDED", server.stderr()[-3000:]
    assert groups(space) == []
