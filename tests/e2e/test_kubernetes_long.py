"""Kubernetes for long and under load: an API server that is killed among many requests, two servers that compete for all nodes, minutes without
one of the servers. `./dev test --long` runs them; the variables below say how much of it."""

import collections
import concurrent.futures
import itertools
import os
import pathlib
import random
import signal
import time

import pytest

from kubernetes_world import GANG, Namespace, restarts, wait_for_step
from pod_history import PodHistory, slot_of
from slurm_world import distributed, probe
from trainyard_server import PROGRAM, wait_for

pytestmark = pytest.mark.long

PODS = int(os.environ.get("TRAINYARD_TEST_PODS", "300"))
ROUNDS = int(os.environ.get("TRAINYARD_TEST_ROUNDS", "20"))
AWAY_S = int(os.environ.get("TRAINYARD_TEST_AWAY_S", "60"))
SEED = int(os.environ.get("TRAINYARD_TEST_SEED", "0"))

KILLS = 4
STARTS_MAX = 4
PODS_OF_NODE = 100  # a node takes 110
NODES = 4  # that two servers compete for
# Its pods get nodes and never start: pods without processes.
REFUSED = "registry.invalid/none:1"
UNSTARTED = ("--kubernetes-image", REFUSED, "--kubernetes-pull-max", "86400")


@pytest.fixture
def make_space(make_kubernetes, environments):
    """make_space(nodes, ...): a namespace in a cluster of its own, where pods of the image REFUSED wait for it without end."""
    def make(nodes, **options):
        cluster = make_kubernetes(nodes, program=PROGRAM, environments=environments.with_name(environments.name + "-of-pods"), **options)
        cluster.refuse_image(REFUSED)
        return Namespace(cluster)
    return make


def submit_all(server, uri, sizes, *does):
    """Jobs with so many replicas; their names."""
    names = [f"job_{number}" for number in range(len(sizes))]
    for name, replicas in zip(names, sizes):
        submit(server, uri, name, replicas, *does)
    return names


def submit(server, uri, job_id, replicas, *does):
    """A job whose replicas do what tests/trainers/probe knows."""
    workers = {"workerType": "n1-standard-4", "workerCount": str(replicas - 1)} if replicas > 1 else {}
    server.submit(job_id, packageUris=[uri], pythonModule="probe.task", args=list(does), scaleTier="CUSTOM", masterType="n1-standard-4", **workers)


