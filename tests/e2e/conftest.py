"""Fixtures of the end-to-end tests: servers of the built program, and the trainers as uploaded packages."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

from console_browser import chromium, open_console  # fixtures  # noqa: F401
from container_engines import container_server, engine, make_engine, way  # fixtures  # noqa: F401
from container_images import cutting_proxy, images, make_registry, registry  # fixtures  # noqa: F401
from kube_cluster import make_kubernetes  # fixture  # noqa: F401
from kubernetes_world import make_kubernetes_server, space, three_nodes  # fixtures  # noqa: F401
from slurm_cluster import make_slurm  # fixture  # noqa: F401
from slurm_world import four_nodes, make_slurm_server, node_cache, slurm  # fixtures  # noqa: F401
from trainyard_server import PROGRAM, ROOT, WITHOUT_PYENV, Server, end_supervisors

pytest_plugins = ["failures_at_once", "time_limit"]

Server.environment = WITHOUT_PYENV


def pytest_configure(config):
    config.addinivalue_line("markers", "long: is run by ./dev test --long only")


def pytest_collection_modifyitems(config, items):
    """Without --long what is marked so is left out, not skipped: CI knows its skips by name."""
    left_out = [] if os.environ.get("TRAINYARD_LONG") else [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def environments(tmp_path_factory):
    """Built environments are shared by the servers of all tests: building one takes seconds, TensorFlow's a minute. Set
    TRAINYARD_TEST_ENVIRONMENTS to a folder to keep them."""
    own = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # one for all workers: who needs what another one builds waits for it
        own = own.parent
    folder = pathlib.Path(os.environ.get("TRAINYARD_TEST_ENVIRONMENTS") or own / "environments")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def runtime(environments, tmp_path_factory):
    """Builds a runtime version of the product, once; skips where the package index or the machine does not let it."""
    data = tmp_path_factory.mktemp("runtimes")
    (data / "environments").symlink_to(environments)
    outcomes = {}

    def install(version):
        if version not in outcomes:
            for _ in range(3):  # a gigabyte by way of the internet
                done = subprocess.run([PROGRAM, "runtimes", "install", version, "--data", str(data)], capture_output=True, text=True)
                if not done.returncode or "broke off" not in done.stderr:
                    break
            outcomes[version] = (done.returncode, done.stderr)
        status, said = outcomes[version]
        if status and ("Could not reach the package index" in said or "which this machine does not have" in said):
            pytest.skip(f"runtime version {version}: {said.strip().splitlines()[-1]}")
        assert status == 0, said
        return version

    return install


@pytest.fixture
def make_server(tmp_path, environments):
    servers = []

    def make(*flags, data=None, preexec=None):
        servers.append(Server(data or tmp_path / f"data{len(servers)}", *flags, environments=environments, preexec=preexec))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        end_supervisors(server.data)


@pytest.fixture
def server(make_server):
    return make_server()


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Source distributions of tests/trainers, made once: name -> path."""
    made = {}
    for trainer in sorted((ROOT / "tests/trainers").iterdir()):
        if not (trainer / "setup.py").exists():
            continue
        copy = tmp_path_factory.mktemp("sdist") / trainer.name
        shutil.copytree(trainer, copy)
        subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=copy, check=True, capture_output=True)
        made[trainer.name] = next((copy / "dist").glob("*.tar.gz"))
    return made


@pytest.fixture
def upload(packages):
    """Uploads a trainer's package to a server and returns its URI."""
    return lambda server, name: server.upload("packages", f"{name}.tar.gz", packages[name].read_bytes())


@pytest.fixture
def gcloud():
    path = shutil.which("gcloud")
    if not path:
        pytest.skip("no gcloud on PATH")
    return path


@pytest.fixture
def node():
    if not shutil.which("node") or not (ROOT / "build/node/node_modules/googleapis").exists():
        pytest.skip("no node, or googleapis is not installed in build/node")
    return "node"


@pytest.fixture
def shared_folder():
    """A folder that replicas see: each has a /tmp of its own, and pytest's folders are in /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def with_localhost_names(tmp_path):
    """Puts a command where ml.localhost is a name: here, or else in a mount namespace with a line more in the hosts file."""
    try:
        socket.getaddrinfo("ml.localhost", 443)
        return lambda command: command
    except OSError:
        pass
    if os.geteuid() != 0:
        pytest.skip("ml.localhost does not resolve on this machine (trainyard env says what to do)")
    hosts = tmp_path / "hosts"
    hosts.write_text(pathlib.Path("/etc/hosts").read_text() + "\n127.0.0.1 ml.localhost storage.localhost logging.localhost\n")
    return lambda command: ["unshare", "-m", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh", *command]
