"""Tuning jobs with a parameter that has a value only in some trials, by ml v1 (condition) and by Vertex AI (conditionalParameterSpecs)."""

import json

import pytest

from trainyard_server import MINIMAL_RUNTIME

VERTEX = "/aiplatform/v1/projects/p/locations/us-central1/hyperparameterTuningJobs"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"  # stands for the runtime version 2.15
KIND = {"parameterName": "kind", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]}
BATCH = {"parameterName": "batch", "type": "DISCRETE", "discreteValues": [32, 16], "condition": {"parameterName": "kind", "values": ["sgd"]}}
# The whole grid: what each trial is given, and what its program says of it; 0 is the program's own default.
GRID = [({"kind": "adam"}, "0 adam"), ({"kind": "sgd", "batch": "16"}, "16 sgd"), ({"kind": "sgd", "batch": "32"}, "32 sgd")]


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A 2.15 without packages: the program needs none."""
    folder = tmp_path_factory.mktemp("conditions") / "environments/runtimes.d"
    folder.mkdir(parents=True)
    (folder / "2.15.json").write_text(json.dumps({**MINIMAL_RUNTIME, "version": "2.15"}))
    return folder.parent


def check(server, job):
    """Each point of the grid was tried once, and a program got the flags of its trial alone."""
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    trials = sorted(job["trainingOutput"]["trials"], key=lambda trial: int(trial["trialId"]))
    assert [trial["hyperparameters"] for trial in trials] == [given for given, _ in GRID]
    said = [text.split(" ", 3)[1::2] for text in server.texts(job["jobId"], "master-replica-0") if text.startswith("trial ")]
    assert {trial: text.removeprefix("0.0 0 ") for trial, text in said} == {str(at): text for at, (_, text) in enumerate(GRID, 1)}
    commands = [text for text in server.texts(job["jobId"], "master-replica-0") if text.startswith("Running command: python3 -m tuned.task")]
    assert len(commands) == 3 and sum("--batch" in command for command in commands) == 2, commands


def test_a_job_of_ml_v1(server, upload):
    spec = {"hyperparameterMetricTag": "score", "algorithm": "GRID_SEARCH", "maxTrials": 9, "params": [KIND, BATCH]}
    server.submit("first", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", hyperparameters=spec)
    check(server, server.wait("first"))
    table = server.trainyard("jobs", "trials", "first", "--format", "csv").stdout.splitlines()
    assert table[0].startswith("trial_id,state,batch,kind,") and sum(",,adam," in row for row in table) == 1, table
    others = {**spec, "resumePreviousJobId": "first", "params": [KIND, {**BATCH, "condition": {"parameterName": "kind", "values": ["adam"]}}]}
    refused = server.create("second", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", hyperparameters=others)
    assert refused.status_code == 400 and "its params are others" in refused.text, refused.text
    wrong = {**spec, "params": [KIND, {**BATCH, "condition": {"parameterName": "kind", "values": ["lion"]}}]}
    refused = server.create("third", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", hyperparameters=wrong)
    assert refused.status_code == 400 and "'lion' is not a value of the parameter 'kind'." in refused.text, refused.text
    listed = server.request("GET", VERTEX).json()["hyperparameterTuningJobs"]
    (kind,) = listed[0]["studySpec"]["parameters"]
    assert kind["conditionalParameterSpecs"] == [{
        "parameterSpec": {"parameterId": "batch", "discreteValueSpec": {"values": [16, 32]}}, "parentCategoricalValues": {"values": ["sgd"]}}]


def test_a_job_of_vertex(server, upload):
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1,
            "pythonPackageSpec": {"executorImageUri": IMAGE, "packageUris": [upload(server, "tuned")], "pythonModule": "tuned.task"}}
    batch = {"parameterId": "batch", "discreteValueSpec": {"values": [16, 32]}}
    kind = {"parameterId": "kind", "categoricalValueSpec": {"values": ["adam", "sgd"]}, "conditionalParameterSpecs": [
        {"parameterSpec": batch, "parentCategoricalValues": {"values": ["sgd"]}}]}
    asked = {"displayName": "tuned", "maxTrialCount": 9, "parallelTrialCount": 1, "trialJobSpec": {"workerPoolSpecs": [pool]},
             "studySpec": {"algorithm": "GRID_SEARCH", "metrics": [{"metricId": "score", "goal": "MAXIMIZE"}], "parameters": [kind]}}
    created = server.request("POST", VERTEX, json=asked)
    assert created.status_code == 200, created.text
    assert created.json()["studySpec"]["parameters"] == [kind]
    number = created.json()["name"].rsplit("/", 1)[1]
    check(server, server.wait("vertex_" + number))
    trials = server.request("GET", f"{VERTEX}/{number}").json()["trials"]
    assert [trial["parameters"] for trial in trials] == [
        [{"parameterId": "kind", "value": "adam"}],
        [{"parameterId": "kind", "value": "sgd"}, {"parameterId": "batch", "value": 16}],
        [{"parameterId": "kind", "value": "sgd"}, {"parameterId": "batch", "value": 32}]]
    kind["conditionalParameterSpecs"][0]["parentCategoricalValues"]["values"] = ["lion"]
    refused = server.request("POST", VERTEX, json=asked).json()["error"]["message"]
    assert refused == (
        "List of found errors:\t1.Field: study_spec.parameters[0].conditional_parameter_specs[0].parent_categorical_values.values; "
        "Message: 'lion' is not a value of the parameter 'kind'.\t")
