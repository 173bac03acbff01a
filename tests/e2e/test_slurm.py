"""Jobs on a real Slurm of several nodes: what they are given, what they see, and what ends them."""

import json
import os
import pathlib
import re

import pytest

from slurm_cluster import SlurmCluster
from trainyard_server import PROGRAM, RUNTIME, Server, kill, processes_with, wait_for, write_runtime

CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "1"}


@pytest.fixture(scope="module")
def four_nodes():
    """Four nodes with addresses of their own. Each takes one n1-standard-4."""
    with SlurmCluster(4, gpus=2, settings={"KillWait": "30"}) as cluster:  # Slurm's default: the time for a last hand-over
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


def test_scancel_cancels_the_job(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "long", "--sleep-per-step=1")
    wait_for(lambda: True if any("resumed_from" in text for text in server.texts("long")) else None, lambda: f"{server.texts('long')}")
    [ours] = living(slurm)
    slurm.run("scancel", ours["id"])
    job = server.wait("long")
    assert job["state"] == "CANCELLED" and job["errorMessage"].startswith(f"The job {ours['id']} of Slurm was cancelled in Slurm.")
    assert any("SIGTERM" in text for text in server.texts("long", "master-replica-0")), "the program was told, and its last lines came"


def test_what_waits_says_what_for(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    slurm.set_partition("DOWN")
    try:
        probe(server, upload, "waits", "--steps=10")
        wait_for_reason(server, "waits", "The cluster's administrator has closed the default partition.")
        assert server.get("waits")["state"] == "QUEUED"
    finally:
        slurm.set_partition("UP")
    assert server.wait("waits")["state"] == "SUCCEEDED"


def test_what_can_never_fit_waits_and_says_so(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm, "--slurm-sizes", "strict")
    probe(server, upload, "big", masterType="n1-highmem-96")
    wait_for_reason(server, "big", "the largest node of the default partition has 4 CPUs")
    assert server.get("big")["state"] == "QUEUED" and not living(slurm)
    server.cancel("big")
    server.wait("big")


def test_gpus_are_those_that_slurm_gives(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    gpus = {"type": "NVIDIA_TESLA_T4", "count": "2"}
    probe(server, upload, "gpus", "--steps=10", masterConfig={"acceleratorConfig": gpus})
    assert server.wait("gpus")["state"] == "SUCCEEDED"
    seen = json.loads((server.data / "buckets/out/gpus/environment.json").read_text())["env"]
    assert seen["CUDA_VISIBLE_DEVICES"] == "0,1" and not [name for name in seen if name.startswith("SLURM")]


@pytest.mark.parametrize("lost", ["worker", pytest.param("master", marks=pytest.mark.long)])
def test_a_lost_node_gives_a_new_gang(make_slurm, make_slurm_server, upload, lost):
    slurm = make_slurm(4)
    server = make_slurm_server(slurm)
    distributed(server, upload, "job", "--sleep-per-step=0.5", "--steps=40", workerCount="1", parameterServerCount=None, parameterServerType=None)
    server.wait_for_text("job", "Job is running.")
    slot = {"master": 0, "worker": 1}[lost]  # equal replicas have slots in their order
    [name] = {node for number, node, _ in agents(slurm) if number == slot}
    slurm.kill_node(name)
    server.wait_for_text("job", "There is room for the job again.")
    assert name not in {node for _, node, _ in agents(slurm)}
    wait_for(lambda: True if server.texts("job").count("Job is running.") == 1 and len(agents(slurm)) == 4 else None, lambda: f"{agents(slurm)}")
    server.cancel("job")
    server.wait("job")


def test_a_killed_agent_is_back_and_its_replica_never_noticed(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=200")
    server.wait_for_text("job", "Job is running.")
    watcher, worker = (pid for _, _, pid in agents(slurm))
    kill(worker)
    assert server.wait("job")["state"] == "SUCCEEDED"
    assert not [text for text in server.texts("job", "service") if "restart" in text]


def test_jobs_live_on_without_the_server(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=100", "--log-every=10", "--checkpoint-every=1000")
    server.wait_for_text("job", "Job is running.")
    server.kill()
    server.start()
    assert server.wait("job")["state"] == "SUCCEEDED"
    steps = [text.split()[0] for text in server.texts("job", "master-replica-0") if text.startswith("step=")]
    assert steps == [f"step={number}" for number in range(10, 101, 10)], "no line is lost, none is there twice"
    wait_until_left(slurm)


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


def test_a_region_may_be_here_or_there(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm, "--region", "us-central1=slurm:main", engine="local")
    probe(server, upload, "there", "--steps=10")
    probe(server, upload, "here", "--steps=10", region="europe-west1")
    assert server.wait("there")["state"] == server.wait("here")["state"] == "SUCCEEDED"
    assert [job["name"][-4:] for job in slurm.jobs() if job["name"].startswith("ty-")][-1] == "-1-1"
    assert any(" on node" in text for text in server.texts("there", "service"))
    assert not any(" on node" in text for text in server.texts("here", "service"))


def test_trials_run_beside_each_other(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    tuning = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "neg_mse", "maxTrials": 4, "maxParallelTrials": 4,
              "params": [{"parameterName": "learning-rate", "type": "DOUBLE", "minValue": 0.01, "maxValue": 0.1, "scaleType": "UNIT_LOG_SCALE"}]}
    probe(server, upload, "tuned", "--steps=100", "--metric-tag=neg_mse", hyperparameters=tuning)
    job = server.wait("tuned")
    assert job["state"] == "SUCCEEDED", (job, server.stderr()[-3000:])
    assert len(job["trainingOutput"]["trials"]) == 4
    assert all("finalMetric" in trial for trial in job["trainingOutput"]["trials"])


def test_a_controller_that_is_killed_loses_no_job_and_starts_none_twice(make_slurm, make_slurm_server, upload):
    """It forgets jobs of its last seconds, gives their ids to others, and starts some of them again."""
    rounds, at_once = (100, 3) if os.environ.get("TRAINYARD_LONG") else (4, 3)
    slurm = make_slurm(4)
    server = make_slurm_server(slurm)
    names = []
    for number in range(rounds):
        for turn in range(at_once):
            names.append(f"job_{number}_{turn}")
            probe(server, upload, names[-1], "--steps=2")
        known = len(slurm.jobs())
        wait_for(lambda: True if number % 2 or len(slurm.jobs()) > known else None, lambda: f"{slurm.jobs()}")
        slurm.kill_controller()
        slurm.start_controller()
    for name in names:
        job = server.wait(name)
        assert job["state"] == "SUCCEEDED", (job, server.texts(name), server.stderr()[-3000:])
        begun = [text for text in server.texts(name, "master-replica-0") if "resumed_from" in text]
        assert len(begun) == 1, (name, begun)
    wait_until_left(slurm)
