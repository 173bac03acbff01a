"""Containers that cannot be run: each is refused, or ends FAILED, with the reason and what to do."""

import json
import os
import pathlib
import select
import socket
import socketserver
import subprocess
import tempfile
import threading
from typing import Any

import pytest

from container_engines import api, leftovers, run_job, shell, stop_clean, submit_image
from container_images import docker_config
from trainyard_server import Server, kill, processes_with, wait_for


@pytest.fixture(scope="module")
def server(container_server):
    return container_server


@pytest.fixture
def push(images, registry):
    return lambda name: registry.push(images[name])


def refused_or_failed(server, job_id, image, **training_input):
    """The reason, from the create or from the job's end."""
    response = server.create(job_id, masterConfig={"imageUri": image}, **training_input)
    if not response.ok:
        return response.json()["error"]["message"]
    job = server.wait(job_id)
    assert job["state"] == "FAILED", (job, server.texts(job_id)[-20:])
    return job["errorMessage"]


def says(reason, *words):
    missing = [word for word in words if word.lower() not in reason.lower()]
    assert not missing, reason


def test_no_such_image(server, registry):
    says(refused_or_failed(server, "missing", f"{registry.address}/trainyard/nothing:v1"), "trainyard/nothing:v1", "not")


def test_no_such_tag(server, push):
    image = push("busybox").removesuffix(":v1") + ":v99"
    says(refused_or_failed(server, "tag", image), "v99")


def test_another_architecture(server, push):
    says(refused_or_failed(server, "architecture", push("other-architecture")), "arm64" if os.uname().machine == "x86_64" else "amd64")


def test_no_credentials(server, make_registry, images, tmp_path):
    registry = make_registry(with_password=True)
    image = registry.push(images["busybox"])
    says(refused_or_failed(server, "stranger", image), "credentials")


def test_no_such_program(server, push):
    says(refused_or_failed(server, "program", push("no-program")), "/nothing/here")


def test_not_executable(server, push):
    says(refused_or_failed(server, "plain", push("not-executable")), "execut")


def test_no_registry(server):
    """The job waits for it, and says so."""
    assert server.create("nobody", masterConfig={"imageUri": "127.0.0.1:1/a/b:v1"}).ok
    server.wait_for_text("nobody", "The image 127.0.0.1:1/a/b:v1 is not resolved yet: 127.0.0.1:1 does not answer: connection refused. "
                                   "The job waits until its registry answers.")
    assert server.get("nobody")["state"] == "QUEUED"
    server.cancel("nobody")
    assert server.wait("nobody")["state"] == "CANCELLED"


def test_a_damaged_blob(make_registry, make_server, images, way):
    """What the registry sends is not what the digest says."""
    registry = make_registry()
    image = images.derive("busybox", "damaged", files={"/payload": os.urandom(4096)}, cmd=["/bin/sh", "-c", "exit 0"])
    uri = registry.push(image)
    layer = json.loads(images.blob(image.digest))["layers"][-1]["digest"]
    path = registry.blob_path(layer)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    server = make_server(*way.flags)
    says(refused_or_failed(server, "damaged", uri), "digest")


def test_a_registry_that_dies_during_the_pull(make_registry, make_server, cutting_proxy, images, way):
    """The first connections break: the pull goes on where it ended, or is tried again."""
    registry = make_registry()
    uri = registry.push(images.derive("busybox", "cut", layers=[], files={"/payload": os.urandom(8 << 20)},
                                      cmd=["/bin/sh", "-c", "wc -c </payload"]))
    proxy = cutting_proxy(registry, 3 << 20)
    server = make_server(*way.flags)
    response = server.create("cut", masterConfig={"imageUri": proxy.reference(uri)})
    assert response.ok, response.text
    wait_for(lambda: proxy.cuts or None, lambda: str(server.texts("cut")))
    proxy.heal()
    job = server.wait("cut")
    if job["state"] == "SUCCEEDED":
        assert str(8 << 20) in server.texts("cut")
    else:
        says(job["errorMessage"], proxy.address)


def test_no_space_for_the_layers(make_registry, images, way, environments):
    """A data directory on a file system that is too small."""
    if os.geteuid() != 0:
        pytest.skip("a file system of its own needs root")
    registry = make_registry()
    uri = registry.push(images.derive("busybox", "fat", files={"/payload": os.urandom(96 << 20)}))
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-small-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=True)
        try:
            flags = (*way.flags, "--queue-below-free", "0", "--refuse-below-free", "0")
            server = Server(pathlib.Path(folder) / "data", *flags, environments=environments)
            try:
                if way.engine:  # it has a store elsewhere: what is loaded from here has no room
                    pytest.skip("the engine's store is not in the data directory")
                says(refused_or_failed(server, "fat", uri), "the disk has", "remove images")
            finally:
                server.stop()
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def test_credentials_of_docker(make_registry, make_server, images, way, tmp_path, monkeypatch):
    registry = make_registry(with_password=True)
    image = registry.push(images["busybox"])
    monkeypatch.setenv("DOCKER_CONFIG", str(docker_config(tmp_path / "docker", registry.address)))
    server = make_server(*way.flags)
    submit_image(server, "friend", image, master=shell("echo in"))
    assert server.wait("friend")["state"] == "SUCCEEDED", server.texts("friend")


