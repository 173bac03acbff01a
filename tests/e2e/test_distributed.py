"""A whole cluster: one master, two workers, a parameter server, an evaluator; synchronous and asynchronous."""

import json

import pytest

CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "1", "evaluatorType": "n1-standard-4",
           "evaluatorCount": "1"}


def run(server, upload, job_id, *args):
    server.submit(job_id, packageUris=[upload(server, "dist_sgd_stdlib")], pythonModule="trainer.task", args=list(args),
                  jobDir=f"gs://out/{job_id}", **CLUSTER)
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", (job, server.texts(job_id)[-40:])
    return json.loads((server.data / f"buckets/out/{job_id}/model/model.json").read_text())


def test_synchronous(server, upload):
    model = run(server, upload, "sync", "--mode=sync", "--sleep-per-step=0.05")  # time for the evaluator to look
    assert model["updates"] == 60
    assert model["loss"] == pytest.approx(0.287531, abs=1e-6) and model["accuracy"] == pytest.approx(0.87)
    # The evaluator has scored at least a checkpoint, and TF_CONFIG never shows it.
    assert list((server.data / "buckets/out/sync/eval").glob("eval-*.json"))
    tasks = {e["resource"]["labels"]["task_name"] for e in server.log_entries("sync")}
    assert tasks == {"service", "master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0", "evaluator-replica-0"}


def test_asynchronous(server, upload):
    model = run(server, upload, "async", "--mode=async", "--steps=80")
    assert model["updates"] == 240 and 0.2 < model["loss"] < 0.35


def test_a_killed_worker_is_restarted(server, upload):
    model = run(server, upload, "crash", "--mode=sync", "--crash-task=worker:1", "--crash-at-step=30")
    assert model["loss"] == pytest.approx(0.287531, abs=1e-6)
