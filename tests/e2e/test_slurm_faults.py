"""What a cluster does to jobs that run on it: lost nodes, killed agents and controllers, limits, preemption, an absent server."""

import os
import select

import pytest

from slurm_world import HAND_OVER, QUICK_LOSS, agents, distributed, living, node_of, probe, wait_for_reason, wait_until_left, words
from trainyard_server import kill, processes_with, wait_for


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


def wait_until_ended(pid, limit_s):
    """A process that is nobody's child here."""
    held = os.pidfd_open(pid)
    try:
        assert select.select([held], [], [], limit_s)[0], f"process {pid} has not ended in {limit_s} s"
    finally:
        os.close(held)


TWO = {"workerCount": "1", "parameterServerCount": None, "parameterServerType": None}


@pytest.mark.parametrize("slot", [pytest.param(0, id="master"), pytest.param(1, id="worker")])
def test_a_lost_node_gives_a_new_gang(make_slurm, make_slurm_server, upload, slot):
    slurm = make_slurm(3, settings=QUICK_LOSS)
    server = make_slurm_server(slurm)
    distributed(server, upload, "job", "--sleep-per-step=0.2", "--steps=40", **TWO)
    server.wait_for_text("job", "Job is running.")
    lost = node_of(slurm, slot)
    slurm.kill_node(lost)
    server.wait_for_text("job", "The job has resources again.")
    assert lost not in {node for _, node, _ in agents(slurm)}
    job = server.wait("job")
    assert job["state"] == "SUCCEEDED", (job, server.texts("job")[-40:], server.stderr()[-3000:])
    label = ("master 0", "worker 0")[slot]
    assert f"The log of the job is not complete. The replica {label}, attempt 1: its node or its agent is lost" in job["errorMessage"]
    names = [job["name"] for job in slurm.jobs() if job["name"].startswith("ty-")]
    assert [name.rpartition("-")[2] for name in names] == ["1", "2"], "one job of Slurm for each try"


def test_a_node_that_is_cut_off_has_no_say_any_more(make_slurm, make_slurm_server, upload):
    """Its program runs on, since nobody can tell it, and what it writes is nobody's."""
    slurm = make_slurm(3, settings=QUICK_LOSS)
    server = make_slurm_server(slurm)
    distributed(server, upload, "job", "--sleep-per-step=0.2", "--steps=60", **TWO)
    server.wait_for_text("job", "Job is running.")
    cut = node_of(slurm, 1)
    slurm.cut_network(cut)
    server.wait_for_text("job", "The job has resources again.")
    assert [node for _, node, _ in agents(slurm) if node == cut], "the agent lives: there are two for the slot"
    slurm.mend_network(cut)
    wait_for(lambda: True if cut not in {node for _, node, _ in agents(slurm)} else None, lambda: f"{agents(slurm)}{slurm.logs()}")
    assert server.wait("job")["state"] == "SUCCEEDED", (server.texts("job")[-40:], server.stderr()[-3000:])
    begun = [text for text in server.texts("job", "worker-replica-0") if "Running task with arguments" in text]
    assert len(begun) == 2, "the second attempt is another's, and the first one has written nothing since"


