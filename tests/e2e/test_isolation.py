"""Nothing of a replica reaches another: a trainer tries (tests/trainers/intruder), beside a victim in its job and in another job.

By design all replicas share the buckets (/gcs) and, unless the server was told `--network isolated`, the machine's network."""

import json
import os
import pathlib
import re
import socket
import subprocess
from typing import Any

import pytest

from trainyard_server import Server, end_supervisors, processes_with

CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "1"}


@pytest.fixture
def server(shared_folder, environments):
    """Not below /tmp, of which a replica sees nothing anyway."""
    server = Server(shared_folder / "data", "--stop-grace", "1", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


class Victim:
    """A running victim: its attempt's folder, its program's pid on the machine, what only it should know."""

    def __init__(self, server, attempt_id):
        self.folder = server.data.resolve() / "attempts" / attempt_id
        self.pid = next(pid for pid, _ in processes_with("intruder.victim") if os.readlink(f"/proc/{pid}/cwd") == f"{self.folder}/work")
        self.secret = (self.folder / "work/own-secret").read_text()
        self.token = re.search(rb"[0-9a-f]{40,}", (self.folder / "manifest.pb").read_bytes())[0].decode()
        environment = dict(item.split("=", 1) for item in pathlib.Path(f"/proc/{self.pid}/environ").read_text().split("\0") if item)
        assert environment["OWN_SECRET"] == self.secret
        self.metadata_host = environment.get("GCE_METADATA_HOST", "")

    def is_unharmed(self):
        return (self.folder / "work/own-secret").read_text() == self.secret and pathlib.Path(f"/proc/{self.pid}").exists()


def let_loose(server, upload, where):
    """Lets the intruder at a victim; returns what came of each attempt, the victim, and all that the intruder has written down."""
    package = upload(server, "intruder")
    folder = server.data / "buckets/out/meet"
    folder.mkdir(parents=True)
    if where == "other job":
        server.submit("hides", packageUris=[package], pythonModule="intruder.task", args=["victim"])
        server.wait_for_text("hides", "hidden")
        server.submit("meet", packageUris=[package], pythonModule="intruder.task", jobDir="gs://out/meet")
        victim = Victim(server, "1-master-replica-0-1")
    else:
        server.submit("meet", packageUris=[package], pythonModule="intruder.task", jobDir="gs://out/meet", **CLUSTER)
        server.wait_for_text("meet", "hidden")
        victim = Victim(server, "1-worker-replica-0-1")
    (folder / "told.tmp").write_text(f"{server.data.resolve()} {victim.folder.name} {victim.pid}")
    (folder / "told.tmp").rename(folder / "told")
    server.wait_for_text("meet", "done")
    text = (folder / "results.json").read_text()
    assert victim.is_unharmed()
    return json.loads(text), victim, text


NOT_THERE = ("FileNotFoundError", "ProcessLookupError")
REFUSED = ("PermissionError", "OSError: [Errno 30]")
EXPECTED: dict[str, Any] = {  # attempt: the list that it finds, or how its error begins
    "secrets": [], "after": [], "processes": [], "proc": [], "readable": [],
    "ptrace": NOT_THERE, "memory": NOT_THERE, "interrupt": NOT_THERE, "system_v": NOT_THERE, "door": NOT_THERE, "door_by_root": NOT_THERE,
    "manifest": NOT_THERE, "attach_socket": NOT_THERE, "admin_socket": NOT_THERE,
    "cgroup": REFUSED, "kernel_setting": REFUSED, "write_environment": REFUSED, "write_bundle": REFUSED,
    "servers_environ": REFUSED, "unmount": REFUSED, "mount_proc": REFUSED, "writable_again": REFUSED, "device_node": REFUSED,
}


@pytest.mark.skipif(os.geteuid() != 0, reason="/gcs needs root, and root is who could do most")
@pytest.mark.parametrize("where", ["same job", "other job"])
def test_nothing_of_a_replica_reaches_another(where, server, upload):
    results, victim, text = let_loose(server, upload, where)
    wrong = {name: results[name] for name, expected in EXPECTED.items()
             if not (results[name] == expected if isinstance(expected, list) else str(results[name]).startswith(expected))}
    assert not wrong
    assert results["own_namespace"] == [], "there is no namespace of its own in which mounts could come off"
    assert victim.secret not in text and victim.token not in text
    # Under a metadata server's name that was made up it gets its own token, as the connection is its own, not the other's.
    owner = results["others_token"].split(".")[2]
    assert re.fullmatch(r"\d+-[a-z]+-replica-\d-1", owner) and owner != victim.folder.name, results["others_token"]
    assert set(EXPECTED) | {"own_namespace", "others_token", "host_name", "write_hosts", "kill_all"} == set(results)
    host = subprocess.run(["nsenter", "-t", str(victim.pid), "-u", "hostname"], capture_output=True, text=True, check=True).stdout
    assert host.startswith("cmle-training-"), "its host name is its own"
    assert "intruder" not in (victim.folder / "hosts").read_text() + pathlib.Path("/etc/hosts").read_text()


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


@pytest.mark.parametrize("token", ["", "0" * 64, "of another attempt"])
def test_a_made_up_token_is_sent_away(token, server, upload):
    """Who gets at the server's socket, as a program without namespaces can, cannot speak for a replica."""
    package = upload(server, "intruder")
    for job_id in "first", "second":
        server.submit(job_id, packageUris=[package], pythonModule="intruder.task", args=["victim"])
        server.wait_for_text(job_id, "hidden")
    first, second = (Victim(server, f"{uid}-master-replica-0-1") for uid in (1, 2))
    token = second.token if token == "of another attempt" else token
    hello = field(1, field(1, first.folder.name.encode()) + field(2, token.encode()) + b"\x18\x03")
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(60)
        link.connect(str(server.data / "run/attach.sock"))
        link.sendall(b"GET /replica/v1/attach HTTP/1.1\r\nHost: trainyard\r\nConnection: Upgrade\r\nUpgrade: trainyard-replica\r\n\r\n")
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += link.recv(4096)
        assert answer.startswith(b"HTTP/1.1 101 "), answer
        link.sendall(varint(len(hello)) + hello)
        said = answer.split(b"\r\n\r\n", 1)[1]
        while more := link.recv(4096):
            said += more
    assert len(said) < 64 and first.is_unharmed()
    assert server.get("first")["state"] == "RUNNING" and server.get("second")["state"] == "RUNNING"
    server.cancel("first")
    assert server.wait("first")["state"] == "CANCELLED", "its own supervisor is still who is listened to"
