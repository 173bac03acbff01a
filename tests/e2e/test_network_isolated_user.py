"""`serve --network isolated` of an ordinary user: the same as root's (test_network_isolated.py), with and without further ids."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest

from container_engines import leftovers, oci, run_job, submit_image
from server_of_account import ServerOfAccount, become
from test_containers import CLUSTER, TALKERS, python_image
from test_distributed import run
from test_network_isolated import probe, relays, result  # noqa: F401
from trainyard_server import PROGRAM, end_supervisors, kill, processes_with, wait_for

USER = 64323  # nobody's

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becoming another user needs root and setpriv")

# By a client that knows Google's names alone, then as gsutil and TensorFlow find their token.
CURL = """
import os, subprocess
def main(argv=None):
    def curl(*words): return subprocess.run(["curl", "-sS", "--fail", "--max-time", "60", *words], check=True, capture_output=True, text=True).stdout
    url = "https://storage.googleapis.com"
    curl("--data-binary", "by curl", url + "/upload/storage/v1/b/out/o?uploadType=media&name=curled")
    print("READ " + curl(url + "/storage/v1/b/out/o/curled?alt=media"), flush=True)
    token = curl("-H", "Metadata-Flavor: Google", "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token")
    print("TOKEN " + str("ya29." in token), flush=True)
main()
"""

IN_A_CONTAINER = """
import json, os, socket, urllib.request
def ask(url, **options):
    return urllib.request.urlopen(urllib.request.Request(url, **options), timeout=60).read()
ask(os.environ["STORAGE_EMULATOR_HOST"] + "/upload/storage/v1/b/out/o?uploadType=media&name=mine", data=b"by 1234", method="POST")
print("READ " + ask("https://storage.googleapis.com/storage/v1/b/out/o/mine?alt=media").decode())
try: socket.create_connection(("192.0.2.1", 80), 2)
except OSError as error: print("OUTSIDE " + error.strerror)
print("LINKS", *sorted(name for _, name in socket.if_nameindex() if name in ("lo", "eth0")))
print("UID", os.getuid())
"""


@pytest.fixture(scope="module", params=["one id", "further ids"])
def server(request):
    """A server of a user who is nobody special, or to whom /etc/subuid grants ids."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-nets-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        mounts = {}
        if request.param == "further ids":
            if not shutil.which("newuidmap"):
                pytest.skip("no newuidmap on PATH (./dev setup installs it)")
            (folder / "ids").write_text(f"{USER}:6100000:65536\n")
            (folder / "passwd").write_text(pathlib.Path("/etc/passwd").read_text() + f"ty-nets:x:{USER}:{USER}::/:/bin/sh\n")
            mounts = {"/etc/passwd": folder / "passwd", "/etc/subuid": folder / "ids", "/etc/subgid": folder / "ids"}
        server = ServerOfAccount(folder, USER, *oci().flags, "--network", "isolated", "--stop-grace", "2", mounts=mounts)
        server.way = oci()
        yield server
        nothing_is_left(server)
        server.stop()
        end_supervisors(server.data)


def namespaces_of_its_own(server):
    """Processes of the server's user in another user or network namespace than the server."""
    def space(pid, kind):
        return os.readlink(f"/proc/{pid}/ns/{kind}")

    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == server.uid and any(space(pid, kind) != space(server.process.pid, kind) for kind in ("user", "net")):
                found.append((pid, pathlib.Path(f"/proc/{pid}/comm").read_text().strip()))
        except OSError:  # it has just ended
            pass
    return found


def nothing_is_left(server):
    def left():
        return relays(server) + namespaces_of_its_own(server) + leftovers(server)

    wait_for(lambda: not left() or None, lambda: f"left behind: {left()}")


def test_a_whole_cluster_trains_on_the_originals_port(server, upload):
    model = run(server, upload, "sync", "--mode=sync")
    assert model["updates"] == 60 and model["loss"] == pytest.approx(0.287531, abs=1e-6)
    arguments = next(text for text in server.texts("sync", "master-replica-0") if text.startswith("Running task with arguments"))
    assert arguments.count(":2222") == 4, arguments
    nothing_is_left(server)


