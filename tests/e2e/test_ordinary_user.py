"""What a server of an ordinary user gives its replicas: all that root's gives, without port 443, without a /gcs of the machine's, and
without a setting. Only root can play the user."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import trainyard_server
from container_engines import OCI_RUNTIMES, submit_image
from server_of_account import ServerOfAccount
from test_unmodified_gs import BUILD_DEADLINE_S, METADATA_REFUSED_S, content, real_environments, run, trainers  # fixtures  # noqa: F401
from trainyard_server import end_supervisors

USER = 64323  # nobody's
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becoming another user needs root and setpriv")

DOORS = '''
import json, os, subprocess, urllib.request

def get(url, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20).read().decode()
    except OSError as error:
        return repr(error)

flavor = {"Metadata-Flavor": "Google"}
project = "/computeMetadata/v1/project/project-id"
found = {"object": get("https://storage.googleapis.com/input/greeting"),
         "name": get("http://metadata.google.internal" + project, **flavor),
         "address": get("http://169.254.169.254" + project, **flavor),
         "own": get("http://" + os.environ.get("GCE_METADATA_HOST", "none") + project, **flavor)}
try:
    with open("/gcs/input/answer", "w") as file:
        file.write(open("/gcs/input/greeting").read() + " yourself")
    found["files"] = sorted(os.listdir("/gcs/input"))
except OSError as error:
    found["files"] = repr(error)
try:
    os.mkdir("/made-by-a-trainer")
    found["made"] = "made"
except OSError as error:
    found["made"] = error.strerror
beside = __file__ + ".vocabulary"
try:
    found["beside"] = "of another job" if os.path.exists(beside) else "mine"
    open(beside, "w").close()
except OSError as error:
    found["beside"] = error.strerror
found["root"] = sorted(os.listdir("/"))
print("RESULT " + json.dumps(found), flush=True)
'''
ALL = {"object": "hello", "name": "p", "address": "p", "own": "p", "files": ["answer", "greeting"]}


def open_home_of_root(folder):
    """A home of root's that others may enter: Pythons with which runtimes were built for these tests may lie there."""
    pythons = pathlib.Path("/root/.pyenv")
    if not pythons.is_dir():
        return {}
    (folder / "home-of-root/.pyenv").mkdir(parents=True)
    os.chmod(folder / "home-of-root", 0o755)
    return {folder / "home-of-root/.pyenv": pythons, "/root": folder / "home-of-root"}


