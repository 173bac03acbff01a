"""The keeper's socket: what a program that reaches it can have, and whether a job's program reaches it."""

import contextlib
import os
import pathlib
import socket
import struct
import subprocess

import pytest

from test_keeper import Keeper
from trainyard_server import PROGRAM

RUN = pathlib.Path("/run/trainyard")  # of the installed service
HELLO, START, STARTED, REFUSED = 1, 3, 131, 255
PERMISSION_DENIED = 7
MAGIC = 0x504B5954


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def texts(all_words):
    return struct.pack("<I", len(all_words)) + b"".join(text(words) for words in all_words)


@contextlib.contextmanager
def connected(keeper):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.settimeout(60)
        client.connect(str(keeper.socket))
        with contextlib.suppress(BrokenPipeError):
            client.send(struct.pack("<HIHH", HELLO, MAGIC, 1, 1))
        yield client


def start(keeper, program, *arguments):
    """The answer's type and, of a refusal, its code."""
    request = struct.pack("<H", START) + text("attack") + text(program) + texts(["x", *arguments]) + texts(["LD_PRELOAD=/evil.so"])
    with connected(keeper) as client:
        client.recv(1000)
        client.send(request + struct.pack("<I", 0))
        answer = client.recv(1000)
    return struct.unpack_from("<H", answer)[0], struct.unpack_from("<I", answer, 2)[0]


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
            while not place.exists():
                assert process.poll() is None
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                client.connect(str(place))
                with contextlib.suppress(BrokenPipeError):
                    client.send(struct.pack("<HIHH", HELLO, MAGIC, 1, 1))
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
                      args=["shell", "echo SEEN; ls -A /run/trainyard; echo ALL"])
        job = server.wait("look")
        assert job["state"] == "SUCCEEDED", (job, server.texts("look"))
        said = server.texts("look")
        assert said[said.index("SEEN") + 1] == "ALL", said
    finally:
        (RUN / "keeper.sock").unlink()
        RUN.rmdir()
