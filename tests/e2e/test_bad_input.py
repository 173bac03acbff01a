"""What is refused: status, field path and words."""

import json
import re
import socket

import pytest

BASE = {"packageUris": ["gs://packages/probe.tar.gz"], "pythonModule": "probe.task", "region": "us-central1"}

REFUSED = [  # name, change to the job's body, HTTP status, part of the message
    ("unknown_field", {"bogusField": 1}, 400, "Unknown name \"bogusField\" at 'job.training_input': Cannot find field."),
    ("near_field", {"runtime_verson": "2.15"}, 400, "Cannot find field. Did you mean 'runtimeVersion'?"),
    ("near_enum", {"scaleTier": "basic-gpus"}, 400, "Did you mean 'BASIC_GPU'?"),
    ("near_machine", {"scaleTier": "CUSTOM", "masterType": "n1-standart-4"}, 400, "n1-standart-4. Did you mean 'n1-standard-4'?"),
    ("near_region", {"region": "us-centra1"}, 400, "Did you mean 'us-central1'?"),
    ("region_without", {"scaleTier": "BASIC_GPU", "region": "us-west3"}, 400, "Regions with all accelerators of the job: asia-east1, europe-west1, "),
    ("near_runtime", {"runtimeVersion": "2.15.0"}, 400, " to 2.11, 2.15, 2.21"),
    ("near_runtime_first", {"runtimeVersion": "2.15.0"}, 400, "Did you mean '2.15'? There are: "),
    ("unknown_enum", {"scaleTier": "HUGE"}, 400, "scale_tier"),
    ("job_dir", {"jobDir": "/home/me"}, 400, "job_dir"),
    ("count_without_custom", {"workerCount": 2}, 400, "worker_count"),
    ("wait_too_short", {"scheduling": {"maxWaitTime": "5s"}}, 400, "max_wait_time"),
    ("priority", {"scheduling": {"priority": 1001}}, 400, "priority"),
    ("old_runtime", {"runtimeVersion": "0.9"}, 400, "The specified runtime version '0.9' with the Python version '' is not supported"),
    ("no_module", {"pythonModule": ""}, 400, "python_module"),
    ("no_region", {"region": ""}, 400, "region"),
    ("local_package", {"packageUris": ["/tmp/x.tar.gz"]}, 400, "package_uris"),
    ("missing_package", {"packageUris": ["gs://packages/nothing.tar.gz"]}, 400, "gs://packages/nothing.tar.gz"),
    ("wrong_type", {"packageUris": {"uri": "gs://packages/probe.tar.gz"}}, 400, "package_uris"),
]


@pytest.mark.parametrize("name,change,status,text", REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(server, upload, name, change, status, text):
    upload(server, "probe")
    response = server.request("POST", "/v1/projects/p/jobs", json={"jobId": name, "trainingInput": {**BASE, **change}})
    error = response.json()["error"]
    assert response.status_code == status, error
    assert text in json.dumps(error).replace('\\"', '"'), error
    assert server.request("GET", f"/v1/projects/p/jobs/{name}").status_code == 404


@pytest.mark.parametrize("job_id", ["9bad", "a-b", "", "a" * 129, "_x", "a/b"])
def test_job_ids(server, job_id):
    response = server.request("POST", "/v1/projects/p/jobs", json={"jobId": job_id, "trainingInput": BASE})
    assert response.status_code == 400 and "job_id" in response.text


def test_a_doubled_id(server, upload):
    upload(server, "probe")
    server.submit("twice", **BASE)
    response = server.create("twice", **BASE)
    assert response.status_code == 409
    message = response.json()["error"]["message"]
    assert re.fullmatch(r"Field: job\.job_id Error: A job with this id already exists\. It is [A-Z]+\.", message), message


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"nonsense", b'{"jobId": "x"', b"\xff\xfe", b'{"jobId": {}}', b"null"])
def test_garbage(server, body):
    response = server.request("POST", "/v1/projects/p/jobs", data=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400 and response.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_a_body_that_is_cut(server):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"POST /v1/projects/p/jobs HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jobId\": \"cut")
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert answer == b"" or b" 400 " in answer.split(b"\r\n")[0]
    assert server.request("GET", "/v1/projects/p/jobs/cut").status_code == 404


def test_unknown_paths_and_methods(server):
    assert server.request("GET", "/v1/nothing").status_code == 404
    assert server.request("DELETE", "/v1/projects/p/jobs/x").status_code in (404, 405)
    response = server.request("GET", "/v1/projects/p/jobs/none")
    assert response.status_code == 404 and response.json()["error"]["status"] == "NOT_FOUND"
