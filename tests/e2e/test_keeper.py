"""Supervisors that a keeper starts: server and keeper may each be killed while jobs run, and neither forks in the other's place."""

import os
import socket
import subprocess

import pytest

from process_output import DEADLINE_S
from trainyard_server import PROGRAM, processes_with, wait_for


class Keeper:
    """`trainyard keeper` at a socket; may be killed and started again."""

    def __init__(self, folder):
        self.socket = folder / "keeper.sock"
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.settimeout(DEADLINE_S)
        self.manager.bind(f"\0trainyard-keeper-{os.getpid()}-{folder.name}")
        self.process = None
        self.start()

    def start(self):
        name = "@" + self.manager.getsockname()[1:].decode()
        self.process = subprocess.Popen([PROGRAM, "keeper", "--socket", str(self.socket)], env={**os.environ, "NOTIFY_SOCKET": name})
        while (said := self.manager.recv(100)) != b"READY=1":
            assert said == b"STOPPING=1", said  # of the one before

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def stop(self):
        self.process.terminate()
        return self.process.wait(DEADLINE_S)


@pytest.fixture
def keeper(tmp_path):
    made = Keeper(tmp_path)
    yield made
    made.kill()
    made.manager.close()


def parents_of(data):
    """Of the supervisors: who started them. A supervisor's own child is its sandbox's init."""
    parents = {pid: int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
               for pid, command in processes_with(f"{data}/attempts/") if " replica " in command}
    return {parent for parent in parents.values() if parent not in parents}


def test_a_job_notices_neither_that_the_server_nor_that_the_keeper_is_killed(make_server, upload, keeper):
    server = make_server("--keeper", str(keeper.socket))
    uri = upload(server, "probe")
    server.submit("survivor", packageUris=[uri], pythonModule="probe.task", args=["tick", "400"])
    server.wait_for_text("survivor", "tick 0000010")
    assert parents_of(server.data) == {keeper.process.pid}
    before = {pid for pid, _ in processes_with("-m probe.task tick 400")}
    server.kill()
    server.start()
    keeper.kill()
    assert {pid for pid, _ in processes_with("-m probe.task tick 400")} == before

    server.submit("waits", packageUris=[uri], pythonModule="probe.task", args=["print", "at last"])
    why = f"the keeper at {keeper.socket} does not answer: is trainyard-jobs.service running?"
    wait_for(lambda: True if any(why in text for text in server.texts("waits")) else None,
             lambda: f"{server.texts('waits')} {server.stderr()[-2000:]}")
    described = server.trainyard("jobs", "describe", "waits")
    assert why in described.stdout + described.stderr
    assert server.get("waits")["state"] == "PREPARING"
    server.kill()
    server.start()  # without a keeper, too
    assert server.request("GET", "/healthz").ok
    keeper.start()
    job = server.wait("waits")
    assert job["state"] == "SUCCEEDED", job
    assert "at last" in server.texts("waits")

    job = server.wait("survivor")
    assert job["state"] == "SUCCEEDED", job
    texts = server.texts("survivor")
    assert [t for t in texts if t.startswith("tick ")] == [f"tick {n:07d}" for n in range(400)]


def test_a_keeper_that_is_told_to_end_ends_its_jobs_and_the_next_one_begins_them_anew(make_server, upload, keeper):
    server = make_server("--keeper", str(keeper.socket))
    server.submit("told", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "up", "tick", "100"])
    server.wait_for_text("told", "up")
    assert keeper.stop() == 0
    assert not processes_with(f"{server.data}/attempts/")
    keeper.start()
    job = server.wait("told")
    assert job["state"] == "SUCCEEDED", (job, server.texts("told"))
    assert server.texts("told").count("up") == 2


def test_a_server_refuses_a_keeper_that_is_no_path(tmp_path):
    done = subprocess.run([PROGRAM, "serve", "--data", str(tmp_path), "--keeper", "keeper.sock"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--keeper" in done.stderr and "is not an absolute path" in done.stderr
