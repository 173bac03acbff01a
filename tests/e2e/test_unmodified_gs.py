"""`gs://` for programs that know nothing of this server: Google's own clients, TensorFlow and commands, unchanged.

The trainers (gs_trainers/) name no endpoint, no credentials and no certificate. The runtime versions are real ones; they are
built once into build/environments and kept there."""

import json
import os
import re
import shutil
import subprocess

import pytest
import requests

import trainyard_server
from trainyard_server import ROOT, wait_for

TRAINERS = ROOT / "tests/e2e/gs_trainers"
NEEDS = {"tpu_mnist": ["tf-models-official==2.2.2"], "tpu_strategy": ["tensorflow-gpu>=2.1", "tf-nightly"]}
BUILD_DEADLINE_S = 900  # the first job of a runtime version waits for its download


@pytest.fixture(scope="module")
def real_environments():
    folder = ROOT / "build/environments"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def start(tmp_path, real_environments, monkeypatch):
    monkeypatch.setattr(trainyard_server, "DEADLINE_S", BUILD_DEADLINE_S)
    servers = []

    def make(*flags):
        servers.append(trainyard_server.Server(tmp_path / f"data{len(servers)}", *flags, environments=real_environments))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        trainyard_server.end_supervisors(server.data)


@pytest.fixture(scope="module")
def trainers(tmp_path_factory):
    made = {}
    for script in TRAINERS.glob("*.py"):
        folder = tmp_path_factory.mktemp("gs") / script.stem
        (folder / script.stem).mkdir(parents=True)
        (folder / script.stem / "__init__.py").touch()
        shutil.copy(script, folder / script.stem / "task.py")
        needs = NEEDS.get(script.stem, [])
        (folder / "setup.py").write_text(f"from setuptools import setup\nsetup(name='{script.stem}', version='1', "
                                         f"packages=['{script.stem}'], install_requires={needs})\n")
        subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
        made[script.stem] = next((folder / "dist").glob("*.tar.gz")).read_bytes()
    return made


@pytest.fixture
def run(trainers):
    """Runs one check of a trainer to its end and returns what it printed."""
    def go(server, trainer, what, runtime):
        uri = server.upload("packages", f"{trainer}.tar.gz", trainers[trainer])
        server.submit(what, runtimeVersion=runtime, packageUris=[uri], pythonModule=f"{trainer}.task", args=[what],
                      jobDir=f"gs://out/{what}")
        job = server.wait(what)
        texts = server.texts(what)
        assert job["state"] == "SUCCEEDED", (job, texts[-40:])
        return next(json.loads(text.removeprefix("RESULT ")) for text in texts if text.startswith("RESULT "))
    return go


def content(server, name, bucket="out"):
    response = server.request("GET", f"/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}", params={"alt": "media"})
    assert response.ok, (name, response.text)
    return response.content


# What a client cannot be faster than where the server does it wrong, however busy the machine.
METADATA_REFUSED_S = 9  # its three attempts, when it first wants credentials
CONTINUE_WITHHELD_S = 1  # each write's wait for "100 Continue"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="port 443 and /gcs need root")
pytestmark = needs_root


@pytest.mark.parametrize("runtime", ["2.15", pytest.param("2.21", marks=pytest.mark.long)])
def test_python_clients(start, run, runtime):
    server = start()
    seen = run(server, "python_clients", "storage_client", runtime)
    assert seen["text"] == "written by storage.Client()" and seen["listed"] and seen["project"] == "p"
    assert content(server, "storage_client/client.txt") == b"written by storage.Client()"
    seen = run(server, "python_clients", "default_credentials", runtime)
    assert re.fullmatch(r"ya29\.trainyard\.\d+-master-replica-0-1\.\d+\.[0-9a-f]+\.[0-9a-f]{40}", seen["token"])
    assert (seen["project"], seen["bucket"], seen["jobs"], seen["universe"]) == ("p", "out", 200, "googleapis.com")
    assert seen["seconds"] < METADATA_REFUSED_S
    seen = run(server, "python_clients", "pandas_and_gcsfs", runtime)
    assert seen["equal"] and seen["tail"] == "z" * 10 and seen["size"] == 3_000_000
    assert content(server, "pandas_and_gcsfs/table.csv") == b"x,y\n1,2.0\n2,4.0\n3,6.0\n"


