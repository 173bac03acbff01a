"""Jobs on a real Kubernetes: what they are given, what they wait for, and what the cluster does to them."""

import json
import os
import pathlib
import re
import socket
import subprocess

import pytest

from kubernetes_world import GANG, ROLE, restarts, steps, wait_for_step
from slurm_world import distributed, probe, wait_for_reason, words
from trainyard_server import PROGRAM, wait_for


def succeeded(server, job_id):
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", (job, server.texts(job_id)[-40:], server.stderr()[-3000:])
    return job


def test_a_pod_fetches_the_agent_and_hands_over_its_log(space, make_kubernetes_server, upload, monkeypatch):
    monkeypatch.setattr(space.cluster.hollow, "image", {})
    server = make_kubernetes_server(space)
    words(server, upload, "job", "print", "begun", "environment", "log", "whole")
    succeeded(server, "job")
    texts = server.texts("job", "master-replica-0")
    assert "begun" in texts and "whole" in texts
    seen = json.loads(next(text for text in texts if text.startswith("ENVIRONMENT ")).removeprefix("ENVIRONMENT "))
    assert not [name for name in seen if name.startswith(("TRAINYARD_TICKET", "KUBE"))]
    assert any(f"of the namespace {space.name} on node" in text for text in server.texts("job", "service"))


def test_a_distributed_job_starts_as_a_whole(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    distributed(server, upload, "job", **GANG)
    succeeded(server, "job")
    model = json.loads((server.data / "buckets/out/job/model/model.json").read_text())
    assert model["updates"] == 60
    tasks = {entry["resource"]["labels"]["task_name"] for entry in server.log_entries("job")}
    assert tasks == {"service", "master-replica-0", "worker-replica-0", "worker-replica-1"}
    assert any("on node1, node2, node3." in text for text in server.texts("job", "service"))


def test_jobs_that_need_all_nodes_take_turns(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space, "--kubernetes-turn", "2")
    for name in ("one", "other"):
        distributed(server, upload, name, "--sleep-per-step=0.05", **GANG)
    first, second = sorted((succeeded(server, name) for name in ("one", "other")), key=lambda job: job["startTime"])
    assert first["endTime"] <= second["startTime"], "never side by side"
    assert not restarts(server, "one") and not restarts(server, "other")


def test_what_waits_says_what_for(space, make_kubernetes_server, upload):
    for node in space.cluster.nodes:
        space.make_pod(f"other-{node}", cpus=2, node=node)
    server = make_kubernetes_server(space)
    probe(server, upload, "waits", "--steps=10")
    wait_for_reason(server, "waits", "too few free CPUs")
    assert server.get("waits")["state"] == "QUEUED"
    space.delete_other_pods()
    succeeded(server, "waits")


def test_a_pod_that_is_deleted_cancels_the_job(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "long", "--sleep-per-step=0.1")
    wait_for_step(server, "long", 1)
    space.delete_pod(0)
    job = server.wait("long")
    assert job["state"] == "CANCELLED" and "was deleted in Kubernetes" in job["errorMessage"], (job, server.texts("long"))
    assert any("SIGTERM" in text for text in server.texts("long", "master-replica-0")), "the program was told, and its last lines came"


def test_a_pod_that_is_deleted_while_its_agent_starts_ends_by_itself(space, make_kubernetes_server, upload):
    """A kubelet sends SIGTERM once, and the first process of a container ignores it while it does not handle it."""
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--steps=10")
    agent = wait_for(lambda: next((process for pod in list(space.cluster.hollow.pods.values()) if pod.path.startswith(space.path)
                                   for process in pod.processes.values() if is_agent(process.main())), None), space.cluster.logs)
    [first] = space.pods().values()
    agent.terminate()
    space.api.must("DELETE", f"{space.path}/pods/{first['metadata']['name']}")
    agent.wait()
    assert not agent.was_killed, "it was told once, and did not hear it"
    job = server.wait("job")
    assert job["state"] in ("SUCCEEDED", "CANCELLED"), (job, server.texts("job")[-40:])


def test_a_pod_that_is_deleted_while_it_downloads_the_agent_ends(space, make_kubernetes_server, upload, tmp_path):
    """The script of its container, with a server that sends a part of the agent and then nothing."""
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--sleep-per-step=1")
    [pod] = wait_for(lambda: list(space.pods().values()) or None, space.cluster.logs)
    server.cancel("job")
    [container] = pod["spec"]["containers"]
    script = container["command"][-1].replace("$$", "$")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        script = re.sub("host='[^']*' port=[0-9]+", f"host=127.0.0.1 port={listener.getsockname()[1]}", script)
        script = re.sub("\ndir=.*\n", f"\ndir='{tmp_path}/node'\n", script, count=1)
        variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "TRAINYARD_NODE": "n"}
        shell = subprocess.Popen(["bash", "-c", script], env=variables)
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\na part")
            wait_for(lambda: [part for part in tmp_path.rglob("programs/trainyard-*") if part.stat().st_size] or None, lambda: "the download")
            shell.terminate()
            assert shell.wait(60) == 143
    assert server.wait("job")["state"] == "CANCELLED"


