"""Clients of Vertex AI that have to be fetched, unmodified below `trainyard with`: an old Python SDK, Airflow's operators, Node. Each
creates a custom job, waits for its end and reads it. Run by ./dev test --long."""

import json
import shutil
import subprocess

import pytest

from test_clients_of_any_age import CLIENTS, KEPT, find_python, venv
from test_clients_with import run_with  # a fixture  # noqa: F401
from test_vertex import IMAGE, environments  # fixtures  # noqa: F401
from trainyard_server import ROOT

pytestmark = pytest.mark.long


def installed(name, python, *packages):
    """Where the programs of these packages are; skips where they cannot be had."""
    try:
        return venv(name, find_python(python), *packages)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip cannot install {packages[0]}: {error}")


SDK_OF_2022 = """
import sys
from google.cloud import aiplatform
package, image = sys.argv[1:]
aiplatform.init(project="p", location="us-central1", staging_bucket="gs://models")
job = aiplatform.CustomJob("census", [{
    "machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1,
    "python_package_spec": {"executor_image_uri": image, "package_uris": [package], "python_module": "probe.task"}}])
job.run()
print(aiplatform.CustomJob.get(job.resource_name).state.name, len(aiplatform.CustomJob.list(filter='display_name="census"')))
"""


def test_the_sdk_of_2022(run_with, upload, server):  # noqa: F811
    """1.16 knows gRPC alone, and no endpoint of one's own."""
    # The versions of its days: pip finds them by itself only in a quarter of an hour.
    python = installed("google-cloud-aiplatform-1.16", "3.9", "google-cloud-aiplatform==1.16.1", "google-api-core==2.10.2", "grpcio==1.51.3",
                       "grpcio-status==1.48.2", "google-cloud-storage==2.5.0", "setuptools<80") / "python"
    done = run_with(str(python), "-c", SDK_OF_2022, upload(server, "probe"), IMAGE, timeout=300)
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout.splitlines()[-1] == "JOB_STATE_SUCCEEDED 1"


@pytest.mark.parametrize("transport", ["rest", "grpc"])
def test_node(run_with, upload, server, transport):  # noqa: F811
    if not shutil.which("npm"):
        pytest.skip("no npm on PATH")
    folder = KEPT / "node-aiplatform"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True}))
    if not (folder / "made").exists():
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "@google-cloud/aiplatform"], cwd=folder, capture_output=True)
        if done.returncode:
            pytest.skip("npm cannot install @google-cloud/aiplatform")
        (folder / "made").touch()
    shutil.copy(CLIENTS / "vertex_node.js", folder)
    done = run_with("node", str(folder / "vertex_node.js"), upload(server, "probe"), IMAGE, transport, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "JOB_STATE_SUCCEEDED census 1"


LOCAL_SCRIPT = """
import sys
from google.cloud import aiplatform
package, image = sys.argv[1:]
aiplatform.init(project="p", location="us-central1", staging_bucket="gs://models")
open("task.py", "w").write("import sys; print('the script runs with', sys.argv[1:])")
job = aiplatform.CustomJob.from_local_script("local", script_path="task.py", container_uri=image, args=["--steps", "3"])
job.run()
trained = aiplatform.CustomPythonPackageTrainingJob("package", python_package_gcs_uri=package, python_module_name="probe.task",
                                                    container_uri=image)
trained.run(replica_count=1, machine_type="n1-standard-4", args=["print", "it runs"])
print(job.state.name, trained.state.name)
"""


def test_a_local_script_and_a_package_of_the_sdk(run_with, upload, server, tmp_path):  # noqa: F811
    python = ROOT / "build/venv-vertex/bin/python"
    if not python.exists():
        pytest.skip("no build/venv-vertex: ./dev test installs it")
    done = run_with("sh", "-c", 'cd "$0" && exec "$@"', str(tmp_path), str(python), "-c", LOCAL_SCRIPT, upload(server, "probe"), IMAGE,
                    timeout=400)
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout.splitlines()[-1] == "JOB_STATE_SUCCEEDED PIPELINE_STATE_SUCCEEDED"


AIRFLOW = """
import asyncio
import sys
from unittest.mock import MagicMock
from airflow.exceptions import TaskDeferred
from airflow.providers.google.cloud.operators.vertex_ai.custom_job import CreateCustomPythonPackageTrainingJobOperator
package, image, way = sys.argv[1:]
operator = CreateCustomPythonPackageTrainingJobOperator(
    task_id="train", project_id="p", region="us-central1", display_name="census", staging_bucket="gs://models",
    python_package_gcs_uri=package, python_module_name="probe.task", container_uri=image, replica_count=1, machine_type="n1-standard-4",
    model_serving_container_image_uri="us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest", model_display_name="m",
    deferrable=way == "deferrable", poll_interval=1)
context = {"ti": MagicMock(), "task": operator}


async def first(events):
    async for event in events:
        return event.payload

try:
    model = operator.execute(context)
except TaskDeferred as deferred:
    model = getattr(operator, deferred.method_name)(context, event=asyncio.run(first(deferred.trigger.run())))
print(model["name"].rsplit("/", 2)[1], model.get("displayName") or model["display_name"])
"""


@pytest.mark.parametrize("way", ["waits", "deferrable"])
def test_an_operator_of_airflow(run_with, upload, server, tmp_path, way):  # noqa: F811
    """Called directly, as Airflow's worker and, where it defers, its triggerer call it."""
    bin = installed("uv", "3.11", "uv")  # pip needs a quarter of an hour to choose 150 packages
    folder = KEPT / "airflow-google"
    if not (folder / "made").exists():
        subprocess.run([str(bin / "uv"), "venv", "-q", "--clear", "--python", find_python("3.11"), str(folder)], check=True)
        if subprocess.run([str(bin / "uv"), "pip", "install", "-q", "--python", str(folder), "apache-airflow-providers-google"]).returncode:
            pytest.skip("uv cannot install apache-airflow-providers-google")
        (folder / "made").touch()
    done = run_with(str(folder / "bin/python"), "-c", AIRFLOW, upload(server, "probe"), IMAGE, way, timeout=400,
                    AIRFLOW_HOME=str(tmp_path / "airflow"), AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT="google-cloud-platform://")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert done.stdout.splitlines()[-1] == "models m"
