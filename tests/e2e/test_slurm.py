"""Jobs on a real Slurm of several nodes: what they are given, what they see, and what ends them."""

import json

import pytest

from slurm_cluster import SlurmCluster
from trainyard_server import RUNTIME, Server, wait_for, write_runtime

CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "1"}


@pytest.fixture(scope="module")
def slurm():
    """Four nodes with addresses of their own. Each takes one n1-standard-4."""
    with SlurmCluster(4, gpus=2) as cluster:
        yield cluster
        print(cluster.logs())


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

    def make(cluster, *flags, data=None):
        for name, value in cluster.env().items():
            monkeypatch.setenv(name, value)
        node_dir = cluster.folder / "trainyard"
        servers.append(Server(data or tmp_path / f"data{len(servers)}", "--engine", "slurm", "--node-dir", node_dir, "--node-cache", node_cache,
                              *flags, environments=environments))
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


def distributed(server, upload, job_id, *args, **more):
    return server.submit(job_id, packageUris=[upload(server, "dist_sgd_stdlib")], pythonModule="trainer.task", args=list(args),
                         jobDir=f"gs://out/{job_id}", **{**CLUSTER, **more})


def probe(server, upload, job_id, *args, **more):
    return server.submit(job_id, packageUris=[upload(server, "linreg_stdlib")], pythonModule="trainer.task", args=list(args),
                         jobDir=f"gs://out/{job_id}", **{"scaleTier": "CUSTOM", "masterType": "n1-standard-4", **more})


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
