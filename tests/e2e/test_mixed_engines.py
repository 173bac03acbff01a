"""One server with room on its machine and in two partitions of a real Slurm: the region of a job says where it runs."""

import os
import re
import subprocess

import pytest

from process_output import DEADLINE_S
from slurm_cluster import SlurmCluster
from slurm_world import living, probe, wait_for_reason, wait_until_left
from trainyard_server import PROGRAM, wait_for

REGIONS = ("--regions", "us-central1=gpu", "--regions", "us-east1=slurm:cpu", "--regions", "europe-west1=local", "--accelerators", "none")
ONE_GPU = {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "1"}}


@pytest.fixture(scope="module")
def two_partitions():
    """The default one has two nodes with a GPU each, the other one has one without."""
    with SlurmCluster(3, gpus=1, gpu_nodes=["node1", "node2"], partitions={"gpu": "Nodes=node1,node2", "cpu": "Nodes=node3"}) as cluster:
        yield cluster
        print(cluster.logs())


@pytest.fixture
def slurm(two_partitions):
    yield two_partitions
    two_partitions.run("scancel", "--user=root")
    wait_until_left(two_partitions)


def place(server, slurm, job_id):
    """(partition, nodes) that the job ran on, by its log and Slurm's list; None: on this machine."""
    said = [re.search(r"Slurm runs it as (\S+) on (.*)\.", text) for text in server.texts(job_id, "service")]
    found = [match for match in said if match]
    if not found:
        return None
    [partition] = {job["partition"] for job in slurm.jobs() if job["name"] == found[-1][1]}
    return partition, found[-1][2]


def begin(server, upload, job_id, **more):
    """A job that goes on until it is cancelled."""
    probe(server, upload, job_id, "--sleep-per-step=1", "--steps=100000", **more)
    server.wait_for_text(job_id, "Job is running.")


def finish(server, job_id):
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", (job, server.texts(job_id)[-40:], server.stderr()[-3000:])


def test_the_region_says_where_a_job_runs(slurm, make_slurm_server, upload):  # noqa: F811
    server = make_slurm_server(slurm, *REGIONS, engine="local")
    probe(server, upload, "in_a_partition", "--steps=10")
    probe(server, upload, "in_the_other", "--steps=10", region="us-east1")
    probe(server, upload, "named_here", "--steps=10", region="europe-west1")
    probe(server, upload, "not_named", "--steps=10", region="asia-east1")
    probe(server, upload, "not_named_with_a_gpu", "--steps=10", region="asia-east1", masterConfig=ONE_GPU)
    for job_id in ("in_a_partition", "in_the_other", "named_here", "not_named", "not_named_with_a_gpu"):
        finish(server, job_id)
    assert place(server, slurm, "in_a_partition")[0] == "gpu"
    assert place(server, slurm, "in_the_other") == ("cpu", "node3")
    assert place(server, slurm, "named_here") is None and place(server, slurm, "not_named") is None
    assert place(server, slurm, "not_named_with_a_gpu")[0] == "gpu", "this machine has none, the cluster has"


def test_a_quota_holds_on_its_engine_alone(slurm, make_slurm_server, upload):  # noqa: F811
    server = make_slurm_server(slurm, *REGIONS, "--quota", "project:*:jobs@slurm=1", "--quota", "project:*:gpus=1", engine="local")
    used_up = "Waiting for 1 job: 1 of the 1 that the quota project:*:jobs@slurm=1 allows project p are in use by first."
    begin(server, upload, "first", masterConfig=ONE_GPU)
    probe(server, upload, "second", "--steps=10", region="us-east1")
    probe(server, upload, "here", "--steps=10", region="europe-west1")
    wait_for_reason(server, "second", used_up)
    finish(server, "here")
    assert len(living(slurm)) == 1, "what waits for its quota is not in Slurm, although there is a node for it"

    server.kill()
    server.start()
    wait_for_reason(server, "second", used_up)
    assert len(living(slurm)) == 1

    server.cancel("first")
    assert server.wait("first")["state"] == "CANCELLED"
    finish(server, "second")
    assert place(server, slurm, "second") == ("cpu", "node3")

    two = {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}}
    refused = server.create("larger", scaleTier="CUSTOM", masterType="n1-standard-4", masterConfig=two, pythonModule="trainer.task",
                            packageUris=[upload(server, "linreg_stdlib")])
    assert refused.status_code == 429 and "project:*:gpus=1" in refused.json()["error"]["message"]


