"""What programs find on a cluster's node: frameworks that talk to each other, containers, buckets, Google's names, a shell."""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest

from replica_shell import connect
from server_of_account import ServerOfAccount
from slurm_cluster import SlurmCluster
from slurm_world import CLUSTER, HAND_OVER, wait_until_left, words
from test_containers import GS_TRAINER, TALKERS, python_image
from test_frameworks import read, run, tf_config_of
from test_run import environment
from trainyard_server import PROGRAM, RUNTIME


def test_multi_worker_mirrored_strategy(slurm, make_slurm_server, runtime):
    """TensorFlow over three nodes, with its checkpoints and its model in gs://."""
    runtime("2.15")
    server = make_slurm_server(slurm)
    folder = run(server, "keras_multiworker", "keras", ["--epochs=1", "--steps-per-epoch=20", "--learning-rate=0.3"])
    assert read(folder / "metrics.json")["replicas"] == 3
    assert (folder / "model/saved_model.pb").exists() and list((folder / "checkpoints").glob("ckpt-*.index"))
    assert set(tf_config_of(server, "keras", "worker-replica-1")["cluster"]) == {"chief", "worker"}


def test_torch_distributed_data_parallel(slurm, make_slurm_server, upload, runtime):
    runtime("pytorch")
    server = make_slurm_server(slurm)
    folder = run(server, "pytorch_ddp", "ddp", ["--init=env"])
    assert read(folder / "result.json")["weights"] == pytest.approx([1, -2, 3, 0.5], abs=0.05)
    assert [read(folder / f"ranks/{rank}.json")["world_size"] for rank in range(3)] == [3, 3, 3]
    assert any(" on node" in text for text in server.texts("ddp", "service"))


@pytest.fixture(scope="module")
def two_nodes():
    """On this machine's network, where the tests' registry is."""
    with SlurmCluster(2, isolate="pid", settings=HAND_OVER) as cluster:
        yield cluster
        print(cluster.logs())


def test_containers_talk_over_nodes(two_nodes, make_slurm_server, images, registry):
    server = make_slurm_server(two_nodes)
    image = {"imageUri": python_image(images, registry, "talkers", TALKERS)}
    server.submit("talk", scaleTier="CUSTOM", masterType="n1-standard-4", masterConfig=image, workerType="n1-standard-4", workerConfig=image,
                  workerCount="1")
    assert server.wait("talk")["state"] == "SUCCEEDED", (server.get("talk"), server.texts("talk")[-20:], server.stderr()[-3000:])
    heard = [text for text in server.texts("talk") if text.startswith("HEARD ")]
    assert len(heard) == 2 and all(sorted(json.loads(text[6:])) == [["master", 0], ["worker", 0]] for text in heard)
    assert any(" on node1, node2." in text for text in server.texts("talk", "service"))


def test_a_containers_bucket_is_the_servers(two_nodes, make_slurm_server, images, registry, tmp_path):
    """By HTTP through the agent, and below /gcs where the operator says that nodes see the buckets."""
    buckets = tmp_path / "data0/buckets"
    server = make_slurm_server(two_nodes, "--node-buckets", buckets)
    server.submit("gcs", scaleTier="CUSTOM", masterType="n1-standard-4", jobDir="gs://out/gcs",
                  masterConfig={"imageUri": python_image(images, registry, "gs-trainer", GS_TRAINER)})
    assert server.wait("gcs")["state"] == "SUCCEEDED", (server.get("gcs"), server.texts("gcs")[-20:], server.stderr()[-3000:])
    assert [text for text in server.texts("gcs") if text.startswith("READ")] == ["READ written by http", "READ written to /gcs"]


PLACES = """
import json, os, socket, ssl, urllib.request
def metadata(path):
    asked = urllib.request.Request("http://metadata.google.internal/computeMetadata/v1/" + path, headers={"Metadata-Flavor": "Google"})
    return urllib.request.urlopen(asked, timeout=60).read().decode()
token = json.loads(metadata("instance/service-accounts/default/token"))["access_token"]
listed = urllib.request.Request("https://storage.googleapis.com/storage/v1/b/out/o", headers={"Authorization": "Bearer " + token})
trusted = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
open("/tmp/mine", "w").write("x")
open("kept.txt", "w").write("from a node")
print("PLACES " + json.dumps({"project": metadata("project/project-id"), "gcs": os.listdir("/gcs/out"), "tmp": os.listdir("/tmp"),
                  "objects": [item["name"] for item in json.load(urllib.request.urlopen(listed, context=trusted, timeout=60))["items"]],
                  "slurm": [name for name in os.environ if name.startswith(("SLURM", "SRUN", "SBATCH", "PMI", "TRAINYARD_TICKET"))
                            or name.lower().endswith("_proxy")],
                  "host": socket.gethostname()}))
"""


