"""Models of Vertex AI: the record of what a training pipeline has trained, by the SDK and by requests."""

import json

import pytest

from test_vertex import SDK, clients, environments, pool, sdk  # fixtures  # noqa: F401

LOCATION = "/aiplatform/v1/projects/p/locations/us-central1"
TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
SERVING = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"

TRAINED = SDK + """
import json
open("task.py", "w").write("import os; print('model in', os.environ['AIP_MODEL_DIR'])")
job = aiplatform.CustomTrainingJob(
    "census", script_path="task.py", container_uri=image, model_serving_container_image_uri="SERVING",
    model_serving_container_predict_route="/predict", model_serving_container_health_route="/health",
    model_serving_container_command=["serve"], model_serving_container_args=["-v"], model_serving_container_ports=[8080],
    model_serving_container_environment_variables={"A": "b"}, model_description="by age")
model = job.run(replica_count=1, machine_type="n1-standard-4", base_output_dir="gs://models/census", model_display_name="census-model",
                model_labels={"team": "a"})
spec = model.container_spec
listed = aiplatform.Model.list(filter='display_name="census-model"')
print(json.dumps({
    "name": model.resource_name, "display_name": model.display_name, "version": model.version_id, "aliases": list(model.version_aliases),
    "uri": model.uri, "description": model.description, "labels": dict(model.labels), "created": bool(model.create_time),
    "image": spec.image_uri, "routes": [spec.predict_route, spec.health_route], "command": list(spec.command) + list(spec.args),
    "ports": [port.container_port for port in spec.ports], "env": {variable.name: variable.value for variable in spec.env},
    "job": model.to_dict()["trainingPipeline"], "listed": [one.resource_name for one in listed],
    "by name": aiplatform.Model(model.name).display_name, "of the job": job.get_model().resource_name}))
""".replace("SERVING", SERVING)


@pytest.mark.parametrize("transport", [pytest.param("rest", marks=pytest.mark.long), "grpc"])
def test_a_training_job_returns_its_model(server, sdk, transport):  # noqa: F811
    model = json.loads(sdk(TRAINED, transport))
    number = model["name"].rsplit("/", 1)[1]
    name = f"projects/p/locations/us-central1/models/{number}"
    assert len(number) == 19 and model == {
        "name": name, "display_name": "census-model", "version": "1", "aliases": ["default"], "uri": "gs://models/census/model",
        "description": "by age", "labels": {"team": "a"}, "created": True, "image": SERVING, "routes": ["/predict", "/health"],
        "command": ["serve", "-v"], "ports": [8080], "env": {"A": "b"}, "job": f"projects/p/locations/us-central1/trainingPipelines/{number}",
        "listed": [name], "by name": "census-model", "of the job": name}
    assert f"model in {model['uri']}/" in server.texts("vertex_" + number)


def pipeline(server, upload, *args, **more):
    asked = {"displayName": "census", "trainingTaskDefinition": TASK, "trainingTaskInputs": {"worker_pool_specs": [pool(server, upload, *args)]},
             "modelToUpload": {"displayName": "mm", "containerSpec": {"imageUri": SERVING}}, **more}
    return server.request("POST", f"{LOCATION}/trainingPipelines", json=asked)


def test_no_model_before_success(server, upload):
    created = pipeline(server, upload, "exit", "3").json()
    assert "name" not in created["modelToUpload"] and created["modelToUpload"]["displayName"] == "mm", created
    number = created["name"].rsplit("/", 1)[1]
    assert server.request("GET", f"{LOCATION}/models/{number}").status_code == 404
    assert server.wait("vertex_" + number)["state"] == "FAILED"
    seen = server.request("GET", f"{LOCATION}/trainingPipelines/{number}").json()
    assert seen["state"] == "PIPELINE_STATE_FAILED" and "name" not in seen["modelToUpload"]
    assert server.request("GET", f"{LOCATION}/models/{number}").status_code == 404
    assert server.request("GET", f"{LOCATION}/models").json() == {}


def test_a_model_by_its_version(server, upload):
    """Without an output directory nobody knows where its files are."""
    created = pipeline(server, upload, labels={"team": "a"}).json()
    number = created["name"].rsplit("/", 1)[1]
    assert server.wait("vertex_" + number)["state"] == "SUCCEEDED"
    seen = server.request("GET", f"{LOCATION}/trainingPipelines/{number}").json()
    assert seen["modelToUpload"]["name"] == f"projects/p/locations/us-central1/models/{number}", seen
    model = server.request("GET", f"/aiplatform/v1beta1/projects/p/locations/us-central1/models/{number}").json()
    assert model["createTime"] == seen["endTime"] and model["trainingPipeline"] == created["name"] and "artifactUri" not in model, model
    for version in ("1", "default"):
        assert server.request("GET", f"{LOCATION}/models/{number}@{version}").json() == model
    assert server.request("GET", f"{LOCATION}/models/{number}@2").status_code == 404
    assert server.request("GET", f"/aiplatform/v1/projects/p/locations/europe-west4/models/{number}").status_code == 404
    assert server.request("GET", f"{LOCATION}/models?orderBy=create_time desc&filter=display_name=\"mm\"").json() == {"models": [model]}
    assert "Models are listed newest first" in server.request("GET", f"{LOCATION}/models?orderBy=display_name").json()["error"]["message"]
    # A custom job has none, not even a pipeline's under the same number, once the pipeline is gone.
    assert server.request("DELETE", f"{LOCATION}/trainingPipelines/{number}").json()["done"] is True
    assert server.request("GET", f"{LOCATION}/models/{number}").status_code == 404


def test_what_is_wrong_with_a_model(server, upload):
    asked = {"labels": {"A": "b"}, "explanationSpec": {}}
    message = pipeline(server, upload, modelToUpload=asked).json()["error"]["message"]
    assert [field.split(";")[0] for field in message.split("Field: ")[1:]] == [
        "model_to_upload.display_name", "model_to_upload.container_spec.image_uri", "model_to_upload.explanation_spec", "model_to_upload.labels"]