# The engine itself.


def test_an_engine_that_is_not_there(make_server, engine, push):
    """It went away after the server had found it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        socket = pathlib.Path(folder) / "engine.sock"
        socket.symlink_to(engine.socket)
        server = make_server("--container-engine", "api", "--engine-socket", str(socket))
        socket.unlink()
        says(refused_or_failed(server, "nobody", push("busybox")), "there is no container engine", "engine.sock")


def test_an_engine_that_goes_away_in_the_middle(make_server, make_engine, push):
    engine = make_engine()
    server = make_server("--container-engine", "api", "--engine-socket", engine.socket)
    server.way = api(engine)
    submit_image(server, "alone", push("busybox"), master=shell("echo began; while :; do sleep 0.2; done"))
    server.wait_for_text("alone", "began")
    engine.kill()
    wait_for(lambda: True if any("went away" in text for text in server.texts("alone")) else None,
             lambda: str(server.texts("alone")))
    assert "endTime" not in server.get("alone"), "the container may still run"
    engine.start()
    wait_for(lambda: True if server.texts("alone").count("began") > 1 else None, lambda: str(server.texts("alone")))
    assert len(engine.containers()) == 1, "the former attempt's is gone"
    says(str(server.texts("alone")), "was lost. Reason: The container engine went away", "is restarted", "stopped or started again")
    server.cancel("alone")
    server.wait("alone")
    stop_clean(server)


class EngineThatStartsAndSaysNothing(socketserver.ThreadingUnixStreamServer):
    """Before an engine: passes everything on, and drops the connection instead of the answer to the first start."""

    daemon_threads = True

    def __init__(self, path, engine):
        self.engine, self.dropped = engine, threading.Event()
        super().__init__(str(path), Passing)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(socketserver.BaseRequestHandler):
    server: Any  # Dropping, below

    def handle(self):
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self.server.engine)
            sides = {self.request: engine, engine: self.request}
            drops = False
            while True:
                for side in select.select(list(sides), [], [])[0]:
                    chunk = side.recv(1 << 16)
                    if side is self.request and b"/start HTTP/1.1" in chunk and not self.server.dropped.is_set():
                        self.server.dropped.set()
                        drops = True
                    if not chunk or drops and side is engine:
                        return
                    sides[side].sendall(chunk)


def test_an_engine_that_goes_away_while_it_starts_a_container(make_server, engine, push):
    """Nobody knows whether it runs: another attempt is made, and what the first one left is removed."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        proxy = EngineThatStartsAndSaysNothing(pathlib.Path(folder) / "engine.sock", engine.socket)
        server = make_server("--container-engine", "api", "--engine-socket", proxy.server_address)
        server.way = api(engine)
        run_job(server, "again", push("busybox"), "SUCCEEDED", master=shell("echo began"))
        assert proxy.dropped.is_set()
        says(str(server.texts("again", "service")), "was lost", "is restarted")
        stop_clean(server)
        proxy.shutdown()
        proxy.server_close()


def test_an_engine_that_is_started_again_at_once(make_server, make_engine, push):
    """With socket activation it was never gone for those who call it, but what the container printed meanwhile is lost: the attempt
    is no success."""
    engine = make_engine(activated=True)
    server = make_server("--container-engine", "api", "--engine-socket", engine.socket)
    server.way = api(engine)
    server.upload("signs", "there", b"")
    script = "echo began; until [ -e /gcs/signs/go ]; do sleep 0.1; done; echo done"
    submit_image(server, "gap", push("busybox"), master=shell(script))
    server.wait_for_text("gap", "began")  # it is silent now: its stream ends between two frames
    engine.kill()
    server.upload("signs", "go", b"")
    engine.start()
    job = server.wait("gap")
    texts = server.texts("gap")
    says(job.get("errorMessage", "") + str(texts), "The output of the container broke off")
    assert job["state"] == "SUCCEEDED" and "done" in texts, (job, texts)  # at the second try
    stop_clean(server)


def test_a_program_that_closes_its_output(server, push):
    """The output ends before the program: it is waited for."""
    job = run_job(server, "mute", push("busybox"), "FAILED", master=shell("echo began; exec >&- 2>&-; sleep 2; exit 1"))
    assert "exited with a non-zero status of 1" in job["errorMessage"], job


def test_a_killed_process_that_follows_a_container(container_server, way, push):
    """Its container must not outlive the attempt."""
    server = container_server
    if not way.engine:
        pytest.skip("an OCI runtime's container is below the supervisor")
    submit_image(server, "followed", push("busybox"), master=shell("echo began; while :; do sleep 0.2; done"))
    server.wait_for_text("followed", "began")
    supervisor = next(pid for pid, command in processes_with(f"{server.data}/attempts/") if " replica " in command)
    inits = children(supervisor)
    followers = [pid for init in inits for pid in children(init)]
    assert followers
    for pid in followers:
        kill(pid)
    wait_for(lambda: True if server.texts("followed").count("began") == 2 else None, lambda: str(server.texts("followed")))
    assert len(list(way.engine.containers())) == 1
    server.cancel("followed")
    server.wait("followed")
    wait_for(lambda: True if not leftovers(server) else None, lambda: str(leftovers(server)))


def children(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
