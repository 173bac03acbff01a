"""`serve --network isolated`: a network per job, the original's port everywhere, and no way to anything else."""

import json
import os
import re
import socket
import subprocess

import pytest

from test_distributed import run
from trainyard_server import PROGRAM, kill, processes_with, wait_for

PROBE = '''
import json, os, socket, sys, urllib.request

def reach(address, port):
    try:
        socket.create_connection((address, port), timeout=2).close()
        return "reached"
    except OSError as error:
        return type(error).__name__

def main(argv):
    if argv[0] == "listen":
        listener = socket.create_server(("0.0.0.0", 2222))
        print("listening", flush=True)
        while True:
            listener.accept()[0].close()
    port = int(argv[1])
    server = os.environ["STORAGE_EMULATOR_HOST"]
    print("RESULT " + json.dumps({
        "config": json.loads(os.environ["TF_CONFIG"])["cluster"],
        "name": reach(socket.gethostname(), 2222),
        "host": reach("127.0.0.1", port),
        "others": [reach(f"10.77.1.{i}", 2222) for i in (1, 2)],
        "outside": reach("192.0.2.1", 80),
        "server": urllib.request.urlopen(server + "/storage/v1/b/packages", timeout=20).status,
        "metadata": reach(os.environ["GCE_METADATA_HOST"], 80),
        "links": sorted(name for _, name in socket.if_nameindex()),
    }), flush=True)

if __name__ == "__main__":
    main([word for word in sys.argv[1:] if not word.startswith("--job-dir") and not word.startswith("gs://")])
'''


@pytest.fixture
def isolated(make_server):
    if os.geteuid() != 0:
        pytest.skip("isolated networks need root")
    return make_server("--network", "isolated")


@pytest.fixture
def probe(tmp_path):
    """Uploads the probe as a package and returns its URI."""
    (tmp_path / "probe/net_probe").mkdir(parents=True)
    (tmp_path / "probe/net_probe/__init__.py").touch()
    (tmp_path / "probe/net_probe/task.py").write_text(PROBE)
    (tmp_path / "probe/setup.py").write_text("from setuptools import setup\nsetup(name='net_probe', version='1', packages=['net_probe'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=tmp_path / "probe", check=True, capture_output=True)
    content = next((tmp_path / "probe/dist").glob("*.tar.gz")).read_bytes()
    return lambda server: server.upload("packages", "net_probe.tar.gz", content)


def links():
    """Without the link numbers: those of a container's other ends change; without those of other tests (slurm_network.py)."""
    names = [line.split(": ")[1] for line in subprocess.run(["ip", "-o", "link"], check=True, capture_output=True,
                                                            text=True).stdout.splitlines()]
    return sorted(name for name in names if not name.startswith("tyslurm"))


def relays(server):
    return [pid for pid, _ in processes_with("") if comm(pid) == "trainyard-relay" and str(server.data) in folder(pid)]


def comm(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return ""


def folder(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def result(server, job_id):
    return next(json.loads(text.removeprefix("RESULT ")) for text in server.texts(job_id) if text.startswith("RESULT "))


def test_a_whole_cluster_trains_and_writes_its_job_dir(isolated, upload):
    before = links()
    model = run(isolated, upload, "sync", "--mode=sync")
    assert model["updates"] == 60 and model["loss"] == pytest.approx(0.287531, abs=1e-6)
    arguments = next(text for text in isolated.texts("sync", "master-replica-0") if text.startswith("Running task with arguments"))
    ports = set(re.findall(r"cmle-training-[a-z]+-[0-9a-f]+-\d:(\d+)", arguments))
    assert ports == {"2222"}, arguments
    assert links() == before
    wait_for(lambda: not relays(isolated) or None, lambda: f"relays are left: {relays(isolated)}")


def test_a_restarted_worker_joins_again(isolated, upload):
    model = run(isolated, upload, "crash", "--mode=sync", "--crash-task=worker:1", "--crash-at-step=30")
    assert model["loss"] == pytest.approx(0.287531, abs=1e-6)


def test_a_replica_reaches_the_server_and_nothing_else(isolated, probe):
    program = {"packageUris": [probe(isolated)], "pythonModule": "net_probe.task"}
    before = links()
    with socket.create_server(("127.0.0.1", 0)) as host:
        port = host.getsockname()[1]
        isolated.submit("other", args=["listen"], **program)
        isolated.wait_for_text("other", "listening")
        assert links() == before and len(relays(isolated)) == 1
        isolated.submit("mine", args=["look", str(port)], jobDir="gs://out/mine", **program)
        assert isolated.wait("mine")["state"] == "SUCCEEDED", isolated.texts("mine")
    seen = result(isolated, "mine")
    assert seen["config"] == {"master": ["127.0.0.1:2222"]}
    assert seen["server"] == 200 and seen["metadata"] == "reached"
    assert seen["host"] == "ConnectionRefusedError" and seen["outside"] == "OSError"
    assert "reached" not in [seen["name"], *seen["others"]], "nothing listens on 2222 in this job"
    assert set(seen["links"]) >= {"eth0", "lo"}
    isolated.cancel("other")
    isolated.wait("other")
    wait_for(lambda: not relays(isolated) or None, lambda: f"relays are left: {relays(isolated)}")


def test_nothing_is_left_of_a_killed_supervisor_and_a_new_server_goes_on(isolated, probe):
    program = {"packageUris": [probe(isolated)], "pythonModule": "net_probe.task"}
    isolated.submit("stays", args=["listen"], **program)
    isolated.wait_for_text("stays", "listening")
    relay = relays(isolated)
    isolated.kill()
    isolated.start()
    assert relays(isolated) == relay, "the replica and its network live on"
    assert isolated.get("stays")["state"] == "RUNNING"
    for pid, _ in processes_with(f"{isolated.data}/attempts/"):
        kill(pid)
    wait_for(lambda: relay[0] not in relays(isolated) or None, lambda: "the killed supervisor's relay is there")
    isolated.cancel("stays")
    isolated.wait("stays")
    wait_for(lambda: not relays(isolated) or None, lambda: f"relays are left: {relays(isolated)}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop its rights")
def test_without_the_rights_it_refuses_to_start(tmp_path):
    (tmp_path / "data").mkdir()
    drop = ["setpriv", "--bounding-set=-sys_admin,-net_admin", "--inh-caps=-all"]
    refused = subprocess.run([*drop, PROGRAM, "serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0",
                              "--network", "isolated"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1, refused
    assert "--network isolated" in refused.stderr and "--network host" in refused.stderr
