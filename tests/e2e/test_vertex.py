"""The successor's API, Vertex AI: custom jobs by its own clients, unmodified, beside ml v1."""

import json
import os
import subprocess

import pytest

from trainyard_server import MINIMAL_RUNTIME, PROGRAM, ROOT

PARENT = "/aiplatform/v1/projects/p/locations/us-central1/customJobs"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"  # stands for the runtime version 2.15


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A 2.15 without packages: what a program imports is not what these tests are about."""
    folder = tmp_path_factory.mktemp("vertex") / "environments/runtimes.d"
    folder.mkdir(parents=True)
    (folder / "2.15.json").write_text(json.dumps({**MINIMAL_RUNTIME, "version": "2.15"}))
    return folder.parent


def pool(server, upload, *args, count=1):
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": count,
            "pythonPackageSpec": {"executorImageUri": IMAGE, "packageUris": [upload(server, "probe")], "pythonModule": "probe.task",
                                  "args": list(args)}}


def create(server, spec, name="census", **more):
    return server.request("POST", PARENT, json={"displayName": name, "jobSpec": spec, **more})


def job_of(server, name):
    """As ml v1 shows it."""
    return server.wait("vertex_" + name.rsplit("/", 1)[1])


@pytest.fixture
def clients(server, tmp_path):
    """Runs a command as after `eval "$(trainyard env)"`."""
    def run(*command, timeout=180):
        environment = {**os.environ, **server.client_environment(), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
                       "CLOUDSDK_CORE_PROJECT": "p"}
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path, env=environment)
    return run


def test_an_accelerator_that_does_not_fit_is_refused_with_what_would(server, upload):
    wrong = pool(server, upload)
    wrong["machineSpec"] = {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 4}
    answer = create(server, {"workerPoolSpecs": [wrong]})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"] == (
        "List of found errors:\t1.Field: job_spec.worker_pool_specs[0].machine_spec.accelerator_type; Message: Accelerator "
        '"NVIDIA_L4" is not supported for machine type "n1-standard-4". Machine types with 4 of them: g2-standard-48.\t')


def test_a_custom_job_is_a_job_of_both_apis(server, upload):
    asked = {"workerPoolSpecs": [pool(server, upload)], "baseOutputDirectory": {"outputUriPrefix": "gs://models/out"}}
    created = create(server, asked, labels={"team": "a"}).json()
    assert created["state"] == "JOB_STATE_PENDING" or created["state"] == "JOB_STATE_QUEUED", created
    assert created["displayName"] == "census" and created["labels"] == {"team": "a"}
    parent, number = created["name"].rsplit("/", 1)
    assert parent == "projects/p/locations/us-central1/customJobs" and len(number) == 19
    job = job_of(server, created["name"])
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    seen = server.request("GET", f"{PARENT}/{number}").json()
    assert seen["state"] == "JOB_STATE_SUCCEEDED" and seen["endTime"] == job["endTime"], seen
    assert seen["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["pythonModule"] == "probe.task"
    listed = server.request("GET", PARENT + '?filter=display_name="census" AND state="JOB_STATE_SUCCEEDED"').json()
    assert [one["name"] for one in listed["customJobs"]] == [created["name"]]
    assert server.request("GET", PARENT + '?filter=display_name="other"').json() == {}


def test_a_job_of_ml_v1_is_listed_with_a_number_that_stays(server, upload):
    server.submit("old", packageUris=[upload(server, "probe")], pythonModule="probe.task")
    server.wait("old")
    first = server.request("GET", PARENT).json()["customJobs"]
    assert [one["displayName"] for one in first] == ["old"]
    number = first[0]["name"].rsplit("/", 1)[1]
    assert server.request("GET", f"{PARENT}/{number}").json()["state"] == "JOB_STATE_SUCCEEDED"


def test_everything_that_is_wrong_is_said_at_once(server):
    answer = create(server, {"workerPoolSpecs": [{"replicaCount": 2, "machineSpec": {"machineType": "n1-standard-4"}}]}, name="")
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["status"] == "INVALID_ARGUMENT"
    assert error["message"].startswith("List of found errors:\t1.Field: display_name; Message: ")
    assert "job_spec.worker_pool_specs[0].replica_count" in error["message"]


def test_cancel_and_delete(server, upload):
    name = create(server, {"workerPoolSpecs": [pool(server, upload, "forever")]}).json()["name"]
    number = name.rsplit("/", 1)[1]
    refused = server.request("DELETE", f"{PARENT}/{number}")
    assert refused.status_code == 400 and "has not ended" in refused.json()["error"]["message"]
    assert server.request("POST", f"{PARENT}/{number}:cancel", json={}).json() == {}
    assert job_of(server, name)["state"] == "CANCELLED"
    seen = server.request("GET", f"{PARENT}/{number}").json()
    assert seen["state"] == "JOB_STATE_CANCELLED" and seen["error"]["code"] == 1, seen
    operation = server.request("DELETE", f"{PARENT}/{number}").json()
    assert operation["done"] is True and operation["response"]["@type"] == "type.googleapis.com/google.protobuf.Empty"
    assert server.request("GET", f"{PARENT}/{number}").status_code == 404


def test_gcloud(server, upload, gcloud, clients, tmp_path):
    spec = tmp_path / "config.json"
    spec.write_text(json.dumps({"workerPoolSpecs": [pool(server, upload, "print", "hello")]}))
    region = "--region=us-central1"
    created = clients(gcloud, "ai", "custom-jobs", "create", region, "--display-name=census", f"--config={spec}", "--format=json")
    assert created.returncode == 0, created.stderr
    name = json.loads(created.stdout)["name"]
    assert job_of(server, name)["state"] == "SUCCEEDED"
    described = clients(gcloud, "ai", "custom-jobs", "describe", name.rsplit("/", 1)[1], region, "--format=value(state)")
    assert described.stdout == "JOB_STATE_SUCCEEDED\n", described.stderr
    listed = clients(gcloud, "ai", "custom-jobs", "list", region, "--filter=displayName=census", "--format=value(name)")
    assert listed.stdout == name + "\n", listed.stderr
    number = name.rsplit("/", 1)[1]
    logged = clients(gcloud, "logging", "read", f'resource.labels.job_id="{number}" AND resource.labels.task_name="workerpool0-0"',
                     "--format=value(resource.labels.job_id,resource.labels.task_name)")
    assert set(logged.stdout.splitlines()) == {f"{number}\tworkerpool0-0"}, logged.stderr


SDK = """
import sys
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform
from google.cloud.aiplatform import hyperparameter_tuning as hpt
transport, endpoint, package, image = sys.argv[1:]
aiplatform.init(project="p", location="us-central1", credentials=AnonymousCredentials(), staging_bucket="gs://models",
                api_endpoint=endpoint, api_transport=transport)


