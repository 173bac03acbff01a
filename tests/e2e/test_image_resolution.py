"""What the image of a job is: decided when the job is created, and then the same for all that runs of it."""

import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time

import pytest

from container_engines import oci, shell, stop_clean, submit_image
from trainyard_server import PROGRAM

SAY_AND_WAIT = "echo I am {}; trap 'exit 0' TERM; while :; do sleep 0.1; done"


@pytest.fixture
def new_server(make_server):
    servers = []

    def make(*flags):
        servers.append(make_server(*oci().flags, *flags))
        return servers[-1]

    yield make
    for server in servers:
        stop_clean(server)


def says(images, name):
    return images.derive("busybox", f"says-{name}", cmd=["/bin/sh", "-c", SAY_AND_WAIT.format(name)])


def status(server, job_id):
    return server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}").json()


def refusal(response):
    error = response.json()["error"]
    [violation] = error["details"][0]["fieldViolations"]
    return error["status"], violation["field"], violation["description"]


def end(server, job_id):
    server.cancel(job_id)
    return server.wait(job_id)


def test_a_tag_that_moves_changes_no_job_that_is_there(new_server, make_registry, images):
    server, registry = new_server(), make_registry()
    first = says(images, "first")
    uri = registry.push(first, repository="moving/target")
    submit_image(server, "before", uri)
    server.wait_for_text("before", "I am first")
    assert registry.push(says(images, "second"), repository="moving/target") == uri
    pinned = f"{registry.address}/moving/target@{first.digest}"
    assert f"Image {uri} is {pinned}." in server.texts("before", "service")
    assert status(server, "before")["images"][0]["digest"] == first.digest
    assert status(server, "before")["replicas"][0]["image"] == uri
    described = server.trainyard("jobs", "describe", "before")
    assert f"Images:\n  {uri} is {pinned}\n" in described.stderr, described

    server.kill()
    server.start()
    moved = server.trainyard("jobs", "maintain", "before", "master-replica-0")
    assert moved.returncode == 0, moved.stderr
    server.wait("before", lambda job: server.texts("before").count("I am first") == 2)
    submit_image(server, "after", uri)
    server.wait_for_text("after", "I am second")
    assert end(server, "before")["state"] == end(server, "after")["state"] == "CANCELLED"
    assert "I am second" not in server.texts("before")


def test_without_the_registry_what_is_here_runs(new_server, make_registry, images):
    server, registry = new_server(), make_registry()
    image = images.derive("busybox", "echo", cmd=["/bin/echo", "still here"])
    uri = registry.push(image)
    submit_image(server, "pulled", uri)
    assert server.wait("pulled")["state"] == "SUCCEEDED"
    registry.kill()
    submit_image(server, "digest", uri.rsplit(":", 1)[0] + "@" + image.digest)
    submit_image(server, "tag", uri)
    for job_id in ("digest", "tag"):
        assert server.wait(job_id)["state"] == "SUCCEEDED"
        assert "still here" in server.texts(job_id)
    [warning] = [entry for entry in server.log_entries("tag") if "pulled under" in entry["jsonPayload"]["message"]]
    assert (warning["severity"], warning["jsonPayload"]["message"]) == ("WARNING",
        f"The image {uri} is the one that was pulled under this name before, {image.digest}: "
        f"{registry.address} does not answer: connection refused.")