@pytest.mark.parametrize("network", [pytest.param("host", marks=pytest.mark.long), "isolated"])
def test_commands(start, run, network):
    server = start("--network", network)
    seen = run(server, "commands", "gsutil", "2.15")
    assert "gs://out/gsutil/tree/below/b.txt" in seen["listed"] and seen["text"] == "beta\n" and seen["stat"]
    assert seen["back"] == "alpha\n" and seen["gone"] == 1 and str(server.data.resolve()) not in seen["which"]
    assert content(server, "gsutil/tree/below/b.txt") == b"beta\n" and content(server, "gsutil/copy.txt") == b"alpha\n"
    seen = run(server, "commands", "curl", "2.15")
    assert seen["xml"] == "by curl" and re.match(r"ya29\.trainyard\.\d+-master-replica-0-1\.", seen["shared_token"])
    seen = run(server, "commands", "files", "2.15")
    assert seen["listed"] == ["file.txt", "log.txt"]
    assert content(server, "files/log.txt") == b"0\n1\n2\n"
    if shutil.which("gcloud"):
        seen = run(server, "commands", "gcloud", "2.15")
        assert seen["listed"] == ["gs://out/gcloud/tree/a.txt", "gs://out/gcloud/tree/below/b.txt"]
        assert seen["left"] == ["gs://out/gcloud/tree/below/b.txt"] and seen["text"] == "beta\n"


@pytest.mark.parametrize("runtime", ["2.15", pytest.param("2.21", marks=pytest.mark.long)])
def test_tensorflow(start, run, runtime):
    server = start()
    seen = run(server, "tensorflow_gfile", "gfile", runtime)
    print(runtime, "gfile:", seen)
    assert seen["exists"] and not seen["no"] and seen["isdir"] and seen["glob"] == 20 and seen["size"] == 5
    assert seen["listdir"] == ["deep/", "renamed.txt"] and seen["appended"] == "text 0, more" and seen["after"] == [False, False]
    assert seen["big_equal"] and seen["missing"] == "NotFoundError"
    assert seen["write"] < CONTINUE_WITHHELD_S and seen["first_write"] < METADATA_REFUSED_S
    assert content(server, "gfile/many/00.txt") == b"text 0, more"
    assert run(server, "tensorflow_gfile", "data", runtime) == {"lines": 1000, "sum": 124750}
    seen = run(server, "tensorflow_gfile", "checkpoints", runtime)
    assert seen["kept"] == ["ckpt-3", "ckpt-4"] and seen["restored"] == 4 and seen["doubled"] == [3.0] and seen["events"] == 1
    seen = run(server, "tensorflow_gfile", "keras", runtime)
    assert seen["same"] and seen["export"] and seen["weights"] >= 3 and seen["backup"] and seen["board"]


def test_tensorflow_in_a_network_of_its_own(start, run):
    server = start("--network", "isolated")
    assert run(server, "tensorflow_gfile", "data", "2.15") == {"lines": 1000, "sum": 124750}
    assert run(server, "python_clients", "storage_client", "2.15")["listed"]
    assert run(server, "python_clients", "default_credentials", "2.15")["token"].startswith("ya29.trainyard.")


PROBE = '''
import json, os, signal, socket, sys, urllib.request
names = ["storage.googleapis.com", "metadata.google.internal"]
found = {}
for name in names:
    try:
        found[name] = socket.gethostbyname(name)
    except OSError:
        found[name] = None
def owner():
    path = "/computeMetadata/v1/instance/service-accounts/default/token"
    asked = urllib.request.Request("http://" + os.environ["GCE_METADATA_HOST"] + path, headers={"Metadata-Flavor": "Google"})
    return json.load(urllib.request.urlopen(asked, timeout=60))["access_token"].split(".")[2]
print("RESULT " + json.dumps({"names": found, "environment": dict(os.environ), "gcs": os.path.isdir("/gcs") and os.listdir("/gcs"),
                              "owner": owner() if "GCE_METADATA_ROOT" in os.environ else None}), flush=True)
if "stay" in sys.argv:
    signal.pause()
'''


@pytest.fixture
def probe(tmp_path):
    def go(server, job_id, *args):
        folder = tmp_path / job_id
        (folder / "channel_probe").mkdir(parents=True)
        (folder / "channel_probe/__init__.py").touch()
        (folder / "channel_probe/task.py").write_text(PROBE)
        (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='channel_probe', version='1', packages=['channel_probe'])\n")
        subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
        uri = server.upload("packages", "channel_probe.tar.gz", next((folder / "dist").glob("*.tar.gz")).read_bytes())
        server.submit(job_id, packageUris=[uri], pythonModule="channel_probe.task", args=args)
        if "stay" in args:
            wait_for(lambda: any(text.startswith("RESULT ") for text in server.texts(job_id)) or None, lambda: server.texts(job_id))
        else:
            assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)
        return next(json.loads(text.removeprefix("RESULT ")) for text in server.texts(job_id) if text.startswith("RESULT "))
    return go