def test_a_replica_reaches_the_server_and_nothing_else(server, probe):  # noqa: F811
    program = {"packageUris": [probe(server)], "pythonModule": "net_probe.task"}
    with socket.create_server(("127.0.0.1", 0)) as host:
        server.submit("other", args=["listen"], **program)
        server.wait_for_text("other", "listening")
        assert len(relays(server)) == 1
        server.submit("mine", args=["look", str(host.getsockname()[1])], jobDir="gs://out/mine", **program)
        assert server.wait("mine")["state"] == "SUCCEEDED", server.texts("mine")
    seen = result(server, "mine")
    assert seen["config"] == {"master": ["127.0.0.1:2222"]}
    assert seen["server"] == 200 and seen["metadata"] == "reached"
    assert seen["host"] == "ConnectionRefusedError" and seen["outside"] == "OSError"
    assert "reached" not in [seen["name"], *seen["others"]], "nothing listens on 2222 in this job"
    assert set(seen["links"]) >= {"eth0", "lo"}
    server.cancel("other")
    server.wait("other")
    nothing_is_left(server)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_curl_finds_the_buckets_under_googles_names(server, tmp_path):
    package = tmp_path / "curls"
    (package / "curls").mkdir(parents=True)
    (package / "curls/__init__.py").touch()
    (package / "curls/task.py").write_text(CURL)
    (package / "setup.py").write_text("from setuptools import setup\nsetup(name='curls', version='1', packages=['curls'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=package, check=True, capture_output=True)
    uri = server.upload("packages", "curls.tar.gz", next((package / "dist").glob("*.tar.gz")).read_bytes())
    server.submit("curl", packageUris=[uri], pythonModule="curls.task", jobDir="gs://out/curl")
    assert server.wait("curl")["state"] == "SUCCEEDED", server.texts("curl")
    texts = server.texts("curl")
    assert "READ by curl" in texts and "TOKEN True" in texts, texts


def test_a_job_outlives_the_server_and_ends_with_its_supervisor(server, probe):  # noqa: F811
    server.submit("stays", args=["listen"], packageUris=[probe(server)], pythonModule="net_probe.task")
    server.wait_for_text("stays", "listening")
    relay = relays(server)
    server.kill()
    server.start()
    assert len(relay) == 1 and relays(server) == relay, "the replica and its network live on"
    assert server.get("stays")["state"] == "RUNNING"
    for pid, _ in processes_with(f"{server.data}/attempts/"):
        kill(pid)
    wait_for(lambda: relay[0] not in relays(server) or None, lambda: "the killed supervisor's relay is there")
    server.cancel("stays")
    server.wait("stays")
    nothing_is_left(server)


def test_a_shell_is_in_the_replicas_network(server, probe):  # noqa: F811
    server.submit("shell", args=["listen"], packageUris=[probe(server)], pythonModule="net_probe.task", enableWebAccess=True)
    server.wait_for_text("shell", "listening")
    said = subprocess.run(become(server.uid, "env", f"TRAINYARD_DATA={server.data}", f"TRAINYARD_SERVER={server.url}", "CLOUDSDK_CORE_PROJECT=p",
                                 str(server.program.parent / "program"), "jobs", "shell", "shell"),
                          input="cat /proc/net/dev; exit\n", capture_output=True, text=True, timeout=120)
    assert said.returncode == 0 and "eth0" in said.stdout, said
    server.cancel("shell")
    server.wait("shell")


def test_containers_talk_to_each_other(server, images, registry):
    run_job(server, "cluster", python_image(images, registry, "talkers", TALKERS), **CLUSTER)
    for task in ("master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0"):
        spec = next(text for text in server.texts("cluster", task) if text.startswith("SPEC "))
        assert spec.count(":2222") == 4, spec
    nothing_is_left(server)


def test_a_container_has_users_of_its_own(server, images, registry):
    python_image(images, registry, "net-user", IN_A_CONTAINER)
    if "net-user-1234" not in images.made:
        images.derive("net-user", "net-user-1234", user="1234:1234")
    if not server.further_ids:
        submit_image(server, "user", registry.push(images["net-user-1234"]))
        assert "add lines for it to /etc/subuid" in server.wait("user")["errorMessage"]
    name, uid = ("net-user-1234", "1234") if server.further_ids else ("net-user", "0")
    run_job(server, f"user_{uid}", registry.push(images[name]), jobDir="gs://out/user")
    texts = server.texts(f"user_{uid}", "master-replica-0")
    for text in ("READ by 1234", "OUTSIDE Network is unreachable", "LINKS eth0 lo", f"UID {uid}"):
        assert text in texts, texts


def test_without_namespaces_it_names_the_setting():
    """In a user namespace of the test's own, whose settings are nobody else's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-nets-") as folder:
        os.chmod(folder, 0o755)
        own = shutil.copy2(PROGRAM, folder + "/program")
        os.chmod(own, 0o755)
        os.mkdir(folder + "/data")
        os.chown(folder + "/data", USER, USER)
        serve = " ".join(become(USER, own, "serve", "--data", f"{folder}/data", "--listen", "127.0.0.1:0", "--network", "isolated"))
        # The second shell is root in there: the first one was started by nobody of the namespace.
        script = f"read mapped; exec sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec {serve}'"
        process = subprocess.Popen(["unshare", "-U", "sh", "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        outside = os.readlink("/proc/self/ns/user")
        wait_for(lambda: os.readlink(f"/proc/{process.pid}/ns/user") != outside or None, lambda: "unshare makes no user namespace")
        for kind in "uid", "gid":
            pathlib.Path(f"/proc/{process.pid}/{kind}_map").write_text("0 0 70000")
        try:
            _, said = process.communicate("go\n", timeout=60)
        finally:
            process.kill()
    assert process.returncode == 1, said
    assert "--network isolated is not possible here" in said and "use --network host" in said, said
    assert "as root: sysctl user.max_user_namespaces=10000" in said, said
