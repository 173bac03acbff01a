"""Jobs on a real Slurm that is asked by slurmrestd alone: there are no tools, and no SLURM_CONF."""

import pathlib
import re
import subprocess

import pytest

from slurm_world import distributed, living, probe, wait_for_reason, wait_until_left
from trainyard_server import PROGRAM, Server, processes_with, wait_for

TOOLS = ("sbatch", "squeue", "scancel", "sinfo")
NO_SERVERS = {"parameterServerType": None, "parameterServerCount": None}
HALF_A_NODE = "n1-standard-8"  # as the server maps it


@pytest.fixture(scope="module")
def rest(four_nodes):
    return four_nodes.start_rest()


@pytest.fixture
def server(rest, slurm, tmp_path, environments, node_cache, monkeypatch):
    """Its PATH has all programs of this machine but Slurm's tools."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for program in pathlib.Path("/usr/bin").iterdir():
        if program.name not in TOOLS:
            (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("SLURM_CONF", raising=False)
    running = Server(tmp_path / "data", "--engine", "slurm", "--slurm-rest", f"unix:{rest}", "--agent-listen", slurm.server_address,
                     "--node-dir", slurm.folder / "trainyard", "--node-cache", node_cache, "--slurm-machine", f"{HALF_A_NODE}=cpus:2,memory:1000M",
                     environments=environments)
    yield running
    running.stop()


def gpus(count):
    return {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": str(count)}}


def devices_by_slot(cluster):
    """What the agents that live were told of their GPUs."""
    commands = [command for _, command in processes_with(f"--dir={cluster.folder}/trainyard")]
    found = [re.search(r"--slot=(\d+) .*--gpus=(\S*)", command) for command in commands]
    return {int(slot[1]): slot[2] for slot in found if slot}


def test_a_distributed_job_over_four_nodes(slurm, server, upload):
    distributed(server, upload, "sync", "--mode=sync")
    job = server.wait("sync")
    assert job["state"] == "SUCCEEDED", (job, server.texts("sync")[-40:], server.stderr()[-3000:])
    assert any("on node1, node2, node3, node4." in text for text in server.texts("sync", "service"))
    wait_until_left(slurm)
    ours = [job for job in slurm.jobs() if job["name"].startswith("ty-")][-1]
    assert ours["state"] == "COMPLETED" and ours["comment"] == "trainyard:1"


def test_a_job_of_several_components(slurm, server, upload):
    """The step is told what each component has: one task with two GPUs, and two tasks on one node."""
    distributed(server, upload, "job", "--steps=20", "--sleep-per-step=0.2", workerType=HALF_A_NODE, masterConfig=gpus(2), **NO_SERVERS)
    wait_for(lambda: True if devices_by_slot(slurm) == {0: "0,1", 1: "", 2: ""} else None, lambda: f"{devices_by_slot(slurm)} {slurm.jobs()}")
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.texts("job")[-40:], server.stderr()[-3000:])


def test_a_cancelled_job_leaves_slurm(slurm, server, upload):
    probe(server, upload, "long", "--sleep-per-step=1")
    server.wait_for_text("long", "Job is running.")
    server.cancel("long")
    assert server.wait("long")["state"] == "CANCELLED"
    wait_until_left(slurm)


def test_scancel_cancels_the_job(slurm, server, upload):
    probe(server, upload, "long", "--sleep-per-step=1")
    server.wait_for_text("long", "Job is running.")
    [ours] = living(slurm)
    slurm.run("scancel", ours["id"])
    job = server.wait("long")
    assert job["state"] == "CANCELLED" and job["errorMessage"].startswith(f"The job {ours['id']} of Slurm was cancelled in Slurm.")


def test_what_waits_says_what_for(slurm, server, upload):
    slurm.set_partition("DOWN")
    try:
        probe(server, upload, "waits", "--steps=10")
        wait_for_reason(server, "waits", "The cluster's administrator has closed the default partition.")
        slurm.set_partition("INACTIVE")
        probe(server, upload, "refused", "--steps=10")
        wait_for_reason(server, "refused", "Required partition not available (inactive or drain)")
    finally:
        slurm.set_partition("UP")
    assert server.wait("waits")["state"] == "SUCCEEDED"
    assert server.wait("refused")["state"] == "SUCCEEDED"


def test_replicas_of_one_node_have_gpus_of_their_own(slurm, server, upload):
    distributed(server, upload, "job", "--steps=20", "--sleep-per-step=0.2", masterType=HALF_A_NODE, workerType=HALF_A_NODE,
                masterConfig=gpus(1), workerConfig=gpus(1), workerCount="1", **NO_SERVERS)
    wait_for(lambda: True if devices_by_slot(slurm) == {0: "0", 1: "1"} else None, lambda: f"{devices_by_slot(slurm)} {slurm.jobs()}")
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.texts("job")[-40:], server.stderr()[-3000:])


@pytest.mark.parametrize(("flags", "said"), [
    (["--slurm-rest", "unix:/s", "--slurm-option", "--exclusive"],
     "--slurm-rest: cannot be combined with --slurm-option: slurmrestd does not support options of sbatch"),
    (["--slurm-rest", "unix:/s", "--slurm-machine", "n1-standard-4=option:--exclusive"],
     "--slurm-rest: cannot be combined with --slurm-option: slurmrestd does not support options of sbatch"),
    (["--slurm-rest", "unix:/s", "--slurm-tools", "/usr/bin"], "--slurm-rest: cannot be combined with --slurm-tools"),
    (["--slurm-rest", "slurm.lab:6820"], "--slurm-rest: "),
    (["--slurm-rest-token-file", "/token"], "--slurm-rest-token-file: needs --slurm-rest"),
    (["--slurm-rest", "unix:/s", "--slurm-rest-token-file", "token"], "--slurm-rest-token-file: 'token' is not an absolute path")])
def test_what_slurmrestd_cannot_do_is_refused_at_the_start(tmp_path, flags, said):
    done = subprocess.run([PROGRAM, "serve", "--data", tmp_path / "data", "--engine", "slurm", *flags], capture_output=True, text=True)
    assert done.returncode != 0 and said in done.stderr, done
