"""The two ways of running a container, for tests: an OCI runtime, and the API of an engine. Fixtures; conftest.py imports them.

Tests that take `way` run once with each. A private podman serves the API: its store, settings and socket are below one temporary
folder, nothing of the machine's own podman or Docker is touched.
"""

import hashlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
from typing import Any

import pytest

from container_images import needs
from trainyard_server import DEADLINE_S, Server, end_supervisors, processes_with, wait_for

OCI_RUNTIMES = ("crun", "runc")


class Engine:
    """`podman system service` on a Unix socket; may be killed and started again. Speaks the Docker Engine API.

    An `activated` one has its socket from us, as from systemd: while it is away, who calls it waits.
    """

    def __init__(self, folder, registries=(), user=None, activated=False):
        self.folder, self.user, self.listener = pathlib.Path(folder), user, None
        self.socket = str(self.folder / "podman.sock")
        if activated:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.socket)
            self.listener.listen()
        settings = {
            # podman's own default, unlimited, is more than a container may have on some machines.
            "containers.conf": '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=8192:8192"]\n'
                               '[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n'
                               f'tmp_dir = "{folder}/tmp"\n',  # how containers ended is there; another podman would share it
            "storage.conf": f'[storage]\ndriver = "{self.driver()}"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/data"\n',
            "registries.conf": "".join(f'[[registry]]\nlocation = "{address}"\ninsecure = true\n' for address in registries),
            "policy.json": '{"default": [{"type": "insecureAcceptAnything"}]}',
        }
        for name, text in settings.items():
            (self.folder / name).write_text(text)
        self.environment = {**os.environ, "CONTAINERS_CONF": f"{folder}/containers.conf",
                            "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
                            "CONTAINERS_REGISTRIES_CONF": f"{folder}/registries.conf", "XDG_RUNTIME_DIR": f"{folder}"}
        self.environment.pop("DOCKER_CONFIG", None)
        self.start()

    def driver(self):
        """overlay, where its folder's file system can be below one; else copies."""
        with tempfile.TemporaryDirectory(dir=self.folder) as probe:
            for name in ("lower", "upper", "work", "merged"):
                os.mkdir(f"{probe}/{name}")
            options = f"lowerdir={probe}/lower,upperdir={probe}/upper,workdir={probe}/work"
            mounted = subprocess.run(["unshare", "-m", "mount", "-t", "overlay", "-o", options, "overlay", f"{probe}/merged"],
                                     capture_output=True)
        return "vfs" if mounted.returncode else "overlay"

    def start(self):
        command = ["podman", "system", "service", "-t", "0"]
        if self.listener:
            command = ["/bin/sh", "-c", 'export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@" 3<&0 </dev/null', "sh", *command]
        else:
            command.append(f"unix://{self.socket}")
        with open(self.folder / "log", "ab") as log:
            stdin: Any = self.listener or subprocess.DEVNULL
            self.process = subprocess.Popen(command, env=self.environment, stdin=stdin,
                                            stdout=log, stderr=log, start_new_session=True)
        wait_for(lambda: self.answers() or None, lambda: "no podman service: " + (self.folder / "log").read_text()[-2000:])

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            return self.request("GET", "/_ping")[0] == 200
        except OSError:
            return False

    def request(self, method, path):
        connection = http.client.HTTPConnection("engine", timeout=DEADLINE_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(self.socket)
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.sock.close()

    def containers(self):
        """Names of all that there are, running or not."""
        status, body = self.request("GET", "/v1.41/containers/json?all=1")
        assert status == 200, body
        return sorted(name.lstrip("/") for container in json.loads(body) for name in container["Names"])

    def remove_image(self, name):
        self.request("DELETE", f"/v1.41/images/{name}?force=1")

    def images(self):
        return [name for image in json.loads(self.request("GET", "/v1.41/images/json")[1]) for name in image["RepoTags"] or []]

    def kill(self):
        """The service only: what it started lives on, as after a crash."""
        self.process.kill()
        self.process.wait()
        if not self.listener:
            pathlib.Path(self.socket).unlink(missing_ok=True)

    def stop(self):
        self.podman("rm", "--force", "--all", "--time", "0")
        self.kill()
        if self.listener:
            self.listener.close()
        # Not by `podman system reset`: it frees the locks of every podman of the machine.
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):
            if line.split()[1].startswith(f"{self.folder}/"):
                subprocess.run(["umount", "-l", line.split()[1]], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def podman(self, *words):
        return subprocess.run(["podman", *words], env=self.environment, capture_output=True, text=True, timeout=DEADLINE_S)


def new_engine(folder, registries, **more):
    needs("podman", "runc")
    if os.geteuid() != 0:
        pytest.skip("the private podman of the tests is run by root")
    return Engine(folder, registries, **more)


@pytest.fixture(scope="session")
def engine(registry):
    """A podman of the session's own, which knows `registry`. Do not kill it: make_engine is for that."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-podman-") as folder:  # a socket's path is short
        engine = new_engine(folder, [registry.address])
        yield engine
        engine.stop()


@pytest.fixture
def make_engine(registry):
    """make_engine(): an engine of one test, to be killed and started again."""
    engines, folders = [], []

    def make(*registries, **more):
        folders.append(tempfile.mkdtemp(dir="/var/tmp", prefix="ty-podman-"))
        engines.append(new_engine(folders[-1], [registry.address, *registries], **more))
        return engines[-1]

    yield make
    for engine in engines:
        if engine.process.poll() is not None:
            engine.start()
        engine.stop()


class Way:
    """One way of running containers: the flags of `serve` for it."""

    def __init__(self, name, flags, engine=None):
        self.name, self.flags, self.engine = name, flags, engine

    def __repr__(self):
        return self.name


def oci():
    if not any(shutil.which(runtime) for runtime in OCI_RUNTIMES):
        pytest.skip("no crun and no runc on PATH (./dev setup installs one)")
    return Way("oci", ["--container-engine", "oci"])


def api(engine):
    return Way("api", ["--container-engine", "api", "--engine-socket", engine.socket], engine)


@pytest.fixture(params=["oci", "api"], scope="module")
def way(request):
    return oci() if request.param == "oci" else api(request.getfixturevalue("engine"))


@pytest.fixture(scope="module")
def container_server(way, environments):
    """One server for the tests of a module, by each way; nothing of its containers may be left when they are done."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-containers-") as folder:
        server = Server(pathlib.Path(folder) / "data", *way.flags, "--stop-grace", "2", environments=environments)
        server.way = way
        yield server
        stop_clean(server)


