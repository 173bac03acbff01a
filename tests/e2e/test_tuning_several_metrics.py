"""Tuning jobs with several metrics, by ml v1 (furtherMetrics) and by Vertex AI (studySpec.metrics)."""

import json

import pytest

from trainyard_server import MINIMAL_RUNTIME

X = {"parameterName": "x", "type": "DOUBLE", "maxValue": 1}
VERTEX = "/aiplatform/v1/projects/p/locations/us-central1/hyperparameterTuningJobs"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"  # stands for the runtime version 2.15


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A 2.15 without packages: the program needs none."""
    folder = tmp_path_factory.mktemp("metrics") / "environments/runtimes.d"
    folder.mkdir(parents=True)
    (folder / "2.15.json").write_text(json.dumps({**MINIMAL_RUNTIME, "version": "2.15"}))
    return folder.parent


def test_every_trial_has_the_values_of_all_metrics(server, upload):
    spec = {"hyperparameterMetricTag": "score", "goal": "MAXIMIZE", "maxTrials": 3, "maxParallelTrials": 1, "params": [X],
            "furtherMetrics": [{"hyperparameterMetricTag": "loss", "goal": "MINIMIZE"}]}
    server.submit("both", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", args=["--also=loss", "--lacking=2"],
                  hyperparameters=spec)
    job = server.wait("both")
    assert job["state"] == "SUCCEEDED", (job, server.texts("both"))
    trials = job["trainingOutput"]["trials"]
    assert [trial["trialId"] for trial in trials][2] == "2" and "finalMetric" not in trials[2], "the last one lacks the loss"
    values = [float(trial["hyperparameters"]["x"]) for trial in trials[:2]]
    assert values == sorted(values, reverse=True)
    for trial, x in zip(trials[:2], values, strict=True):
        assert trial["finalMetric"] == {"trainingStep": "3", "objectiveValue": x, "furtherValues": {"loss": 1 - x}}
    texts = server.texts("both")
    assert f"Trial {trials[0]['trialId']} completed: score {values[0]}, loss {1 - values[0]} at step 3." in texts
    status = server.request("GET", "/trainyard/v1/projects/p/jobs/both").json()
    lacking = next(trial for trial in status["trials"] if trial["output"]["trialId"] == "2")
    assert lacking["reason"].startswith("The metric 'loss' was not reported: looked in /tmp/hypertune/output.metrics, ")
    assert lacking["reason"] in texts
    listed = server.request("GET", "/trainyard/v1/projects/p/jobs/both/scalars").json()["items"]
    curves = {(one["name"]["trialId"], one["name"]["tag"]): int(one["points"]) for one in listed}
    assert curves == {("1", "score"): 3, ("1", "loss"): 3, ("2", "score"): 3, ("3", "score"): 3, ("3", "loss"): 3}


def test_further_metrics_are_checked(server, upload):
    def refused(further):
        spec = {"hyperparameterMetricTag": "score", "params": [X], "furtherMetrics": [further]}
        answer = server.create("wrong", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", hyperparameters=spec)
        assert answer.status_code == 400, answer.text
        return answer.json()["error"]["message"]

    assert "The tag 'score' is used twice." in refused({"hyperparameterMetricTag": "score", "goal": "MINIMIZE"})
    assert "The goal must be MAXIMIZE or MINIMIZE." in refused({"hyperparameterMetricTag": "loss"})


def test_a_tuning_job_of_vertex(server, upload):
    trial = {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, "pythonPackageSpec": {
        "executorImageUri": IMAGE, "packageUris": [upload(server, "tuned")], "pythonModule": "tuned.task", "args": ["--also=loss"]}}]}
    study = {"metrics": [{"metricId": "score", "goal": "MAXIMIZE"}, {"metricId": "loss", "goal": "MINIMIZE"}],
             "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}]}
    created = server.request("POST", VERTEX, json={"displayName": "two", "studySpec": study, "maxTrialCount": 2, "parallelTrialCount": 2,
                                                   "trialJobSpec": trial})
    assert created.status_code == 200, created.text
    number = created.json()["name"].rsplit("/", 1)[1]
    job = server.wait("vertex_" + number)
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    assert job["trainingInput"]["hyperparameters"]["furtherMetrics"] == [{"hyperparameterMetricTag": "loss", "goal": "MINIMIZE"}]
    seen = server.request("GET", f"{VERTEX}/{number}").json()
    assert seen["studySpec"]["metrics"] == study["metrics"]
    assert [one["id"] for one in seen["trials"]] == ["1", "2"]
    for one in seen["trials"]:
        x = one["parameters"][0]["value"]
        assert one["state"] == "SUCCEEDED"
        assert one["finalMeasurement"]["metrics"] == [{"metricId": "score", "value": x}, {"metricId": "loss", "value": 1 - x}]
