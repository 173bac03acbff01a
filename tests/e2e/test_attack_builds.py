"""The build of a job's package reaches nothing but its own layer: setup.py and a build backend of its own try
(tests/trainers/poisoner), in a runtime version and in an image, with a server run by root and by an ordinary user."""

import io
import json
import os
import pathlib
import shutil
import stat
import tarfile
import tempfile

import pytest

from container_engines import submit_image
from server_of_account import ServerOfAccount
from test_container_packages import python_with_pip  # noqa: F401  (a fixture)
from trainyard_server import ROOT, Server, end_supervisors, processes_with, wait_for

RUNTIME = "0.9"  # nothing but the system's Python: built without a package index
USER = 64322  # nobody's
MARK = "canary-of-the-server"
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def poisoner(target, name="poisoner", pyproject=None):
    """The source distribution, with the target in it. Another `name` makes it another package's file."""
    folder = ROOT / "tests/trainers/poisoner"
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.py")}
    files["target.json"] = json.dumps(target).encode()
    files["PKG-INFO"] = b"Metadata-Version: 1.0\nName: poisoner\nVersion: 1.0\n"
    if pyproject:
        files["pyproject.toml"] = pyproject.encode()
    return archive(f"{name}-1.0", files)


def harmless(name):
    return archive(f"{name}-1.0", {"setup.py": f"from setuptools import setup\nsetup(name='{name}', version='1.0', py_modules=['{name}'])\n".encode(),
                                   f"{name}.py": b"print('harmless runs', flush=True)\n"})


