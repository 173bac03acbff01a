"""Jobs on a real Slurm of several nodes: what they are given, and what they see."""

import json
import pathlib

import pytest

from slurm_world import agents, distributed, living, probe, wait_for_reason, wait_until_left
from trainyard_server import PROGRAM


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_distributed_job_over_four_nodes(slurm, make_slurm_server, upload, mode):
    server = make_slurm_server(slurm)
    distributed(server, upload, mode, f"--mode={mode}")
    job = server.wait(mode)
    assert job["state"] == "SUCCEEDED", (job, server.texts(mode)[-40:], server.stderr()[-3000:])
    model = json.loads((server.data / f"buckets/out/{mode}/model/model.json").read_text())
    assert model["updates"] == (60 if mode == "sync" else 180)
    tasks = {entry["resource"]["labels"]["task_name"] for entry in server.log_entries(mode)}
    assert tasks == {"service", "master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0"}
    assert any("on node1, node2, node3, node4." in text for text in server.texts(mode, "service"))
    wait_until_left(slurm)
    ours = [job for job in slurm.jobs() if job["name"].startswith("ty-")][-1]
    assert ours["state"] == "COMPLETED" and ours["comment"] == "trainyard:1"


def test_a_cancelled_job_leaves_slurm(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "long", "--sleep-per-step=1")
    server.wait_for_text("long", "Job is running.")
    server.cancel("long")
    assert server.wait("long")["state"] == "CANCELLED"
    wait_until_left(slurm)


def test_what_can_never_fit_waits_and_says_so(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm, "--slurm-sizes", "strict")
    probe(server, upload, "big", masterType="n1-highmem-96")
    wait_for_reason(server, "big", "the largest node of the default partition has 4 CPUs")
    assert server.get("big")["state"] == "QUEUED" and not living(slurm)
    server.wait_for_entry("big", lambda entry: entry["severity"] == "WARNING" and "the largest node" in entry["jsonPayload"]["message"])
    server.cancel("big")
    server.wait("big")


def test_nothing_of_the_servers_environment_goes_to_nodes(slurm, make_slurm_server, upload, monkeypatch):
    """And no login shell of the account runs there, whose profile may take any time: that would set LOGNAME."""
    monkeypatch.setenv("A_SECRET_OF_THE_SERVER", "7")
    server = make_slurm_server(slurm)
    probe(server, upload, "long", "--sleep-per-step=1")
    server.wait_for_text("long", "Job is running.")
    processes = [pid for _, _, pid in agents(slurm)]
    assert processes
    for pid in processes:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_text()
        assert "PATH=" in variables
        assert "A_SECRET_OF_THE_SERVER" not in variables and "LOGNAME" not in variables
    server.cancel("long")
    server.wait("long")
    wait_until_left(slurm)


def test_gpus_are_those_that_slurm_gives(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    gpus = {"type": "NVIDIA_TESLA_T4", "count": "2"}
    probe(server, upload, "gpus", "--steps=10", masterConfig={"acceleratorConfig": gpus})
    assert server.wait("gpus")["state"] == "SUCCEEDED"
    seen = json.loads((server.data / "buckets/out/gpus/environment.json").read_text())["env"]
    assert seen["CUDA_VISIBLE_DEVICES"] == "0,1" and not [name for name in seen if name.startswith("SLURM")]


def test_nodes_share_nothing_with_the_server(make_slurm, make_slurm_server, upload):
    """Neither its program nor its folders are there: a node fetches the one, and builds what the other has."""
    program = pathlib.Path(PROGRAM).resolve().parent
    slurm = make_slurm(2, isolate="pid", boot=f"mount -t tmpfs none /tmp; mount -t tmpfs none {program}")
    server = make_slurm_server(slurm, cache=None)
    distributed(server, upload, "job", "--steps=20", workerCount="1", parameterServerCount=None, parameterServerType=None)
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.texts("job")[-40:], server.stderr()[-3000:])
    for node in slurm.nodes:
        assert list((slurm.folder / "trainyard/nodes" / node / "environments/runtimes").iterdir())
    assert len(list((slurm.folder / "trainyard/programs").iterdir())) == 1


def test_nodes_without_a_way_out_fetch_by_way_of_the_server(make_slurm, make_slurm_server, upload):
    """One has no default route, the other one has a route behind which nobody answers, as behind a firewall that drops packets.

    Nothing is shared, and nothing is said to the server but where Slurm is.
    """
    slurm = make_slurm(2, boot="if [ $(hostname) = node2 ]; then ip route add default dev eth0; fi")
    server = make_slurm_server(slurm, cache=None)
    distributed(server, upload, "job", "--steps=20", workerCount="1", parameterServerCount=None, parameterServerType=None)
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.texts("job")[-40:], server.stderr()[-3000:])
    assert any("Installed" in text for text in server.texts("job", "worker-replica-0")), "it built its environment"
    why = [text for text in server.texts("job", "service") if "are built through the server's connection" in text]
    assert {node for text in why for node in slurm.nodes if f"{node} " in text.replace(",", " ")} == {"node1", "node2"}, why


def test_trials_run_beside_each_other(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    tuning = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "neg_mse", "maxTrials": 4, "maxParallelTrials": 4,
              "params": [{"parameterName": "learning-rate", "type": "DOUBLE", "minValue": 0.01, "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"}]}
    probe(server, upload, "tuned", "--steps=100", "--metric-tag=neg_mse", hyperparameters=tuning)
    job = server.wait("tuned")
    assert job["state"] == "SUCCEEDED", (job, server.stderr()[-3000:])
    assert len(job["trainingOutput"]["trials"]) == 4
    assert all("finalMetric" in trial for trial in job["trainingOutput"]["trials"])