def test_a_program_finds_what_it_finds_here(slurm, make_slurm_server, tmp_path):
    server = make_slurm_server(slurm, "--node-buckets", tmp_path / "data0/buckets")
    server.upload("out", "there.txt", b"text")
    (tmp_path / "places.py").write_text(PLACES)
    done = subprocess.run([PROGRAM, "run", "--runtime-version", RUNTIME, "--name", "places", "places.py"], cwd=tmp_path, env=environment(server),
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (done.stdout, done.stderr, server.stderr()[-3000:])
    [said] = [line for line in done.stdout.splitlines() if "PLACES " in line]
    seen = json.loads(said.partition("PLACES ")[2])
    assert seen["gcs"] == ["there.txt"] and seen["objects"] == ["there.txt"] and seen["project"] == "p"
    assert "mine" in seen["tmp"] and not os.path.exists("/tmp/mine"), "a /tmp of its own"
    assert seen["slurm"] == []
    assert seen["host"].startswith("cmle-training-master-")
    assert (server.data / "buckets/p-runs/places/workdir/kept.txt").read_text() == "from a node"


def test_a_shell_is_in_the_replica_on_its_node(slurm, make_slurm_server, upload):
    server = make_slurm_server(slurm)
    words(server, upload, "open", "forever", enableWebAccess=True)
    server.wait("open", lambda job: job["state"] == "RUNNING")
    shell = connect(server.get("open")["trainingOutput"]["webAccessUris"]["master-replica-0"])
    shell.send("40 132")
    shell.send_binary(b"echo host=$(hostname) size=$(stty size) task=$CLOUD_ML_TASK_ID; ip -4 -o address show dev eth0\n")
    assert shell.until(r"host=(cmle-training-master-\S+) size=40 132")
    assert shell.until(r"inet (\S+)/27")[1] in {slurm.network.address(number) for number in range(1, 5)}
    shell.send("30 100")
    shell.send_binary(b"echo again $(stty size); exit 3\n")
    assert shell.until(r"again 30 100")
    server.cancel("open")
    server.wait("open")
    wait_until_left(slurm)


def test_an_ordinary_account_runs_the_server(two_nodes, upload, monkeypatch):
    """On a login node, say: without root there and on the nodes, whose own Pythons build the environment."""
    account = pwd.getpwnam("games")  # Slurm asks for the name
    monkeypatch.setenv("SLURM_CONF", two_nodes.env()["SLURM_CONF"])
    folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "nodes").mkdir()
    shutil.chown(folder / "nodes", account.pw_uid, account.pw_gid)
    server = ServerOfAccount(folder, account.pw_uid, "--engine", "slurm", "--node-dir", folder / "nodes/dir")
    try:
        server.submit("job", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["shell", "id -u; touch /tmp/games-own; ls /tmp"],
                      jobDir="gs://out/job", **{**CLUSTER, "workerCount": "1", "parameterServerCount": None, "parameterServerType": None})
        assert server.wait("job")["state"] == "SUCCEEDED", (server.get("job"), server.texts("job")[-20:], server.stderr()[-3000:])
        said = server.texts("job", "master-replica-0")  # a worker is ended with it, perhaps before its first line
        assert str(account.pw_uid) in said and "games-own" in said and not os.path.exists("/tmp/games-own"), "a /tmp of its own"
        assert not any("lacks some isolation" in text for text in server.texts("job")), server.texts("job")
        assert not any("On node" in text for text in server.texts("job", "service")), "nothing is lacking there"
        [ours] = [job for job in two_nodes.jobs() if job["user"] == "games"]
        assert ours["name"].startswith("ty-")
        wait_until_left(two_nodes)
    finally:
        server.stop()
        shutil.rmtree(folder)