def is_agent(pid):
    try:
        return pid is not None and b"\0agent\0--server=" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


def test_a_job_that_is_cancelled_leaves_the_cluster(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "long", "--sleep-per-step=1")
    server.wait_for_text("long", "Job is running.")
    server.cancel("long")
    assert server.wait("long")["state"] == "CANCELLED"
    space.wait_until_left()


def test_what_is_evicted_starts_again(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=240", "--checkpoint-every=10")
    wait_for_step(server, "job", 20)
    space.evict(0)
    server.wait_for_text("job", "The job has resources again.")
    succeeded(server, "job")
    assert any("was evicted" in text for text in server.texts("job", "service"))
    resumed = [text for text in server.texts("job", "master-replica-0") if "resumed_from" in text]
    assert len(resumed) == 2 and "resumed_from=0" not in resumed[1], "it went on where it was"


def test_a_lost_node_gives_new_resources(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    distributed(server, upload, "job", "--sleep-per-step=0.1", "--steps=80", **{**GANG, "workerCount": "1"})
    server.wait_for_text("job", "Job is running.")
    lost = space.node_of(1)
    space.give_up_soon()
    space.cluster.kill_node(lost)
    try:
        server.wait_for_text("job", "The job has resources again.")
        assert lost not in {space.node_of(slot) for slot in (0, 1)}
        job = succeeded(server, "job")
    finally:
        space.cluster.start_node(lost)
    assert "The log of the job is not complete. The replica worker 0, attempt 1: its node or its agent is lost" in job["errorMessage"]
    space.cluster.wait_for_nodes("True")


def test_a_job_ends_while_the_api_server_is_away(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=60")
    wait_for_step(server, "job", 10)
    space.cluster.kill("apiserver")
    try:
        succeeded(server, "job")
        probe(server, upload, "next", "--steps=10")
        wait_for_reason(server, "next", "Kubernetes' API server does not answer")
    finally:
        space.cluster.start("apiserver")
    succeeded(server, "next")
    assert steps(server, "job")[0] == 1


def test_a_server_that_is_killed_takes_its_jobs_over(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--sleep-per-step=0.1", "--steps=300")
    wait_for_step(server, "job", 5)
    pods = sorted(space.pods())
    server.kill()
    server.start()
    wait_for_step(server, "job", steps(server, "job")[1] + 5)
    assert sorted(space.pods()) == pods
    succeeded(server, "job")
    assert steps(server, "job")[0] == 1 and not restarts(server, "job")


def test_a_quota_is_waited_for(space, make_kubernetes_server, upload):
    space.set_quota(**{"requests.cpu": "2"})
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--steps=10")
    wait_for_reason(server, "job", "quota does not leave enough: quota, requested: requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=2")
    assert server.get("job")["state"] == "QUEUED"
    space.set_quota(**{"requests.cpu": "8"})
    succeeded(server, "job")


def test_an_image_that_nobody_gets_fails_the_job(space, make_kubernetes_server, upload):
    image = "registry.invalid/none:1"
    space.cluster.refuse_image(image, message=f'Back-off pulling image "{image}": no such host')
    server = make_kubernetes_server(space, "--kubernetes-image", image, "--kubernetes-pull-max", "10")
    probe(server, upload, "job")
    wait_for_reason(server, "job", "no such host")
    job = server.wait("job")
    assert job["state"] == "FAILED" and "no such host" in job["errorMessage"], job


def test_gpus_are_those_that_kubernetes_gives(space, make_kubernetes_server, upload):
    server = make_kubernetes_server(space)
    probe(server, upload, "gpus", "--steps=10", masterConfig={"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}})
    succeeded(server, "gpus")
    seen = json.loads((server.data / "buckets/out/gpus/environment.json").read_text())["env"]
    assert seen["CUDA_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize("rules, missing", [([], "pods"), (ROLE[:1], "secrets")], ids=["none", "no-secrets"])
def test_an_account_without_rights_is_told_what_is_missing(space, tmp_path, rules, missing):
    environment = {**os.environ, **space.cluster.env(space.account(rules=rules))}
    done = subprocess.run([PROGRAM, "serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", "--engine", "kubernetes"],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode and "lacks rights in the namespace" in done.stderr and missing in done.stderr, done
    assert not space.left()