@pytest.fixture
def make_user_server():
    """Servers of the user on a machine without /gcs, unless `without` says otherwise."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-user-") as folder:
        made = []

        def make(*flags, environments=None, without="gcs", around=""):
            own = pathlib.Path(folder) / str(len(made))
            (own / "data/environments/runtimes").mkdir(parents=True)
            for path in folder, own:
                os.chmod(path, 0o755)
            mounts = {}
            for built in environments.resolve().glob("runtimes/*-*") if environments else ():
                if built.is_dir():  # it is only read
                    mounts[own / "data/environments/runtimes" / built.name] = built
            for place in mounts:
                place.mkdir()
            if mounts:
                mounts |= open_home_of_root(own)
            made.append(ServerOfAccount(own, USER, *flags, mounts=mounts, without=without, around=around))
            return made[-1]

        yield make
        for server in made:
            server.stop()
            end_supervisors(server.data)


def seen_by(server, job_id):
    assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)
    return next(json.loads(text.removeprefix("RESULT ")) for text in server.texts(job_id) if text.startswith("RESULT "))


def submit_package(server, upload_package, job_id, tmp_path):
    folder = tmp_path / job_id / "doors"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "task.py").write_text(DOORS)
    server.submit(job_id, packageUris=[upload_package(server, folder.parent)], pythonModule="doors.task")


@pytest.fixture
def upload_package():
    def go(server, folder):
        (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='doors', version='1', packages=['doors'])\n")
        subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
        return server.upload("packages", "doors.tar.gz", next((folder / "dist").glob("*.tar.gz")).read_bytes())
    return go


@pytest.mark.parametrize("without", ["gcs", None], ids=["a machine without /gcs", "a machine with it"])
def test_a_package(make_user_server, upload_package, tmp_path, without):
    server = make_user_server(without=without)
    server.upload("input", "greeting", b"hello")
    submit_package(server, upload_package, "doors", tmp_path)
    seen = seen_by(server, "doors")
    assert {key: seen[key] for key in ALL} == ALL, seen
    assert seen["beside"] == "mine", seen
    assert seen["made"] in ("Read-only file system", "Permission denied")
    there = set(os.listdir("/")) | {"gcs"}
    assert {"gcs", "usr", "tmp", "proc"} <= set(seen["root"]) <= there and not {"bin", "etc", "dev"} - set(seen["root"])
    assert content(server, "answer", "input") == b"hello yourself" and (server.data / "buckets/input/answer").stat().st_uid == USER
    assert "will not" not in server.stderr(), server.stderr()
    assert not [text for text in server.texts("doors") if "gs:// works here" in text or "not there" in text], server.texts("doors")


def test_a_replica_finds_the_next_server(make_user_server, upload_package, tmp_path):
    """The ports of the front stay where they are, and so does the way of a replica that outlives its server."""
    server = make_user_server()
    ports = (server.data / "run/front-ports").read_text()
    server.kill()
    server.start()
    assert (server.data / "run/front-ports").read_text() == ports
    server.upload("input", "greeting", b"hello")
    submit_package(server, upload_package, "doors", tmp_path)
    assert seen_by(server, "doors")["object"] == "hello"


def test_a_shell(make_user_server, upload):
    server = make_user_server()
    server.upload("input", "greeting", b"hello")
    server.submit("open", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
    server.wait("open", lambda job: job["state"] == "RUNNING")
    url = "https://storage.googleapis.com/input/greeting"
    ask = f"import threading as t, urllib.request as r; t.Thread(target=lambda: print('said', r.urlopen('{url}').read().decode())).start()"
    said = server.trainyard("jobs", "shell", "open", input=f'python3 -c "{ask}"; ls -d /gcs/input\nexit\n')
    assert said.returncode == 0 and "said hello" in said.stdout and "/gcs/input" in said.stdout.split(), said
    server.cancel("open")
    server.wait("open")


# Runs a command where user namespaces are forbidden: in one whose owner has said so.
FORBIDDEN = '''#!/usr/bin/env python3
import ctypes, os, sys
made, mapped = os.pipe(), os.pipe()
own = os.getpid()
if os.fork() == 0:
    os.read(made[0], 1)
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{own}/{name}", "w") as file:
            file.write("0 0 100000")
    os.write(mapped[1], b"x")
    os._exit(0)
assert ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0, os.strerror(ctypes.get_errno())  # CLONE_NEWUSER
os.write(made[1], b"x")
os.read(mapped[0], 1)
os.wait()
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
os.execvp(sys.argv[1], sys.argv[1:])
'''


def test_where_namespaces_are_forbidden_one_line_names_the_setting(make_user_server, upload_package, tmp_path):
    wrapper = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="ty-forbidden-")) / "forbidden"
    wrapper.write_text(FORBIDDEN)
    wrapper.chmod(0o755)
    try:
        server = make_user_server(without=None, around=wrapper)
        submit_package(server, upload_package, "less", tmp_path)
        seen = seen_by(server, "less")
    finally:
        shutil.rmtree(wrapper.parent)
    assert seen["object"] != "hello"
    said = [line for line in server.stderr().splitlines() if "will not work in replicas" in line]
    assert len(said) == 1 and "TensorFlow's gs://, gsutil and /gcs" in said[0], server.stderr()
    assert "as root: sysctl user.max_user_namespaces=10000" in said[0], said
    lines = [text for text in server.texts("less") if "gs:// works here" in text]
    assert len(lines) == 1 and "user.max_user_namespaces" in lines[0], server.texts("less")


@pytest.mark.parametrize("runtime", OCI_RUNTIMES)
def test_a_container(make_user_server, images, registry, runtime):
    path = shutil.which(runtime, path=os.environ["PATH"] + ":/usr/sbin")
    if not path:
        pytest.skip(f"{runtime} is not installed")
    if "doors" not in images.made:
        images.derive("python", "doors", files={"/app/task.py": DOORS}, cmd=["python3", "/app/task.py"])
    server = make_user_server("--container-engine", "oci", "--container-runtime", path)
    server.upload("input", "greeting", b"hello")
    submit_image(server, "doors", registry.push(images["doors"]))
    seen = seen_by(server, "doors")
    assert {key: seen[key] for key in ALL} == ALL, seen


@pytest.fixture
def start(make_user_server, real_environments, monkeypatch):  # noqa: F811
    monkeypatch.setattr(trainyard_server, "DEADLINE_S", BUILD_DEADLINE_S)
    return make_user_server(environments=real_environments)


def test_unmodified_programs(start, run):  # noqa: F811
    """TensorFlow, Google's clients, gsutil and curl: each with the names that are built into it."""
    assert run(start, "tensorflow_gfile", "data", "2.15") == {"lines": 1000, "sum": 124750}
    seen = run(start, "python_clients", "storage_client", "2.15")
    assert seen["text"] == "written by storage.Client()" and seen["listed"] and seen["project"] == "p"
    seen = run(start, "python_clients", "default_credentials", "2.15")
    assert seen["token"].startswith("ya29.trainyard.") and ".any-replica." not in seen["token"]
    assert seen["seconds"] < METADATA_REFUSED_S
    seen = run(start, "commands", "gsutil", "2.15")
    assert "gs://out/gsutil/tree/below/b.txt" in seen["listed"] and seen["text"] == "beta\n" and seen["gone"] == 1
    seen = run(start, "commands", "curl", "2.15")
    assert seen["xml"] == "by curl" and re.match(r"ya29\.trainyard\.\d+-master-replica-0-1\.", seen["shared_token"])
    seen = run(start, "commands", "files", "2.15")
    assert seen["listed"] == ["file.txt", "log.txt"] and content(start, "files/log.txt") == b"0\n1\n2\n"