class Silent:
    """Accepts connections on a port and never answers."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port))
        self.accepted = []
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                self.accepted.append(self.listener.accept()[0])

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for connection in (self.listener, *self.accepted):
            connection.close()


def test_a_registry_that_does_not_answer_holds_the_job_and_not_its_client(new_server, make_registry, images):
    server, registry = new_server(), make_registry()
    image = images.derive("busybox", "late", cmd=["/bin/echo", "at last"])
    uri, missing = registry.push(image), f"{registry.address}/no/such:v1"
    registry.kill()
    submit_image(server, "refused", uri)
    submit_image(server, "nowhere", missing)
    silent = Silent(registry.port)
    asked = time.monotonic()
    submit_image(server, "silent", uri)
    assert time.monotonic() - asked < 10, "two seconds, and what a busy machine takes"
    waits = {job_id: status(server, job_id)["waiting"] for job_id in ("refused", "silent")}
    assert waits["silent"]["reason"] == f"The image {uri} is not resolved yet: {registry.address} does not answer in time."
    assert waits["refused"]["unblock"].startswith("The server asks its registry again within 60 seconds")
    assert server.get("refused")["state"] == "QUEUED"
    described = server.trainyard("jobs", "describe", "silent")
    assert f"  {uri} is not resolved yet\n" in described.stderr, described
    server.kill()
    server.start()
    assert {server.get(job_id)["state"] for job_id in ("refused", "nowhere", "silent")} == {"QUEUED"}
    silent.close()
    registry.start()
    for job_id in ("refused", "silent"):
        assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)
        assert "at last" in server.texts(job_id)
        assert status(server, job_id)["images"][0]["digest"] == image.digest
    failed = server.wait("nowhere")
    assert failed["state"] == "FAILED"
    assert failed["errorMessage"] == f"The image {missing} cannot be used: there is no such image or tag in {registry.address}"
    for folder in (server.data / "images/pulls").glob("call-*"):
        shutil.rmtree(folder)  # of the killed server's questions: the upkeep removes them once they are old


def test_the_role_that_brought_the_image_is_named_and_nothing_is_created(new_server, registry, images):
    server = new_server()
    good, missing = registry.push(images["busybox"]), f"{registry.address}/no/such:v1"
    gang = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "1"}
    response = server.create("mixed", masterConfig={"imageUri": good}, workerConfig={"imageUri": missing}, **gang)
    code, field, text = refusal(response)
    assert (response.status_code, code, field) == (400, "FAILED_PRECONDITION", "worker_config.image_uri"), response.text
    assert text.startswith(f"The image {missing} cannot be used: there is no such image")
    assert server.request("GET", "/v1/projects/p/jobs/mixed").status_code == 404
    # Nobody runs what has no replicas.
    submit_image(server, "alone", good, master=shell("true"), workerConfig={"imageUri": missing})
    assert server.wait("alone")["state"] == "SUCCEEDED"


def test_the_name_map_and_archives_of_this_machine(new_server, registry, images, tmp_path):
    archive = images.archive("cmd-only")
    server = new_server("--image-map", f"gcr.io/cloud-ml-public/*={registry.push(images['cmd-only'])}",
                        "--image-map", f"gcr.io/p/archived:v1=oci-archive:{archive}")
    for job_id, image in (("mapped", "gcr.io/cloud-ml-public/training/pytorch-cpu.1-4"), ("archived", "gcr.io/p/archived:v1"),
                          ("direct", f"oci-archive:{archive}")):
        submit_image(server, job_id, image, args=["/bin/echo", job_id])
        assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)
        assert job_id in server.texts(job_id)
        assert server.get(job_id)["trainingInput"]["masterConfig"]["imageUri"] == image


def test_a_tpu_pair_of_containers(new_server, registry, images):
    server = new_server("--accelerators", "tpu-v2=8")
    image = registry.push(images["busybox"])
    submit_image(server, "tpu", image, master=shell('echo "TPU $TPU_CONFIG"; echo "TF $TF_CONFIG"'), scaleTier="CUSTOM",
                 masterType="n1-highcpu-16", workerType="cloud_tpu", workerCount="1",
                 workerConfig={"imageUri": "gcr.io/p/tpu-worker:v1", "tpuTfVersion": "2.2",
                               "acceleratorConfig": {"type": "TPU_V2", "count": "8"}})
    assert server.wait("tpu")["state"] == "SUCCEEDED", server.texts("tpu")
    texts = server.texts("tpu")
    config = json.loads(next(text for text in texts if text.startswith("TPU ")).removeprefix("TPU "))
    assert set(config) == {"project", "zone", "tpu_node_name"}
    cluster = json.loads(next(text for text in texts if text.startswith("TF ")).removeprefix("TF "))
    assert list(cluster["cluster"]) == ["master"] and isinstance(cluster["job"], str)
    assert any("worker_config.image_uri gcr.io/p/tpu-worker:v1 is not run" in text for text in texts), texts


def test_what_runs_containers_is_said_at_the_start(new_server, make_server, tmp_path):
    server = new_server()
    assert "containers: run by " in server.stderr()
    assert (server.data / "images").stat().st_mode & 0o777 == 0o700
    off = make_server("--container-engine", "off")
    assert "containers: none. Its operator has disabled containers (--container-engine off)." in off.stderr()
    for flags, words in ((["--container-runtime", tmp_path / "none"], f"cannot run containers: {tmp_path}/none is not installed"),
                         (["--container-engine", "api", "--engine-socket", tmp_path / "none"], f"there is no socket {tmp_path}/none"),
                         (["--container-engine", "api", "--network", "isolated"], "--network isolated needs --container-engine oci"),
                         (["--image-map", "a"], "'a' is not PATTERN=REFERENCE"), (["--image-map", "a=B"], "'B' is not the name"),
                         (["--insecure-registry", "a/b"], "'a/b' is not HOST[:PORT]")):
        run = subprocess.run([PROGRAM, "serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", *flags], capture_output=True,
                             text=True, timeout=60)
        assert run.returncode != 0 and words in run.stderr, (flags, run.stderr)