def pools(module):
    return [{"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1,
             "python_package_spec": {"executor_image_uri": image, "package_uris": [package], "python_module": module}}]
"""
CUSTOM_JOB = SDK + """
job = aiplatform.CustomJob("census", pools("probe.task"))
job.run()
print(job.state.name, job.display_name, len(aiplatform.CustomJob.list(filter='display_name="census"')))
"""
SCRIPT = SDK + """
open("task.py", "w").write("import sys; print('the script runs with', sys.argv[1:])")
job = aiplatform.CustomTrainingJob("script", script_path="task.py", container_uri=image)
job.run(replica_count=1, machine_type="n1-standard-4", args=["--steps", "3"])
print(job.state.name, job.resource_name)
"""
TUNING = SDK + """
job = aiplatform.HyperparameterTuningJob(
    "tuned", aiplatform.CustomJob("trial", pools("tuned.task")), metric_spec={"score": "maximize"},
    parameter_spec={"x": hpt.DoubleParameterSpec(min=0, max=1, scale="linear")}, max_trial_count=2, parallel_trial_count=2)
job.run()
print(job.state.name, sorted((trial.id, trial.state.name, trial.parameters[0].parameter_id) for trial in job.trials))
"""


@pytest.fixture
def sdk(server, upload, clients):
    """Runs a program with the SDK, as users have it, and returns its last line."""
    python = ROOT / "build/venv-vertex/bin/python"
    if not python.exists():
        pytest.skip("no build/venv-vertex: ./dev test installs it")

    def run(program, transport, package="probe"):
        endpoint = server.url + "/aiplatform" if transport == "rest" else server.presence["tls_url"].removeprefix("https://")
        done = clients(str(python), "-c", program, transport, endpoint, upload(server, package), IMAGE)
        assert done.returncode == 0, done.stderr[-5000:]
        return done.stdout.splitlines()[-1]
    return run


@pytest.mark.parametrize("transport", ["rest", "grpc"])
def test_a_custom_job_of_the_sdk(sdk, transport):
    assert sdk(CUSTOM_JOB, transport) == "JOB_STATE_SUCCEEDED census 1"


def test_a_script_of_the_sdk(server, sdk):
    """A training pipeline, with the custom job behind it."""
    state, name = sdk(SCRIPT, "grpc").split()
    assert state == "PIPELINE_STATE_SUCCEEDED"
    number = name.rsplit("/", 1)[1]
    assert server.request("GET", f"{PARENT}/{number}").json()["displayName"] == "script-custom-job"
    assert "the script runs with ['--steps', '3']" in server.texts("vertex_" + number)


def test_a_tuning_job_of_the_sdk(sdk):
    assert sdk(TUNING, "rest", "tuned") == "JOB_STATE_SUCCEEDED [('1', 'SUCCEEDED', 'x'), ('2', 'SUCCEEDED', 'x')]"


def test_what_a_program_sees(server, upload):
    """CLUSTER_SPEC on every replica, TF_CONFIG only in jobs of several; the arguments and variables of its pool; the number of its
    project, which paths take, and the address of each replica."""
    spec = {"workerPoolSpecs": [pool(server, upload, "environment"), pool(server, upload, "environment", count=2)],
            "baseOutputDirectory": {"outputUriPrefix": "gs://models/out"}}
    spec["workerPoolSpecs"][1]["pythonPackageSpec"] |= {"args": ["print", "a worker", "environment"], "env": [{"name": "ROLE", "value": "w"}]}
    job = job_of(server, create(server, spec).json()["name"])
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    seen = {task: json.loads(text.removeprefix("ENVIRONMENT ")) for task in ("master-replica-0", "worker-replica-1")
            for text in server.texts(job["jobId"], task) if text.startswith("ENVIRONMENT ")}
    cluster = json.loads(seen["worker-replica-1"]["CLUSTER_SPEC"])
    assert {pool: len(hosts) for pool, hosts in cluster["cluster"].items()} == {"workerpool0": 1, "workerpool1": 2}
    assert cluster["task"] == {"type": "workerpool1", "index": 1}
    assert json.loads(seen["master-replica-0"]["TF_CONFIG"])["task"]["type"] == "chief"
    assert seen["master-replica-0"]["AIP_MODEL_DIR"] == "gs://models/out/model/" and "ROLE" not in seen["master-replica-0"]
    assert seen["worker-replica-1"]["ROLE"] == "w" and "a worker" in server.texts(job["jobId"], "worker-replica-1")
    number = seen["worker-replica-1"]["CLOUD_ML_PROJECT_ID"]
    assert number.isdigit() and server.request("GET", f"/v1/projects/{number}").json()["projectId"] == "p"
    assert server.request("GET", PARENT.replace("/p/", f"/{number}/")).json() == server.request("GET", PARENT).json()
    variables = seen["master-replica-0"]
    addresses = {f"{host}:{variables[name.replace('_HOST', '_PORT')]}" for name, host in variables.items() if name.endswith("_SERVICE_HOST")}
    assert addresses == {host for hosts in cluster["cluster"].values() for host in hosts}
    alone = job_of(server, create(server, {"workerPoolSpecs": [pool(server, upload, "environment")]}, name="alone").json()["name"])
    text = next(text for text in server.texts(alone["jobId"]) if text.startswith("ENVIRONMENT "))
    assert "TF_CONFIG" not in json.loads(text.removeprefix("ENVIRONMENT ")) and "CLUSTER_SPEC" in text


UNCHANGED = """
import sys
from google.cloud import aiplatform
package, image = sys.argv[1:]
aiplatform.init(project="p", location="us-central1", staging_bucket="gs://models")
job = aiplatform.CustomJob("census", [{
    "machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1,
    "python_package_spec": {"executor_image_uri": image, "package_uris": [package], "python_module": "probe.task"}}])
job.run()
print(job.state.name)
"""


def test_a_program_that_names_no_endpoint(server, upload, tmp_path):
    """Below `trainyard with`, over gRPC, as it is."""
    python = ROOT / "build/venv-vertex/bin/python"
    if not python.exists():
        pytest.skip("no build/venv-vertex: ./dev test installs it")
    done = subprocess.run([PROGRAM, "with", "--data", str(server.data), "--", str(python), "-c", UNCHANGED, upload(server, "probe"), IMAGE],
                          capture_output=True, text=True, timeout=180, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr[-5000:] + server.stderr()
    assert done.stdout.splitlines()[-1] == "JOB_STATE_SUCCEEDED", done.stdout
