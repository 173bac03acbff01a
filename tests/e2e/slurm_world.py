"""Servers whose jobs run on a real Slurm, and what tests ask of both. The fixtures are imported by the tests that use them."""

import re

import pytest

from slurm_cluster import SlurmCluster
from trainyard_server import RUNTIME, Server, processes_with, wait_for, write_runtime

HAND_OVER = {"KillWait": "30"}  # Slurm's default: the time for a last hand-over
# A node that has lost its power is down within seconds; Slurm's default is five minutes.
QUICK_LOSS = {**HAND_OVER, "SlurmdTimeout": "2", "TCPTimeout": "1", "MessageTimeout": "2"}
CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "1"}


@pytest.fixture(scope="module")
def four_nodes():
    """Four nodes with addresses of their own. Each takes one n1-standard-4."""
    with SlurmCluster(4, gpus=2, settings=HAND_OVER) as cluster:
        yield cluster
        print(cluster.logs())


@pytest.fixture
def slurm(four_nodes):
    """The same for all tests, and empty for each."""
    yield four_nodes
    four_nodes.run("scancel", "--user=root")
    wait_until_left(four_nodes)


@pytest.fixture
def node_cache(tmp_path, environments, runtime):
    """What nodes share: environments that other tests use, too, since these nodes reach no package index."""
    write_runtime(environments)
    runtime(RUNTIME)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "environments").symlink_to(environments)
    return cache


@pytest.fixture
def make_slurm_server(tmp_path, environments, node_cache, monkeypatch):
    """make_slurm_server(cluster, flags...): a server whose jobs run there. SLURM_CONF in its environment is all that it is told."""
    servers = []

    def make(cluster, *flags, engine="slurm", cache=node_cache):
        for name, value in cluster.env().items():
            monkeypatch.setenv(name, value)
        node_dir = cluster.folder / "trainyard"
        shared = ["--node-cache", cache] if cache else []
        servers.append(Server(tmp_path / f"data{len(servers)}", "--engine", engine, "--node-dir", node_dir, *shared, *flags,
                              environments=environments))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


def living(cluster):
    """Jobs of Slurm that have not ended."""
    over = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY"}
    return [job for job in cluster.jobs() if job["state"] not in over]


def wait_until_left(cluster):
    wait_for(lambda: True if not living(cluster) else None, lambda: f"they live: {cluster.jobs()}")


def agents(cluster):
    """[(slot, node, pid)] of those that live; each is two processes, of which the older one watches the other."""
    found = [(re.search(r"--slot=(\d+) --node=(\S+)", command), pid) for pid, command in processes_with(f"--dir={cluster.folder}/trainyard")]
    return sorted((int(place[1]), place[2], pid) for place, pid in found if place)


def wait_for_reason(server, job_id, text):
    """Until that is why the job does not run yet; its log says the same, with pauses."""
    def said():
        return server.trainyard("jobs", "describe", job_id, "--project=p").stderr
    wait_for(lambda: True if text in said() else None, said)


def distributed(server, upload, job_id, *args, **more):
    return server.submit(job_id, packageUris=[upload(server, "dist_sgd_stdlib")], pythonModule="trainer.task", args=list(args),
                         jobDir=f"gs://out/{job_id}", **{**CLUSTER, **more})


def probe(server, upload, job_id, *args, **more):
    return server.submit(job_id, packageUris=[upload(server, "linreg_stdlib")], pythonModule="trainer.task", args=list(args),
                         jobDir=f"gs://out/{job_id}", **{"scaleTier": "CUSTOM", "masterType": "n1-standard-4", **more})


def words(server, upload, job_id, *does, **more):
    """A job whose replicas do what tests/trainers/probe knows, one after the other."""
    return server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=list(does),
                         **{"scaleTier": "CUSTOM", "masterType": "n1-standard-4", **more})


def node_of(cluster, slot):
    """Where the agent of a slot is; equal replicas have slots in their order."""
    [name] = {node for number, node, _ in agents(cluster) if number == slot}
    return name