def kill_meanwhile(cluster, history, pods, chance):
    """Kills the API server and etcd in turn while pods are created, each time after a random number of them, and starts them again."""
    moments = sorted(chance.randint(pods // 20, pods * 19 // 20) for _ in range(KILLS))
    for moment, part in zip(moments, itertools.cycle(("apiserver", "etcd"))):
        wait_for(lambda: True if len(history.uids) >= moment else None, lambda: f"{len(history.uids)} of {moment} pods{cluster.logs()}", 900)
        cluster.kill(part)
        print(f"{part} is killed after {len(history.uids)} pods", flush=True)
        start_again(cluster, part)


def start_again(cluster, part):
    """As whatever watches over it does: the API server ends itself if a busy machine lets it wait for etcd too long."""
    for _ in range(STARTS_MAX - 1):
        try:
            return cluster.start(part)
        except AssertionError:
            cluster.kill(part)
    return cluster.start(part)


def assert_once(history, sizes):
    """Each slot of each job has one pod, and never had two at the same time."""
    pods = collections.Counter(slot_of(name) for name in history.there)
    assert not history.doubled and set(pods.values()) == {1}, (history.doubled, pods)
    assert not [name for name, uids in history.uids.items() if len(uids) > 1], "a name was used twice"
    assert sorted(collections.Counter(gang for gang, _ in pods).values()) == sorted(sizes)


def test_an_api_server_that_is_killed_loses_no_pod_and_makes_none_twice(make_space, make_kubernetes_server, upload):
    chance = random.Random(SEED)
    sizes = [4] * (PODS // 8)
    sizes += [1] * (PODS - sum(sizes))
    chance.shuffle(sizes)
    space = make_space(PODS // PODS_OF_NODE + 1, cpus="450", memory="2000Gi")
    server = make_kubernetes_server(space, *UNSTARTED)
    uri = upload(server, "probe")
    with PodHistory(space) as history, concurrent.futures.ThreadPoolExecutor() as beside:
        submitted = beside.submit(submit_all, server, uri, sizes)
        kill_meanwhile(space.cluster, history, PODS, chance)
        names = submitted.result()
        wait_for(lambda: True if len(history.there) >= PODS else None, lambda: f"{len(history.there)} pods{server.stderr()[-3000:]}", 900)
        print(f"{len(history.uids)} pods were created for {PODS} replicas", flush=True)
        assert_once(history, sizes)
        for name in names:
            server.cancel(name)
        for name in names:
            assert server.wait(name)["state"] == "CANCELLED"
        space.wait_until_left()
        assert not history.doubled


def test_jobs_run_once_although_the_api_server_is_killed(make_space, make_kubernetes_server, upload):
    chance = random.Random(SEED)
    sizes = [chance.choice((1, 1, 2)) for _ in range(max(8, PODS // 20))]
    space = make_space(4, cpus="8.4", memory="64Gi")
    server = make_kubernetes_server(space)
    uri = upload(server, "probe")
    with PodHistory(space) as history, concurrent.futures.ThreadPoolExecutor() as beside:
        submitted = beside.submit(submit_all, server, uri, sizes, "print", "begun", "tick", "100")
        kill_meanwhile(space.cluster, history, sum(sizes), chance)
        names = submitted.result()
        for name, replicas in zip(names, sizes):
            assert server.wait(name)["state"] == "SUCCEEDED", (server.get(name), server.texts(name)[-20:], server.stderr()[-3000:])
            assert not restarts(server, name), server.texts(name, "service")
            begun = collections.Counter(entry["resource"]["labels"]["task_name"] for entry in server.log_entries(name)
                                        if entry["jsonPayload"]["message"] == "begun")
            assert len(begun) == replicas and set(begun.values()) == {1}, begun
        space.wait_until_left()
        assert not history.doubled


class Round:
    """Gangs of several servers that need all nodes, or all but one. Each is submitted at a moment of its own."""

    def __init__(self, number, servers, chance, *does):
        """`servers`: with the URI of the package. `does`: what the gangs' replicas do; nothing: a gang is cancelled once it is placed."""
        self.does, self.begin = does, time.monotonic()
        self.gangs = [(chance.uniform(0, 2), server, uri, f"gang_{number}_{which}_{turn}", chance.randint(NODES - 1, NODES))
                      for which, (server, uri) in enumerate(servers) for turn in range(chance.randint(1, 2))]
        self.due, self.living = sorted(self.gangs, key=lambda gang: gang[0]), []

    def move(self, history):
        """Submits and cancels what is to be now. True: all have ended; None: not yet."""
        while self.due and time.monotonic() >= self.begin + self.due[0][0]:
            gang = self.due.pop(0)
            _, server, uri, name, replicas = gang
            submit(server, uri, name, replicas, *self.does)
            self.living.append(gang)
        for gang in list(self.living):
            _, server, _, name, replicas = gang
            if self.does and "endTime" in server.get(name):
                assert server.get(name)["state"] == "SUCCEEDED", (server.get(name), server.texts(name)[-20:])
                self.living.remove(gang)
            elif not self.does and sum("nodeName" in pod["spec"] for pod in history.pods_of(name)) == replicas:
                server.cancel(name)
                self.living.remove(gang)
        return None if self.due or self.living else True

    def describe(self, history):
        """The gangs that wait, and what they have."""
        said = []
        for _, server, _, name, replicas in self.living:
            placed = {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in history.pods_of(name)}
            said.append(f"{name}, {replicas} replicas: {placed} {server.trainyard('jobs', 'describe', name, '--project=p').stderr}")
        return "\n".join(said)


@pytest.mark.parametrize("does, share", [pytest.param((), 1, id="placed"), pytest.param(("print", "begun"), 10, id="run")])
def test_gangs_of_two_servers_do_not_hold_each_other_up(make_space, make_kubernetes_server, upload, does, share):
    chance = random.Random(SEED)
    space = make_space(NODES, cpus="4.2")
    servers = [make_kubernetes_server(space, "--kubernetes-turn", "2", *(() if does else UNSTARTED)) for _ in range(2)]
    servers = [(server, upload(server, "probe")) for server in servers]
    with PodHistory(space) as history:
        for number in range(max(2, ROUNDS // share)):
            played = Round(number, servers, chance, *does)
            wait_for(lambda: played.move(history), lambda: played.describe(history) + space.cluster.logs())
            print(f"round {number}: {len(played.gangs)} gangs, {time.monotonic() - played.begin:.1f} s", flush=True)
        space.wait_until_left()


def hang_agent(space, slot):
    """Its processes do nothing any more; the pod's others go on."""
    [container] = space.cluster.hollow.pods[space.pod_of(slot)["metadata"]["uid"]].processes.values()
    agents = [pid for pid in descendants(container.process.pid) if b"\0agent\0--server=" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert agents
    for pid in agents:
        os.kill(pid, signal.SIGSTOP)


def descendants(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(below for child in children for below in descendants(int(child)))]


def test_a_job_whose_agent_hangs_can_be_cancelled(make_space, make_kubernetes_server, upload):
    space = make_space(1, cpus="4.2")
    server = make_kubernetes_server(space)
    probe(server, upload, "job", "--sleep-per-step=1")
    wait_for_step(server, "job", 1)
    hang_agent(space, 0)
    server.cancel("job")
    assert "The job is being cancelled. Cancelled by the user. master-replica-0 was told to end" in server.trainyard("jobs", "describe", "job").stderr
    job = server.wait("job")
    assert job["state"] == "CANCELLED", (job, server.texts("job", "service"))
    assert "has not answered the request to end its program for 60 s" in server.stderr()
    space.wait_until_left()


@pytest.mark.parametrize("part", ["server", "apiserver"])
def test_a_distributed_job_goes_on_without_a_server(make_space, make_kubernetes_server, upload, part):
    space = make_space(3, cpus="4.2")
    server = make_kubernetes_server(space)
    steps_left = 10 * ((AWAY_S + 60) // 5)  # of half a second
    # No write to a bucket is under way while the server is away.
    distributed(server, upload, "job", "--sleep-per-step=0.5", f"--steps={steps_left}", "--checkpoint-every=0", **GANG)
    wait_for(lambda: True if any(text.startswith("step=") for text in server.texts("job")) else None, lambda: f"{server.texts('job')[-30:]}")
    pods = {name: pod["metadata"]["uid"] for name, pod in space.pods().items()}
    begin = time.monotonic()
    (server.kill if part == "server" else lambda: space.cluster.kill(part))()

    def is_over():
        if part != "server":
            assert server.get("job")["state"] == "RUNNING", server.get("job")
        return True if time.monotonic() >= begin + AWAY_S else None
    wait_for(is_over, lambda: "time", AWAY_S + 60)
    (server.start if part == "server" else lambda: start_again(space.cluster, part))()
    assert server.get("job")["state"] == "RUNNING", (server.get("job"), server.texts("job")[-20:])
    assert {name: pod["metadata"]["uid"] for name, pod in space.pods().items()} == pods
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED" and "errorMessage" not in job, (job, server.texts("job")[-40:], server.stderr()[-3000:])
    assert not restarts(server, "job")
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1"):
        printed = [text.split()[0] for text in server.texts("job", task) if text.startswith("step=")]
        assert printed == [f"step={number}" for number in range(10, steps_left + 1, 10)], "no line is lost, none is there twice"
    space.wait_until_left()
