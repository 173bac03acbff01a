"""The Slurm that other tests run on: it starts, loses what a test takes from it, and leaves nothing behind."""

import contextlib
import os
import pathlib
import re
import socket

from slurm_cluster import SlurmCluster
from trainyard_server import processes_with, wait_for


def spaces_of(pids):
    """Their network and PID namespaces."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            found |= {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("net", "pid_for_children")}
    return found


def all_spaces():
    return spaces_of(entry.name for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit())


def submit_follower(slurm, *options, before=""):
    """A job that has begun; squeue says RUNNING before that, and a node that is lost in between puts even a job of --no-requeue back in line."""
    known = processes_with(f"tail -f {slurm.folder}")
    job = slurm.run("sbatch", "--parsable", *options, "-o", "/dev/null", "--wrap", f"{before} tail -f {slurm.folder}/slurm.conf").stdout.strip()
    wait_for(lambda: True if len(processes_with(f"tail -f {slurm.folder}")) > len(known) else None, lambda: f"it does not run: {slurm.jobs()}")
    return job


def test_runs_on_all_nodes_and_leaves_nothing_behind():
    mine = spaces_of([os.getpid()])
    with SlurmCluster(4, gpus=2, boot="mount -t tmpfs none /mnt; touch /mnt/own") as slurm:
        assert list(slurm.env()) == ["SLURM_CONF"]
        said = slurm.run("srun", "-N4", "-l", "--gpus-per-node=1", "bash", "-c", "echo $(hostname) $CUDA_VISIBLE_DEVICES $(ls /mnt)").stdout
        assert sorted(said.splitlines()) == [f"{number}: node{number + 1} 0 own" for number in range(4)]
        addresses = slurm.run("srun", "-N4", "ip", "-4", "-o", "address", "show", "dev", "eth0").stdout
        assert len(set(re.findall(r"inet (\S+)/27", addresses))) == 4
        # A job that has left its step's tree, and one that runs while all ends.
        submit_follower(slurm, "-w", "node3", before="setsid")
        submit_follower(slurm, "-w", "node4")
        spaces = spaces_of(process.pid for process in [*slurm.processes.values(), slurm.network.switch]) - mine
        link = socket.if_nametoindex(slurm.network.link)
        assert len(spaces) == 9 and spaces < all_spaces()
    assert not slurm.folder.exists() and not processes_with(str(slurm.folder))
    assert not spaces & all_spaces() and link not in [number for number, _ in socket.if_nameindex()]
    assert str(slurm.folder) not in pathlib.Path("/proc/self/mounts").read_text()


def test_clusters_side_by_side(make_slurm):
    one, other = make_slurm(1), make_slurm(1)
    assert one.server_address != other.server_address
    for slurm in (one, other):
        slurm.run("sbatch", "--parsable", "-J", slurm.server_address, "-o", "/dev/null", "--wrap", "true")
        assert [(job["id"], job["name"]) for job in slurm.jobs()] == [("1", slurm.server_address)]
    reach = "exec 3<>/dev/tcp/{}/{}"
    for slurm, may in ((one, True), (other, False)):
        done = one.run("srun", "bash", "-c", reach.format(slurm.network.address(1), slurm.first_port + 1), check=False)
        assert (done.returncode == 0) == may, done.stderr


def test_a_node_loses_its_power_and_comes_back(make_slurm):
    slurm = make_slurm(4, settings={"SlurmdTimeout": 2, "TCPTimeout": 1, "MessageTimeout": 2})
    job = submit_follower(slurm, "--no-requeue", "-w", "node2")
    slurm.kill_node("node2")
    slurm.wait_for_nodes("down", "node2")
    assert [(entry["id"], entry["state"]) for entry in slurm.jobs()] == [(job, "NODE_FAIL")]
    slurm.start_node("node2")
    slurm.wait_for_nodes("idle")
    assert slurm.run("srun", "-w", "node2", "hostname").stdout == "node2\n"


def test_a_node_is_cut_off(make_slurm):
    slurm = make_slurm(2)
    assert answers(slurm, 2)
    slurm.cut_network("node2")
    assert not answers(slurm, 2)
    slurm.mend_network("node2")
    wait_for(lambda: answers(slurm, 2) or None, lambda: "node2 is not back")
    assert slurm.run("srun", "-w", "node2", "hostname").stdout == "node2\n"


def answers(slurm, number):
    """A node's slurmd, within a second."""
    try:
        socket.create_connection((slurm.network.address(number), slurm.first_port + 1), timeout=1).close()
        return True
    except OSError:
        return False


def test_the_controller_is_killed_frozen_and_back(make_slurm):
    slurm = make_slurm(1, settings={"MessageTimeout": 1}, partitions={"main": "Nodes=ALL", "spare": "Nodes=ALL"})
    slurm.set_partition("DOWN", "spare")
    slurm.run("sbatch", "--parsable", "-p", "spare", "--comment", "try:1", "-o", "/dev/null", "--wrap", "true")
    [job] = slurm.jobs()
    assert (job["comment"], job["state"], job["reason"]) == ("try:1", "PENDING", "PartitionDown")
    assert slurm.sdiag()["Jobs submitted"] == 1
    slurm.freeze_controller()
    assert slurm.run("scontrol", "ping", check=False).returncode != 0
    slurm.thaw_controller()
    assert len(slurm.jobs()) == 1
    slurm.kill_controller()
    assert not processes_with(f"slurmctld -D -i -f {slurm.folder}")
    slurm.start_controller()
    slurm.wait_for_nodes("idle")
    assert slurm.run("srun", "hostname").stdout == "node1\n"


def test_nodes_without_a_network_of_their_own(make_slurm):
    for isolate in ("pid", "none"):
        slurm = make_slurm(2, isolate=isolate, of_node={"node2": "Features=big"})
        assert slurm.run("srun", "-C", "big", "printenv", "SLURMD_NODENAME").stdout == "node2\n"
        # Its child has left the step's tree, and still ends with the node.
        submit_follower(slurm, "-w", "node1", before="setsid -f")
        slurm.kill_node("node1")
        assert not processes_with(f"tail -f {slurm.folder}")