def archive(top, files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for path, content in files.items():
            info = tarfile.TarInfo(f"{top}/{path}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture(params=["own account", "ordinary user"])
def server(request, monkeypatch):
    if request.param == "ordinary user" and (os.geteuid() != 0 or not shutil.which("setpriv")):
        pytest.skip("becoming another user needs root and setpriv")
    monkeypatch.setenv("SECRET_OF_THE_SERVER", MARK)
    # Not below /tmp, of which a build sees nothing anyway.
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-builds-") as folder:
        folder = pathlib.Path(folder).resolve()
        folder.chmod(0o755)
        flags = ("--stop-grace", "1", "--warm-interpreters", "off")  # no file of the server's may change while a build runs
        server = Server(folder / "data", *flags) if request.param == "own account" else ServerOfAccount(folder, USER, *flags)
        (server.data / f"environments/runtimes.d/{RUNTIME}.json").write_text(json.dumps({"version": RUNTIME, "pythons": ["3.11"]}))
        server.stop()
        server.start()
        yield server
        server.stop()
        end_supervisors(server.data)


@pytest.fixture
def target(server):
    """A neighbour runs, and its runtime is there."""
    uri = server.upload("packages", "harmless-1.0.tar.gz", archive("harmless-1.0", {
        "setup.py": b"from setuptools import setup\nsetup(name='harmless', version='1.0', py_modules=['waits'])\n",
        "waits.py": b"import time\nprint('waiting', flush=True)\ntime.sleep(600)\n"}))
    server.submit("victim", packageUris=[uri], pythonModule="waits", runtimeVersion=RUNTIME)
    server.wait_for_text("victim", "waiting")
    runtime = next((server.data / "environments/runtimes").glob(f"{RUNTIME}-*/bin")).parent
    victim = next(path for path in (server.data / "attempts").iterdir() if path.is_dir())
    return {"data": str(server.data), "victim": str(victim), "runtime": str(runtime), "mark": MARK}


def state_of(folder):
    """Every file with its size and time: what a build may not change."""
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in sorted(folder.rglob("*"))
            if not path.is_dir() and "__pycache__" not in path.parts and path.suffix not in (".use", ".lock")}


def attack(server, target, job_id, uris):
    server.submit(job_id, packageUris=uris, pythonModule="poisoner.task", runtimeVersion=RUNTIME)
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", (job.get("errorMessage"), server.texts(job_id))
    said = [text for text in server.texts(job_id) if text.startswith("RESULTS ")]
    assert len(said) == 1, server.texts(job_id)
    return json.loads(said[0].removeprefix("RESULTS "))


FOUND_NOTHING = ("secrets", "others", "machine_secrets", "own_environment", "others_environment", "sockets", "locks")
FAILED = ("server_socket", "forge_log", "forge_exit", "new_attempt", "runtime", "hook", "cache", "layers", "machine", "machine_programs",
          "raw_socket", "become_root", "host_name")
SUCCEEDED = ("leftover", "own_layer")  # with what comes of them below
VARIABLES = {"HOME", "LANG", "LOGNAME", "NO_COLOR", "PATH", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED", "TMPDIR", "USER"}


def check(results, server):
    assert {name: results[name] for name in FOUND_NOTHING if results[name]} == {}
    assert [name for name in FAILED if not isinstance(results[name], str)] == []
    assert {name: results[name] for name in SUCCEEDED if results[name] is not None} == {}
    assert set(results) == {*FOUND_NOTHING, *FAILED, *SUCCEEDED, "rights", "uid", "processes", "variables"}
    assert all(int(results["rights"][name], 16) == 0 for name in ("CapEff", "CapPrm")), results["rights"]
    assert results["rights"]["NoNewPrivs"] == "1"
    assert results["uid"] != 0, "root's files are root's, whatever root may do"
    assert results["processes"] < 20, "its own process namespace"
    strange = [name for name in results["variables"]
               if name not in VARIABLES and not name.startswith(("PIP_", "UV_", "LC_", "SSL_", "PEP517_", "_PYPROJECT_HOOKS", "SETUPTOOLS"))
               and not name.lower().endswith("_proxy") and name not in ("TZ", "LANGUAGE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PYTHONPATH")]
    assert strange == []
    assert not (server.data / "attempts/poison").exists() and not pathlib.Path("/etc/poison").exists()


@pytest.mark.parametrize("way", ["setup.py", "backend"])
def test_a_build_reaches_only_its_layer(way, server, target):
    folders = [server.data / "environments" / name for name in ("runtimes", "site", "tools")] + [server.data / "run"]
    before = [state_of(folder) for folder in folders]
    package = server.upload("packages", "poisoner-1.0.tar.gz", poisoner(target, pyproject=PYPROJECT if way == "backend" else None))
    second = server.upload("packages", "second-1.0.tar.gz", harmless("second"))
    results = attack(server, target, "poison", [package, second])
    check(results, server)
    assert [state_of(folder) for folder in folders] == before
    assert not (server.data / "run/1").exists(), "the second package went where the first one wanted"
    wait_for(lambda: True if not processes_with(f"{MARK}-stays") else None, lambda: str(processes_with(f"{MARK}-stays")))
    assert server.get("victim")["state"] == "RUNNING"
    # The next job on the same runtime runs its own code only.
    server.submit("next", packageUris=[second], pythonModule="second", runtimeVersion=RUNTIME)
    assert server.wait("next")["state"] == "SUCCEEDED"
    assert "harmless runs" in server.texts("next") and "poisoned" not in "".join(server.texts("next"))


def test_what_is_kept_of_a_build(server, target):
    package = server.upload("packages", "poisoner-1.0.tar.gz", poisoner(target))
    attack(server, target, "poison", [package])
    layer = next(path.parent for path in (server.data / "environments/layers").glob("*/pth-ran"))
    owner = server.data.stat().st_uid
    for path in [layer, *layer.rglob("*")]:
        status = path.lstat()
        assert status.st_uid == owner, path
        assert stat.S_ISLNK(status.st_mode) or not status.st_mode & (stat.S_ISUID | stat.S_ISGID | 0o022), path
        assert not stat.S_ISFIFO(status.st_mode), path
    assert (layer / "bin/rootly").exists() and not (layer / "evil").is_symlink() and not (layer / "evil-too").is_symlink()
    # The layer's own .pth ran, as it may, but never with more than the build's rights.
    ran_as = set((layer / "pth-ran").read_text().split())
    assert ran_as and "0" not in ran_as
    said = [text for text in server.texts("poison") if text.startswith("Dropped ")]
    assert "Dropped evil: it is a link to /etc, outside of the installed packages." in said
    assert "Dropped pipe: it is a pipe, a socket or a device." in said
    assert [path.name for path in (server.data / "environments/layers").iterdir() if path.name.endswith(".build")] == []


def test_a_build_that_is_cancelled_leaves_nothing(server, target):
    setup = ("import subprocess, sys, time\n"
             f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{MARK}-stays'], start_new_session=True)\n"
             "print('building', flush=True)\ntime.sleep(600)\n")
    package = server.upload("packages", "slow-1.0.tar.gz", archive("slow-1.0", {"setup.py": setup.encode()}))
    server.submit("slow", packageUris=[package], pythonModule="slow", runtimeVersion=RUNTIME)
    wait_for(lambda: processes_with(f"{MARK}-stays") or None, lambda: str(server.texts("slow")))
    server.cancel("slow")
    assert server.wait("slow")["state"] == "CANCELLED"
    wait_for(lambda: True if not processes_with(f"{MARK}-stays") else None, lambda: str(processes_with(f"{MARK}-stays")))


def test_a_build_in_an_image(container_server, python_with_pip):  # noqa: F811
    """It is a container of the image: root there, and it sees what a container sees."""
    server = container_server
    target = {"data": str(server.data), "victim": str(server.data / "attempts/other"), "runtime": "/nonexistent/runtimes/r", "mark": "no-mark"}
    package = server.upload("packages", "poisoner-1.0.tar.gz", poisoner(target))
    submit_image(server, "poison_image", python_with_pip, packageUris=[package], pythonModule="poisoner.task")
    job = server.wait("poison_image")
    assert job["state"] == "SUCCEEDED", (job.get("errorMessage"), server.texts("poison_image"))
    results = json.loads(next(text for text in server.texts("poison_image") if text.startswith("RESULTS ")).removeprefix("RESULTS "))
    assert {name: results[name] for name in ("secrets", "others", "own_environment", "others_environment", "sockets", "locks") if results[name]} == {}
    failed = ["server_socket", "forge_log", "forge_exit", "new_attempt", "runtime", "hook", "cache", "layers", "host_name"]
    if not server.way.engine:  # an engine's containers have the rights that the engine gives
        failed.append("raw_socket")
        assert results["rights"]["NoNewPrivs"] == "1", results["rights"]
    assert [name for name in failed if not isinstance(results[name], str)] == []
    assert results["processes"] < 20
    assert not processes_with("no-mark-stays")
    kept = list((server.data / "images").rglob("rootly"))
    if os.geteuid() == 0 and kept:  # an engine keeps its images itself
        assert all(not path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID) for path in kept)
        assert any("Removed the setuid and setgid bits of" in text for text in server.texts("poison_image"))
