"""Roles with packages of their own, by ml v1 (workerConfig.packageUris) and by Vertex AI (a worker pool's packageUris)."""

import json

import pytest

from test_attack_layers import wheel
from trainyard_server import MINIMAL_RUNTIME

VERTEX = "/aiplatform/v1/projects/p/locations/us-central1/customJobs"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"  # stands for the runtime version 2.15


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A 2.15 without packages: what a program imports is not what these tests are about."""
    folder = tmp_path_factory.mktemp("roles") / "environments/runtimes.d"
    folder.mkdir(parents=True)
    (folder / "2.15.json").write_text(json.dumps({**MINIMAL_RUNTIME, "version": "2.15"}))
    return folder.parent


def put(server, whose):
    """A package with the module pkg.task, which says whose it is: all have one name and version."""
    return server.upload("packages", f"{whose}/pkg-1.0-py3-none-any.whl", wheel(f"the package of the {whose}"))


def check(server, job):
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    for task, mine, others in [("master-replica-0", "job", "workers"), ("worker-replica-0", "workers", "job")]:
        texts = server.texts(job["jobId"], task)
        assert f"the package of the {mine}" in texts and f"the package of the {others}" not in texts, (task, texts)


def test_a_job_of_ml_v1(server):
    cluster = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": 1,
               "packageUris": [put(server, "job")], "pythonModule": "pkg.task"}
    server.submit("both", **cluster, workerConfig={"packageUris": [put(server, "workers")]})
    check(server, server.wait("both"))
    number = server.request("GET", VERTEX).json()["customJobs"][0]["name"].rsplit("/", 1)[1]
    pools = server.request("GET", f"{VERTEX}/{number}").json()["jobSpec"]["workerPoolSpecs"]
    assert [pool["pythonPackageSpec"]["packageUris"] for pool in pools] == [
        ["gs://packages/job/pkg-1.0-py3-none-any.whl"], ["gs://packages/workers/pkg-1.0-py3-none-any.whl"]]
    missing = server.create("missing", **cluster, workerConfig={"packageUris": ["gs://packages/none.whl"]})
    assert missing.status_code == 400 and "[gs://packages/none.whl] cannot be read" in missing.text, missing.text
    assert missing.json()["error"]["details"][0]["fieldViolations"][0]["field"] == "worker_config.package_uris", missing.text


def test_a_job_of_vertex(server):
    def pool(whose):
        return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1,
                "pythonPackageSpec": {"executorImageUri": IMAGE, "packageUris": [put(server, whose)], "pythonModule": "pkg.task"}}
    created = server.request("POST", VERTEX, json={"displayName": "both", "jobSpec": {"workerPoolSpecs": [pool("job"), pool("workers")]}})
    assert created.status_code == 200, created.text
    check(server, server.wait("vertex_" + created.json()["name"].rsplit("/", 1)[1]))
