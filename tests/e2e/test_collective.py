"""A collective job outlives the end of any of its replicas: the whole of it starts again, at the epoch that it had left."""

from typing import Any

import pytest

PYTORCH_IMAGE = "gcr.io/cloud-ml-public/training/pytorch-cpu.1-11"
FRAMEWORKS: dict[str, dict[str, Any]] = {"mirrored": {"runtimeVersion": "2.15"}, "ddp": {"masterConfig": {"imageUri": PYTORCH_IMAGE}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    from trainyard_server import Server

    server = Server(tmp_path_factory.mktemp("collective"), environments=environments)
    yield server
    server.stop()


@pytest.mark.parametrize("how", ["maintain", "kill"])
@pytest.mark.parametrize("target", ["chief-0", "worker-0"])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_end_of_a_replica_is_not_the_jobs(framework, target, how, server, upload, runtime, shared_folder):
    runtime("pytorch" if framework == "ddp" else "2.15")
    job = f"{framework}_{target.replace('-', '_')}_{how}"
    server.submit(job, packageUris=[upload(server, "collective")], pythonModule=f"collective.{framework}", args=[str(shared_folder), target, how],
                  scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1", **FRAMEWORKS[framework])
    server.wait_for_text(job, "hit at epoch 2")
    task = target.replace("chief", "master").replace("-0", "-replica-0")
    if how == "maintain":
        moved = server.trainyard("jobs", "maintain", job, task)
        assert moved.returncode == 0, moved.stderr
    done = server.wait(job)
    assert done["state"] == "SUCCEEDED", (done, server.texts(job)[-60:])
    assert "went from epoch 2 to 3" in server.texts(job, "master-replica-0"), "it found its checkpoint"
    reasons = [text for text in server.texts(job, "service") if "All replicas start again" in text]
    cause = "was stopped for maintenance" if how == "maintain" else "exited with a non-zero status of 9(SIGKILL)"
    assert len(reasons) == 1 and cause in reasons[0], reasons
    assert ("This does not count as a retry." in reasons[0]) == (how == "maintain"), reasons
