"""The keeper's socket: what a program that reaches it can have, and whether a job's program reaches it."""

import contextlib
import os
import pathlib
import socket
import subprocess

import pytest

from test_keeper import Keeper
from trainyard_server import PROGRAM

RUN = pathlib.Path("/run/trainyard")  # of the installed service
PERMISSION_DENIED = 7
HELLO = bytes([1 << 3 | 2, 4, 1 << 3, 1, 2 << 3, 1])  # proto/trainyard/keeper/v1/keeper.proto: version_min 1, version_max 1
REFUSED = 4 << 3 | 2  # the tag of the answer's field


def field(number, content):
    """One of a message, as protobuf writes texts and messages."""
    size = len(content)
    length = [size] if size < 0x80 else [size & 0x7F | 0x80, size >> 7]
    return bytes([number << 3 | 2, *length]) + content


@contextlib.contextmanager
def connected(keeper):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.settimeout(60)
        client.connect(str(keeper.socket))
        with contextlib.suppress(BrokenPipeError):
            client.send(HELLO)
        yield client


def start(keeper, program, *arguments):
    """The tag of the answer and, of a refusal, its code."""
    request = field(1, b"attack") + field(2, program.encode())
    request += b"".join(field(3, word.encode()) for word in ["x", *arguments]) + field(4, b"LD_PRELOAD=/evil.so")
    with connected(keeper) as client:
        client.recv(1000)
        client.send(field(3, request))
        answer = client.recv(1000)
    code = 3 if answer[1] < 0x80 else 4  # after the length of the refusal and the code's tag
    return answer[0], answer[code]


@pytest.fixture
def keeper(tmp_path):
    made = Keeper(tmp_path)
    yield made
    made.kill()
    made.manager.close()


def test_it_starts_nothing_but_supervisors(keeper, tmp_path):
    trace = tmp_path / "trace"
    own = os.path.realpath(PROGRAM)
    for program, *arguments in [(os.path.realpath("/bin/sh"), "-c", f"id >{trace}"), (own, "serve", f"--data={trace}"), (own, "replica"),
                                (own, "replica", "--isolation=0", f"{trace}/../x")]:
        assert start(keeper, program, *arguments) == (REFUSED, PERMISSION_DENIED), program
    assert not trace.exists()


def test_it_answers_the_servers_unit_only(tmp_path):
    """These tests are in no unit of that name."""
    place = tmp_path / "keeper.sock"
    with subprocess.Popen([PROGRAM, "keeper", "--socket", str(place), "--server-unit", "trainyard-of-nobody.service"], stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                while client.connect_ex(str(place)) != 0:  # it has a name before it listens
                    assert process.poll() is None
                with contextlib.suppress(BrokenPipeError):
                    client.send(HELLO)
                with contextlib.suppress(ConnectionResetError):
                    assert client.recv(100) == b"", "no hello is answered"
            assert "and only trainyard-of-nobody.service may ask" in process.stderr.readline()
        finally:
            process.kill()


@pytest.mark.skipif(os.geteuid() != 0 or RUN.exists(), reason="needs root, and a machine without the service")
def test_a_package_does_not_see_the_services_sockets(server, upload):
    RUN.mkdir()
    try:
        (RUN / "keeper.sock").touch()
        server.submit("look", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                      args=["shell", "echo SEEN [$(ls -A /run/trainyard)]"])
        job = server.wait("look")
        assert job["state"] == "SUCCEEDED", (job, server.texts("look"))
        assert "SEEN []" in server.texts("look"), server.texts("look")
    finally:
        (RUN / "keeper.sock").unlink()
        RUN.rmdir()