def test_who_uses_what_of_both(slurm, make_slurm_server, upload):  # noqa: F811
    server = make_slurm_server(slurm, *REGIONS, "--quota", "project:*:gpus=1", "--quota", "project:*:gpus@slurm=8", engine="local")
    begin(server, upload, "there", masterConfig=ONE_GPU)
    begin(server, upload, "here", region="europe-west1")
    report = server.request("GET", "/trainyard/v1/usage").json()
    jobs = {job["jobId"]: job for job in report["jobs"]}
    [node] = jobs["there"]["nodes"]
    assert node in ("node1", "node2") and "machineShare" not in jobs["there"]
    assert jobs["there"]["devices"] == [{"type": "nvidia-tesla-t4", "index": "0", "project": "p", "jobId": "there", "node": node}]
    assert "nodes" not in jobs["here"] and jobs["here"]["machineShare"] > 0
    assert report["machine"]["cpusHeld"] == jobs["here"]["cpus"]
    [project] = report["projects"]
    assert project["running"] == 2 and project["quotas"] == [
        {"subject": "project:*", "resource": "gpus", "limit": "1"}, {"subject": "project:*", "resource": "gpus", "limit": "8", "engine": "slurm"}]
    shown = server.trainyard("top", "--once").stdout
    assert f"nvidia-tesla-t4 {node}:0" in shown and f"on {node}" in shown and "gpus=1 gpus@slurm=8" in shown, shown
    for job_id in ("there", "here"):
        server.cancel(job_id)
        server.wait(job_id)


def test_a_location_has_the_accelerators_of_its_engine(slurm, make_slurm_server):  # noqa: F811
    server = make_slurm_server(slurm, *REGIONS, engine="local")

    def accelerators(region):
        location = server.request("GET", f"/v1/projects/p/locations/{region}").json()
        [capability] = location["capabilities"]
        return set(capability.get("availableAccelerators", []))

    listed = server.request("GET", "/v1/projects/p/locations", params={"pageSize": 100}).json()["locations"]
    by_region = {location["name"].rpartition("/")[2]: set(location["capabilities"][0].get("availableAccelerators", [])) for location in listed}
    assert by_region["us-central1"] == accelerators("us-central1") and "NVIDIA_TESLA_T4" in by_region["us-central1"]
    assert not {name for name in by_region["us-central1"] if name.startswith("TPU")}, "a partition has none"
    assert by_region["us-east1"] == accelerators("us-east1") == set(), "the nodes of the partition have no GPU"
    assert by_region["europe-west1"] == set(), "this machine has none"
    assert "NVIDIA_TESLA_T4" in by_region["asia-east1"], "its jobs with GPUs go to the cluster"

    slurm.run("scontrol", "update", "NodeName=node1,node2", "State=DRAIN", "Reason=test")
    try:
        server.stop()
        server.start()
        wait_for(lambda: True if accelerators("us-central1") == set() else None, lambda: f"{accelerators('us-central1')}")
    finally:
        slurm.run("scontrol", "update", "NodeName=node1,node2", "State=RESUME")


def test_a_partition_that_is_not_there_is_named_at_the_start(slurm, tmp_path):
    words = [PROGRAM, "serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", "--regions", "us-central1=gpus"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **slurm.env()}, timeout=DEADLINE_S)
    assert done.returncode != 0 and "Slurm has no partition 'gpus'; it has cpu, gpu" in done.stderr, done