def test_two_replicas_have_two_tokens(make_server, probe):
    """Each gets its own by its connection. Their names for the metadata server are nobody's elsewhere, and not in their logs."""
    server = make_server()
    seen = [probe(server, name, "stay") for name in ("first", "second")]
    assert [each["owner"] for each in seen] == ["1-master-replica-0-1", "2-master-replica-0-1"]
    hosts = [each["environment"]["GCE_METADATA_HOST"] for each in seen]
    assert hosts == [f"{number}-master-replica-0-1.***.metadata.trainyard" for number in (1, 2)]
    address = seen[0]["names"]["metadata.google.internal"]
    manifest = (server.data / "attempts/1-master-replica-0-1/manifest.pb").read_bytes()
    known = re.search(rb"1-master-replica-0-1\.[0-9a-f]+\.metadata\.trainyard", manifest)

    def owner(host):
        answer = requests.get(f"http://{address}/computeMetadata/v1/instance/service-accounts/default/token",
                              headers={"Host": host, "Metadata-Flavor": "Google"}, timeout=10)
        return answer.json()["access_token"].split(".")[2]

    assert owner(known[0].decode()) == owner("metadata.google.internal") == "any-replica"
    for job_id in ("first", "second"):
        server.cancel(job_id)
        server.wait(job_id)


def test_the_front_stays_where_it_is_over_a_restart(make_server, probe):
    server = make_server()
    before = probe(server, "before")["names"]
    server.kill()
    server.start()
    assert probe(server, "after")["names"] == before
    assert before["storage.googleapis.com"].startswith("127.")
    assert before["metadata.google.internal"] == before["storage.googleapis.com"]


def test_off_leaves_googles_names_alone(make_server, probe):
    seen = probe(make_server("--google-front", "off"), "plain")
    assert not (seen["names"]["storage.googleapis.com"] or "").startswith("127.")
    assert not {"STORAGE_EMULATOR_HOST", "GCE_METADATA_HOST", "CURL_CA_BUNDLE", "BOTO_CONFIG"} & set(seen["environment"])
    assert not seen["gcs"]


@pytest.fixture
def without_rights(tmp_path, monkeypatch):
    """Servers of root that may not listen below port 1024."""
    if not shutil.which("setpriv"):
        pytest.skip("no setpriv to take the right to port 443 away")
    program = tmp_path / "unprivileged"
    program.write_text(f'#!/bin/sh\nexec setpriv --bounding-set=-net_bind_service {trainyard_server.PROGRAM} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(trainyard_server, "PROGRAM", str(program))


def test_without_port_443_connections_are_led_to_another(make_server, probe, without_rights):
    server = make_server()
    before = probe(server, "less")
    assert before["names"]["storage.googleapis.com"].startswith("127.") and before["environment"]["GCE_METADATA_HOST"]
    ports = (server.data / "run/front-ports").read_text()
    assert all(1024 <= int(port) < 32768 for port in ports.split())
    server.kill()
    server.start()
    assert probe(server, "again")["names"] == before["names"] and (server.data / "run/front-ports").read_text() == ports
    assert "will not work" not in server.stderr() and not [text for text in server.texts("less") if "gs:// works here" in text]


# Runs a program for whose calls the kernel has a listener already, and it allows one only.
LISTENED = '''#!/usr/bin/env python3
import ctypes, os, platform, struct, sys
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000), 8)  # BPF_RET: SECCOMP_RET_ALLOW
program = Program(1, ctypes.cast(allow, ctypes.c_void_p))
seccomp = {"x86_64": 317, "aarch64": 277}[platform.machine()]
listener = libc.syscall(seccomp, 1, 8, ctypes.byref(program))  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER
assert listener >= 0, os.strerror(ctypes.get_errno())
os.set_inheritable(listener, True)
os.execvp("setpriv", ["setpriv", "--bounding-set=-net_bind_service", PROGRAM, *sys.argv[1:]])
'''


def test_without_any_way_the_job_says_what_works(make_server, tmp_path, probe, monkeypatch):
    program = tmp_path / "listened"
    program.write_text(LISTENED.replace("PROGRAM", repr(trainyard_server.PROGRAM)))
    program.chmod(0o755)
    monkeypatch.setattr(trainyard_server, "PROGRAM", str(program))
    server = make_server()
    seen = probe(server, "less")
    assert not (seen["names"]["storage.googleapis.com"] or "").startswith("127.")
    assert seen["environment"]["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] == server.replica_url + "/storage/v1/"
    lines = [text for text in server.texts("less") if text.startswith("gs:// works here")]
    assert len(lines) == 1 and "not for TensorFlow, gsutil" in lines[0] and "its log says why" in lines[0]
    said = [line for line in server.stderr().splitlines() if "will not work in replicas" in line]
    assert len(said) == 1 and "TensorFlow's gs:// and gsutil" in said[0] and "under a seccomp listener" in said[0]