def stop_clean(server):
    """Stops a server whose jobs have all ended, and looks for what is left of them."""
    wait_for(lambda: None if leftovers(server) else True, lambda: f"left behind: {leftovers(server)}")
    server.stop()
    end_supervisors(server.data)


def leftovers(server):
    """What should not be there once all jobs of the server have ended."""
    data = os.path.realpath(server.data)
    found = [f"process {pid}: {command}" for pid, command in processes_with(f"{server.data}/attempts/")]
    found += [f"mount {line.split()[4]}" for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
              if line.split()[4].startswith(data)]
    found += [f"cgroup {path}" for path in dead_cgroups(data)]
    found += [f"attempt {path}" for path in pathlib.Path(data, "attempts").glob("*")]
    found += [f"unfinished {path}" for pattern in ("pulls/*", "package_layers/*.partial")
              for path in pathlib.Path(data, "images").glob(pattern)]
    engine = getattr(server, "way", None) and server.way.engine
    if engine:
        found += [f"container {name}" for name in engine.containers()]
    return found


def installation_groups(data):
    """Cgroups of the server's replicas: trainyard-INSTALLATION-ATTEMPT-PID."""
    attempts = os.path.realpath(f"{data}/attempts")
    installation = hashlib.sha1(f"{len(attempts)}:{attempts}".encode()).hexdigest()[:10]
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        yield from (f"{root}/{name}" for name in folders if name.startswith(f"trainyard-{installation}-"))


def dead_cgroups(data):
    """Those of them whose supervisor is gone."""
    return (path for path in installation_groups(data) if not os.path.exists(f"/proc/{path.rsplit('-', 1)[1]}"))


def run_job(server, job_id, image, state="SUCCEEDED", **training_input):
    """Runs a job with one image to its end; `master` is more of masterConfig."""
    submit_image(server, job_id, image, **training_input)
    job = server.wait(job_id)
    assert job["state"] == state, (job, server.texts(job_id)[-40:])
    return job


def shell(script):
    """masterConfig for a line of shell in an image that has one."""
    return {"containerCommand": ["/bin/sh", "-c", script]}


def submit_image(server, job_id, image, master=None, **training_input):
    return server.submit(job_id, masterConfig={"imageUri": image, **(master or {})}, **training_input)
