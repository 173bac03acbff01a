"""The agents' port: a ticket that was read in another job's script opens nothing elsewhere, and connections that say nothing keep nobody out."""

import contextlib
import re
import resource
import socket

import pytest
import requests

from slurm_world import node_cache  # noqa: F401
from told_slurm import ToldSlurm
from trainyard_server import wait_for

IDLE = 1300


@pytest.fixture
def cluster(tmp_path):
    made = ToldSlurm(tmp_path, node1="127.0.0.1", node2="127.0.0.1", far="192.0.2.1")
    yield made
    made.stop()


@pytest.fixture
def server(make_server, cluster, node_cache, upload):  # noqa: F811
    """With a job that waits for its nodes."""
    server = make_server(*cluster.flags(), "--node-cache", str(node_cache))
    server.submit("job", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "ran"], scaleTier="CUSTOM",
                  masterType="n1-standard-4")
    return server


def said_by(folder):
    return (folder / "said").read_text()


def is_over(server):
    """The job ran, wherever."""
    return server.get("job")["state"] in ("SUCCEEDED", "FAILED", "CANCELLED")


def runs_where_it_belongs(server, cluster, tmp_path):
    """The job's own agent comes, and the job is done."""
    cluster.says(("RUNNING", "node1"))
    cluster.start_agent("node1", tmp_path / "own")
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.stderr()[-3000:], said_by(tmp_path / "own"))
    assert "ran" in server.texts("job")
    assert any(re.search(r"Slurm runs it as \S+ on node1\.", text) for text in server.texts("job"))


def test_a_ticket_opens_nothing_before_the_job_runs_nor_on_another_node(server, cluster, tmp_path):
    cluster.script()
    cluster.says(("PENDING", ""))
    early = cluster.start_agent("node1", tmp_path / "early")
    before = cluster.asked()
    wait_for(lambda: cluster.asked() > before + 2 or None, lambda: f"{cluster.asked()} {server.stderr()[-2000:]} {said_by(tmp_path / 'early')}")
    early.terminate()
    early.wait(60)
    cluster.says(("RUNNING", "node1"))
    thief = cluster.start_agent("node2", tmp_path / "thief")
    wait_for(lambda: thief.poll() is not None or is_over(server) or None, lambda: said_by(tmp_path / "thief"))
    assert "Slurm has allocated other nodes to the job than node2." in said_by(tmp_path / "thief")
    runs_where_it_belongs(server, cluster, tmp_path)


def test_a_ticket_opens_nothing_from_another_address_than_the_nodes(server, cluster, tmp_path):
    cluster.script()
    cluster.says(("RUNNING", "far"))
    cluster.start_agent("far", tmp_path / "thief")
    why = "An agent on far came from 127.0.0.1, and Slurm's NodeAddr of it is 192.0.2.1."
    wait_for(lambda: why in server.stderr() or is_over(server) or None, lambda: server.stderr()[-2000:])
    described = server.trainyard("jobs", "describe", "job", "--project=p")
    assert server.get("job")["state"] == "QUEUED" and why in described.stdout + described.stderr


def test_a_job_of_the_same_name_is_not_the_job(server, cluster, tmp_path):
    """Whoever has the account can give its own job the name and the comment."""
    cluster.script()
    cluster.says(("PENDING", ""), ("RUNNING", "node2", 41))
    wait_for(lambda: (cluster.folder / "cancelled").exists() or None, lambda: server.stderr()[-2000:])
    assert "41" in (cluster.folder / "cancelled").read_text().split()
    runs_where_it_belongs(server, cluster, tmp_path)


def test_agents_that_say_nothing_keep_nobody_out(make_server, cluster):
    """More connections than the server may have descriptors."""
    server = make_server(*cluster.flags(), preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
    port = int(re.search(r"agents connect to 127\.0\.0\.1:(\d+)", server.stderr())[1])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * IDLE:
        pytest.skip(f"this machine allows {hard} descriptors to a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as idle:
        idle.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(IDLE):
            idle.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        for _ in range(20):  # a new connection each
            assert requests.get(server.url + "/healthz", timeout=20).ok
        assert requests.get(server.url + "/v1/projects/p/jobs", timeout=20).ok
        assert "Too many open files" not in server.stderr()