def test_a_replica_that_fails_starts_again_in_its_room(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    marker = slurm.folder / "marker"
    words(server, upload, "again", "shell", f"test -e {marker} || {{ touch {marker}; kill -9 $PPID; }}", "print", "whole")
    assert server.wait("again")["state"] == "SUCCEEDED", server.texts("again")
    assert "whole" in server.texts("again", "master-replica-0")
    wait_until_left(slurm)
    assert [job["comment"] for job in slurm.jobs() if job["name"].startswith("ty-")][-1] == "trainyard:1"
    assert not any("The job has resources again." in text for text in server.texts("again"))


def test_what_is_preempted_starts_again(make_slurm, make_slurm_server, upload):
    slurm = make_slurm(1, settings={**HAND_OVER, "PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL"},
                       partitions={"main": "Nodes=ALL PriorityTier=1", "urgent": "Nodes=ALL PriorityTier=9"})
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=200", "--checkpoint-every=10")
    wait_for(lambda: True if any("step=50" in text for text in server.texts("job")) else None, lambda: f"{server.texts('job')}")
    slurm.run("sbatch", "--parsable", "-p", "urgent", "-c", "4", "-o", "/dev/null", "--wrap", "true")
    server.wait_for_text("job", "The job has resources again.")
    assert server.wait("job")["state"] == "SUCCEEDED", (server.texts("job"), server.stderr()[-3000:])
    assert any("had to make room for a more important one" in text for text in server.texts("job", "service"))
    resumed = [text for text in server.texts("job", "master-replica-0") if "resumed_from" in text]
    assert len(resumed) == 2 and "resumed_from=0" not in resumed[1], "it went on where it was"


def test_a_killed_agent_is_back_and_its_replica_never_noticed(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    words(server, upload, "job", "print", "begun", "tick", "300")
    server.wait_for_text("job", "begun")
    _, worker = (pid for _, _, pid in agents(slurm))  # the older one watches it
    kill(worker)
    assert server.wait("job")["state"] == "SUCCEEDED", (server.texts("job"), server.stderr()[-3000:])
    assert [text for text in server.texts("job", "master-replica-0") if text.startswith("tick")] == [f"tick {number:07d}" for number in range(300)]
    assert not [text for text in server.texts("job", "service") if "restart" in text]


def test_what_slurms_time_limit_ends_is_over(slurm, make_slurm_server, upload):
    """Slurm gives notice, agents stop what runs and hand over, and the job is COMPLETED there before its limit."""
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=1")
    wait_for(lambda: True if any("resumed_from" in text for text in server.texts("job")) else None, lambda: f"{server.texts('job')}")
    [ours] = living(slurm)
    slurm.run("scontrol", "update", f"JobId={ours['id']}", "TimeLimit=2")
    job = server.wait("job")
    assert job["state"] == "CANCELLED" and job["errorMessage"].startswith(f"The job {ours['id']} of Slurm has reached its time limit."), job
    assert any("SIGTERM" in text for text in server.texts("job", "master-replica-0")), "the program was told, and its last lines came"


@pytest.mark.skipif(not os.access("/sys/fs/cgroup/memory/memory.oom_control", os.W_OK),
                    reason="this machine's Slurm bounds memory with cgroups of version 1")
def test_what_slurm_kills_for_memory_is_said(make_slurm, make_slurm_server, upload):
    slurm = make_slurm(1, memory=400, bounds_memory=True, settings=HAND_OVER)
    server = make_slurm_server(slurm)
    words(server, upload, "eats", "shell", "exec /usr/bin/python3 -c 'x = bytearray(1 << 30); print(len(x))'")
    job = server.wait("eats")
    assert job["state"] == "FAILED" and "out-of-memory" in job["errorMessage"], (job, server.texts("eats"), server.stderr()[-3000:])
    assert "machine type" in job["errorMessage"], "what to do"
    wait_until_left(slurm)


def test_an_agent_that_is_gone_for_good_gives_a_new_gang(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=100", "--checkpoint-every=10")
    server.wait_for_text("job", "Job is running.")
    for _, _, pid in agents(slurm):
        kill(pid)
    server.wait_for_text("job", "The job has resources again.")
    assert server.wait("job")["state"] == "SUCCEEDED", (server.texts("job"), server.stderr()[-3000:])


def test_jobs_live_on_without_the_server(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    probe(server, upload, "job", "--sleep-per-step=0.05", "--steps=100", "--log-every=10", "--checkpoint-every=1000")
    wait_for(lambda: True if any(text.startswith("step=") for text in server.texts("job")) else None, lambda: f"{server.texts('job')}")
    server.kill()  # no write to a bucket is under way
    server.start()
    assert server.wait("job")["state"] == "SUCCEEDED"
    steps = [text.split()[0] for text in server.texts("job", "master-replica-0") if text.startswith("step=")]
    assert steps == [f"step={number}" for number in range(10, 101, 10)], "no line is lost, none is there twice"
    wait_until_left(slurm)


@pytest.mark.parametrize("ticks", [50, pytest.param(60_000, marks=pytest.mark.long, id="ten minutes")])
def test_what_ends_while_the_server_is_away_is_handed_over(slurm, make_slurm_server, upload, ticks):
    server = make_slurm_server(slurm)
    words(server, upload, "away", "print", "begun", "tick", str(ticks), jobDir="gs://out/away")
    server.wait_for_text("away", "begun")
    server.kill()
    [program] = [pid for pid, command in processes_with(f"probe.task print begun tick {ticks}") if "python" in command.split()[0]]
    wait_until_ended(program, 120 + ticks / 50)
    server.start()
    assert server.wait("away")["state"] == "SUCCEEDED", (server.texts("away")[-20:], server.stderr()[-3000:])
    said = [text for text in server.texts("away", "master-replica-0") if text.startswith("tick")]
    assert said == [f"tick {number:07d}" for number in range(ticks)], "each line once, in order"
    wait_until_left(slurm)


def test_lines_that_died_with_their_node_are_named(make_slurm, make_slurm_server, upload):
    slurm = make_slurm(2, settings=QUICK_LOSS)
    server = make_slurm_server(slurm)
    words(server, upload, "job", "print", "begun", "forever")
    server.wait_for_text("job", "begun")
    server.kill()
    lost = node_of(slurm, 0)
    slurm.kill_node(lost)
    slurm.wait_for_nodes("down", lost)
    server.start()
    server.wait_for_text("job", "The job has resources again.")
    server.cancel("job")
    job = server.wait("job")
    assert job["state"] == "CANCELLED"
    assert "The log of the job is not complete. The replica master 0, attempt 1: its node or its agent is lost, and with it the output after line" \
        in job["errorMessage"]


def test_a_controller_that_is_killed_loses_no_job_and_starts_none_twice(make_slurm, make_slurm_server, upload):
    """It forgets jobs of its last seconds, gives their ids to others, and starts some of them again."""
    rounds, at_once = (100, 3) if os.environ.get("TRAINYARD_LONG") else (4, 3)
    slurm = make_slurm(4)
    server = make_slurm_server(slurm)
    names = []
    for number in range(rounds):
        known = len(slurm.jobs())
        for turn in range(at_once):
            names.append(f"job_{number}_{turn}")
            probe(server, upload, names[-1], "--steps=2")
        wait_for(lambda: True if number % 2 or len(slurm.jobs()) > known else None, lambda: f"{slurm.jobs()}")
        slurm.kill_controller()
        slurm.start_controller()
    for name in names:
        job = server.wait(name, lambda job: "endTime" in job or slurm.resume_drained())
        assert job["state"] == "SUCCEEDED", (job, server.texts(name), server.stderr()[-3000:])
        begun = [text for text in server.texts(name, "master-replica-0") if "resumed_from" in text]
        aborted = [text for text in server.texts(name) if "cancelled by Slurm itself" in text]  # it may have begun before
        assert 1 <= len(begun) <= 1 + len(aborted), (name, begun, aborted)
    wait_until_left(slurm)
