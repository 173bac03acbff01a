"""enableWebAccess: a shell in each replica, over WebSocket and from the command line."""

import os
import pty
import subprocess

import pytest
import websocket

from process_output import Output
from replica_shell import connect
from trainyard_server import PROGRAM, processes_with, wait_for


@pytest.fixture
def running(server, upload):
    """A job of a master and a worker that sleep; its webAccessUris."""
    server.submit("open", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True,
                  scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1")
    server.wait("open", lambda job: job["state"] == "RUNNING")
    yield server.get("open")["trainingOutput"]["webAccessUris"]
    server.cancel("open")
    server.wait("open")


def test_the_shell_is_inside_the_replica(server, running):
    assert sorted(running) == ["master-replica-0", "worker-replica-0"]
    shell = connect(running["worker-replica-0"])
    shell.send("40 132")
    shell.send_binary(b"echo host=$(hostname) pid1=$(cat /proc/1/comm) size=$(stty size)\n")
    seen = shell.until(r"host=(cmle-training-worker-\S+) pid1=(\S+) size=([\d ]+)")
    assert (seen[2], seen[3].strip()) == ("trainyard-init", "40 132")
    shell.send_binary(b"python3 -c 'import os, json; print(\"task\", json.loads(os.environ[\"TF_CONFIG\"])[\"task\"][\"type\"])'\n")
    assert shell.until(r"[\r\n]task (\w+)[\r\n]")[1] == "worker"
    shell.send_binary(b"touch /tmp/mine; pwd; exit 3\n")
    assert shell.until(r"[\r\n](/\S*work)\r\n")
    with pytest.raises(websocket.WebSocketConnectionClosedException):
        while True:
            opcode, data = shell.recv_data()
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                assert data[2:] == b"exit 3"
                raise websocket.WebSocketConnectionClosedException
    other = connect(running["master-replica-0"])
    other.send_binary(b"ls /tmp/mine; echo status=$?\n")
    assert other.until(r"[\r\n]status=(\d+)[\r\n]")[1] == "2", "each replica has a /tmp of its own"
    other.close()


def test_only_with_its_token_and_only_if_asked_for(server, upload, running):
    uri = running["worker-replica-0"]
    refused = server.request("GET", uri.removeprefix(server.url).replace("token=", "token=0"))
    assert refused.status_code == 403 and "webAccessUris" in refused.json()["error"]["message"]
    with pytest.raises(websocket.WebSocketBadStatusException):
        connect(uri.replace("worker", "master"))
    assert "trainyard jobs shell open worker-replica-0" in server.request("GET", uri.removeprefix(server.url)).text
    server.submit("closed", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"])
    server.wait("closed", lambda job: job["state"] == "RUNNING")
    assert "webAccessUris" not in server.get("closed").get("trainingOutput", {})
    said = server.trainyard("jobs", "shell", "closed")
    assert said.returncode == 1 and "--enable-web-access" in said.stderr
    server.cancel("closed")
    server.wait("closed")


def test_the_command_types_what_it_is_given(server, running):
    done = server.trainyard("jobs", "shell", "open", "worker-replica-0", input="echo at=$(hostname)\nexit 7\n")
    assert done.returncode == 7, done
    assert "at=cmle-training-worker-" in done.stdout
    unknown = server.trainyard("jobs", "shell", "open", "ps-replica-0")
    assert unknown.returncode == 1 and "shells are available in: master-replica-0, worker-replica-0" in unknown.stderr


def test_the_command_on_a_terminal(server, running):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, "jobs", "shell", "open"], stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "TRAINYARD_SERVER": server.url, "CLOUDSDK_CORE_PROJECT": "p"})
    os.close(theirs)

    shown = Output(ours)
    # Not sh: it may take a Ctrl-C that comes between two commands for nothing.
    os.write(ours, b"python3 -c 'import time; print(\"begun=%d\" % 12, flush=True); time.sleep(600)'\n")
    shown.until(b"begun=12")
    os.write(ours, b"\x03")  # Ctrl-C ends the sleep, not the command
    shown.until(b"work")  # the next prompt; what is typed before it may be lost
    os.write(ours, b"echo again=$?; exit\n")
    shown.until(b"again=130")
    assert process.wait(60) == 0
    os.close(ours)


def test_it_ends_with_the_replica_and_nothing_is_left(server, running):
    shell = connect(running["worker-replica-0"])
    shell.send_binary(b"sleep 98765 & echo begun=$!\n")
    shell.until(r"[\r\n]begun=\d+[\r\n]")
    server.cancel("open")
    assert server.wait("open")["state"] == "CANCELLED"
    with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
        while shell.recv_data()[0] != websocket.ABNF.OPCODE_CLOSE:
            pass
        raise websocket.WebSocketConnectionClosedException
    for mark in ("98765", f"replica-shell {server.data}"):
        wait_for(lambda: not processes_with(mark) or None, lambda: f"left: {processes_with(mark)}")
    refused = server.request("GET", running["worker-replica-0"].removeprefix(server.url))
    assert refused.status_code == 400 and "CANCELLED" in refused.json()["error"]["message"]


def test_a_client_that_goes_away_ends_the_shell_only(server, running):
    shell = connect(running["worker-replica-0"])
    shell.until(r"\S")
    assert processes_with(f"replica-shell {server.data}")
    shell.sock.close()
    wait_for(lambda: not processes_with(f"replica-shell {server.data}") or None, lambda: f"left: {processes_with('replica-shell')}")
    assert server.get("open")["state"] == "RUNNING"


def test_garbage_closes_the_connection(server, running):
    shell = connect(running["worker-replica-0"])
    shell.sock.sendall(b"\xff" * 64)
    with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
        while shell.recv_data()[0] != websocket.ABNF.OPCODE_CLOSE:
            pass
        raise websocket.WebSocketConnectionClosedException
    assert server.get("open")["state"] == "RUNNING"
