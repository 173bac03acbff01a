"""The methods of ml v1 beside the plain life of a job: patch, policies, configuration, locations, operations, list filters, the
parameters that all methods take, and quotas."""

import base64
import json
import subprocess

import pytest
from google.auth.credentials import AnonymousCredentials
from googleapiclient import discovery
from googleapiclient.errors import HttpError

from test_clients import gcloud_environment

PROGRAM = {"pythonModule": "probe.task", "args": ["print", "x"]}
JOB = "/v1/projects/p/jobs/j"


@pytest.fixture
def ml(server):
    """google-api-python-client, as a user builds it."""
    return discovery.build("ml", "v1", client_options={"api_endpoint": server.url}, credentials=AnonymousCredentials()).projects()


@pytest.fixture
def job(server, upload):
    server.submit("j", packageUris=[upload(server, "probe")], **PROGRAM)
    return server.wait("j")


def error_of(response):
    error = response.json()["error"]
    assert error["code"] == response.status_code, error
    return error


def refused(response, status, field):
    error = error_of(response)
    assert response.status_code == status, error
    assert error["details"][0]["fieldViolations"][0]["field"] == field, error
    return error["message"]


# patch

def test_patch(server, job):
    etag = server.get("j")["etag"]
    assert base64.b64decode(etag, validate=True)
    body = {"labels": {"team": "a"}, "etag": etag, "state": "FAILED"}
    patched = server.request("PATCH", JOB, params={"updateMask": "labels,etag"}, json=body).json()
    assert patched["labels"] == {"team": "a"} and patched["state"] == "SUCCEEDED" and patched["etag"] != etag
    again = server.request("PATCH", JOB, params={"updateMask": "labels,etag"}, json=body)
    assert again.status_code == 409 and error_of(again)["status"] == "ABORTED"
    without = server.request("PATCH", JOB, params={"updateMask": "labels,etag"}, json={"labels": {}})
    assert without.status_code == 409, "an etag that is asked for and not given is no match"
    assert server.get("j")["labels"] == {"team": "a"}
    # Labels are replaced as a whole; snake_case parameters are the same parameters.
    assert "labels" not in server.request("PATCH", JOB, params={"update_mask": "labels"}, json={}).json()


@pytest.mark.parametrize("mask", [None, "", "state", "labels,job_id", "trainingInput", "training_input", "labels.team", "*"])
def test_patch_masks(server, job, mask):
    params = {} if mask is None else {"updateMask": mask}
    refused(server.request("PATCH", JOB, params=params, json={"labels": {"a": "b"}}), 400, "update_mask")
    assert "labels" not in server.get("j")


def test_patch_of_a_bad_etag(server, job):
    response = server.request("PATCH", JOB, params={"updateMask": "etag"}, json={"etag": "not base64!"})
    assert response.status_code == 400 and "job.etag" in response.text


# policies

BINDING = {"role": "roles/ml.viewer", "members": ["user:a@example.com"]}


def test_policies(server, job, ml):
    jobs = ml.jobs()
    name = "projects/p/jobs/j"
    assert jobs.getIamPolicy(resource=name).execute() == {"etag": "ACAB"}
    policy = {"bindings": [BINDING], "etag": "ACAB"}
    set_policy = jobs.setIamPolicy(resource=name, body={"policy": policy}).execute()
    assert set_policy["bindings"] == [BINDING] and set_policy["version"] == 1 and set_policy["etag"] != "ACAB"
    with pytest.raises(HttpError) as conflict:
        jobs.setIamPolicy(resource=name, body={"policy": policy}).execute()
    assert conflict.value.resp.status == 409
    server.kill()
    server.start()
    kept = server.request("GET", JOB + ":getIamPolicy").json()
    assert kept == set_policy
    conditional = {**BINDING, "condition": {"expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}}
    body = {"policy": {"version": 3, "bindings": [conditional]}}
    assert server.request("POST", JOB + ":setIamPolicy", json=body).json()["version"] == 3
    assert "_withcond_" in server.request("GET", JOB + ":getIamPolicy").json()["bindings"][0]["role"]
    shown = server.request("GET", JOB + ":getIamPolicy", params={"options.requestedPolicyVersion": 3}).json()
    assert shown["bindings"] == [conditional]


@pytest.mark.parametrize("version", ["2", "4", "-1"])
def test_policy_versions(server, job, version):
    response = server.request("GET", JOB + ":getIamPolicy", params={"options.requestedPolicyVersion": version})
    refused(response, 400, "options.requested_policy_version")


def test_policies_that_are_refused(server, job):
    set_policy = JOB + ":setIamPolicy"
    refused(server.request("POST", set_policy, json={}), 400, "policy")
    refused(server.request("POST", set_policy, json={"policy": {"bindings": [{"role": "viewer", "members": ["allUsers"]}]}}), 400,
            "policy.bindings[0].role")
    refused(server.request("POST", set_policy, json={"policy": {}, "updateMask": "members"}), 400, "update_mask")
    assert server.request("POST", set_policy, json={"policy": {"bogus": 1}}).status_code == 400
    assert server.request("POST", "/v1/projects/p/jobs/none:setIamPolicy", json={"policy": {}}).status_code == 404
    assert server.request("GET", "/v1/projects/p/jobs/none:getIamPolicy").status_code == 404


def test_permissions(server, job, ml):
    asked = {"permissions": ["ml.jobs.get", "ml.jobs.cancel", "storage.objects.get"]}
    held = ml.jobs().testIamPermissions(resource="projects/p/jobs/j", body=asked).execute()
    assert held == {"permissions": ["ml.jobs.get", "ml.jobs.cancel"]}
    assert ml.jobs().testIamPermissions(resource="projects/p/jobs/none", body=asked).execute() == {}
    refused(server.request("POST", JOB + ":testIamPermissions", json={"permissions": ["ml.jobs.*"]}), 400, "permissions")


# projects

def test_config(ml):
    config = ml.getConfig(name="projects/p").execute()
    number = config["serviceAccountProject"]
    assert len(number) == 12 and number.isdigit()
    assert config == {"serviceAccount": f"service-{number}@cloud-ml.google.com.iam.gserviceaccount.com", "serviceAccountProject": number,
                      "config": {"tpuServiceAccount": f"service-{number}@cloud-tpu.iam.gserviceaccount.com"}}
    assert ml.getConfig(name="projects/q").execute()["serviceAccountProject"] != number


def test_locations(server, ml):
    locations, request = [], ml.locations().list(parent="projects/p", pageSize=7)
    while request:
        page = request.execute()
        assert len(page["locations"]) <= 7
        locations += page["locations"]
        request = ml.locations().list_next(request, page)
    names = [location["name"].removeprefix("projects/p/locations/") for location in locations]
    assert names == sorted(set(names)) and "us-central1" in names and len(names) == 22
    one = ml.locations().get(name="projects/p/locations/us-central1").execute()
    assert one in locations
    assert one["capabilities"][0]["type"] == "TRAINING" and "NVIDIA_TESLA_T4" in one["capabilities"][0]["availableAccelerators"]
    assert server.request("GET", "/v1/projects/p/locations/mars").status_code == 404
    for parameters, field in [({"pageToken": "mars"}, "page_token"), ({"pageSize": -1}, "page_size"), ({"pageSize": "x"}, "page_size")]:
        refused(server.request("GET", "/v1/projects/p/locations", params=parameters), 400, field)


@pytest.mark.parametrize(("devices", "has_tpus"), [("none", True), ("nvidia-tesla-t4=1", False)])
def test_a_location_has_what_jobs_can_get(make_server, devices, has_tpus):
    """A machine with accelerators knows what it has; one without answers as the original did."""
    location = make_server("--accelerators", devices).request("GET", "/v1/projects/p/locations/us-central1").json()
    available = location["capabilities"][0]["availableAccelerators"]
    assert "NVIDIA_TESLA_P100" in available and ("TPU_V2" in available) == has_tpus


@pytest.mark.parametrize("parent", ["projects/p", "projects/p/locations/us-central1"])
def test_operations(server, ml, parent):
    if parent == "projects/p":
        assert ml.operations().list(name=parent).execute() == {}
    assert server.request("GET", f"/v1/{parent}/operations/o").status_code == 404
    response = server.request("POST", f"/v1/{parent}/operations/o:cancel", json={})
    assert response.status_code == 404 and error_of(response)["status"] == "NOT_FOUND"
    assert server.request("DELETE", f"/v1/{parent}/operations/o").status_code == 405


@pytest.mark.parametrize("path", ["/v1", "/v1/projects/p/models", "/v1/projects/p/jobs/j:predict",
                                  "/v1/projects/p/jobs/j/k", "/v1beta1/projects/p/jobs", "/v1/projects/p/jobs/"])
def test_unknown_methods(server, path):
    error = error_of(server.request("GET", path))
    assert error["code"] == 404 and error["status"] == "NOT_FOUND"
    assert error["message"] == f"The requested URL {path} was not found on this server."


def test_a_path_without_that_method(server):
    response = server.request("PUT", JOB)
    assert response.status_code == 405 and response.headers["Allow"] == "GET, HEAD, PATCH"


# list

FILTERS = [
    ("jobId:census*", ["census_2", "census_1"]),
    ("jobId:rnn* AND state:FAILED", []),
    ("jobId=rnn", ["rnn"]),
    ("jobId!=rnn", ["census_2", "census_1"]),
    ("NOT jobId:census*", ["rnn"]),
    ("-jobId:census*", ["rnn"]),
    ("jobId:census* jobId:*2", ["census_2"]),
    ("(jobId=rnn OR jobId=census_1) AND state=SUCCEEDED", ["rnn", "census_1"]),
    ("labels.team=a", ["census_1"]),
    ("labels.team:*", ["census_2", "census_1"]),
    ("trainingInput.region=us-central1", ["rnn", "census_2", "census_1"]),
    ("trainingInput.scaleTier=BASIC AND trainingInput.pythonModule=probe.task", ["rnn", "census_2", "census_1"]),
    ('createTime>"2020-01-01T00:00:00Z" endTime:*', ["rnn", "census_2", "census_1"]),
    ('createTime<"2020-01-01T00:00:00Z"', []),
    ("state=RUNNING", []),
]


def test_filters(server, upload):
    uri = upload(server, "probe")
    for job_id, labels in [("census_1", {"team": "a"}), ("census_2", {"team": "b"}), ("rnn", {})]:
        body = {"jobId": job_id, "labels": labels,
                "trainingInput": {"region": "us-central1", "scaleTier": "BASIC", "packageUris": [uri], **PROGRAM}}
        assert server.request("POST", "/v1/projects/p/jobs", json=body).ok
        server.wait(job_id)
    for text, expected in FILTERS:
        page = server.request("GET", "/v1/projects/p/jobs", params={"filter": text}).json()
        assert [job["jobId"] for job in page.get("jobs", [])] == expected, text
    assert server.request("GET", "/v1/projects/p/jobs", params={"filter": "state=RUNNING"}).text == "{}\n"
    seen, token = [], None
    while token != "":
        parameters = {"filter": "jobId:c*", "pageSize": 1, **({"pageToken": token} if token else {})}
        page = server.request("GET", "/v1/projects/p/jobs", params=parameters).json()
        seen += [job["jobId"] for job in page.get("jobs", [])]
        token = page.get("nextPageToken", "")
        if token:
            tampered = ("B" if token[0] == "A" else "A") + token[1:]
            for other in [{"pageToken": token}, {"pageToken": token, "filter": "jobId:d*"}, {"pageToken": tampered, "filter": "jobId:c*"}]:
                refused(server.request("GET", "/v1/projects/p/jobs", params=other), 400, "page_token")
            refused(server.request("GET", "/v1/projects/q/jobs", params=parameters | {"pageToken": token}), 400, "page_token")
    assert seen == ["census_2", "census_1"]


@pytest.mark.parametrize("text,message", [
    ("jobId=", "syntax error at line 1, column 7, unexpected end of filter"),
    ("jobId:a AND AND b", "syntax error at line 1, column 13, token 'AND'"),
    ("bogus=1", "Field not found: 'bogus'"),
    ("state=NOPE", "Invalid value for field 'state': 'NOPE'"),
    ("createTime>yesterday", "Invalid value for field 'createTime': 'yesterday'"),
    ("(" * 60, "nested too deep"),
])
def test_filters_that_are_refused(server, text, message):
    assert message in refused(server.request("GET", "/v1/projects/p/jobs", params={"filter": text}), 400, "filter")


@pytest.mark.parametrize("size", ["-1", "x", "99999999999", "1.5"])
def test_page_sizes(server, size):
    refused(server.request("GET", "/v1/projects/p/jobs", params={"pageSize": size}), 400, "page_size")
    for fine in ["0", "100", "100000", ""]:
        assert server.request("GET", "/v1/projects/p/jobs", params={"pageSize": fine}).text == "{}\n"


# parameters of all methods

def test_fields(server, job):
    assert server.request("GET", JOB, params={"fields": "jobId,trainingInput(region,args)"}).json() == {
        "jobId": "j", "trainingInput": {"region": "us-central1", "args": PROGRAM["args"]}}
    assert server.request("GET", "/v1/projects/p/jobs", params={"fields": "jobs/jobId"}).json() == {"jobs": [{"jobId": "j"}]}
    message = refused(server.request("GET", JOB, params={"fields": "jobId,bogus"}), 400, "fields")
    assert "Cannot find matching fields for path 'bogus'" in message


def test_wrong_parameters_change_nothing(server, upload):
    body = {"jobId": "k", "trainingInput": {"region": "us-central1", "packageUris": [upload(server, "probe")], **PROGRAM}}
    for parameters in [{"fields": "bogus"}, {"alt": "proto"}, {"bogus": "1"}, {"$.xgafv": "3"}, {"callback": "f"}, {"quotaUser": "x" * 41}]:
        assert server.request("POST", "/v1/projects/p/jobs", params=parameters, json=body).status_code == 400, parameters
    assert server.request("GET", "/v1/projects/p/jobs/k").status_code == 404


def test_forms_of_answers(server, job):
    compact = server.request("GET", JOB, params={"prettyPrint": "false", "key": "k", "quotaUser": "u", "$.xgafv": "2", "alt": "json"})
    assert compact.text == json.dumps(compact.json(), separators=(",", ":"), ensure_ascii=False)
    missing = server.request("GET", "/v1/projects/p/jobs/none", params={"$.xgafv": "1", "prettyPrint": "False"})
    assert error_of(missing)["errors"][0]["reason"] == "notFound" and "\n" not in missing.text


def test_long_gets_come_as_posts(server, job):
    """google-api-python-client does so beyond 2,048 characters."""
    names = " OR ".join(f"jobId=name_{number}" for number in range(200)) + " OR jobId=j"
    ml = discovery.build("ml", "v1", client_options={"api_endpoint": server.url}, credentials=AnonymousCredentials())
    request = ml.projects().jobs().list(parent="projects/p", filter=names)
    assert [job["jobId"] for job in request.execute()["jobs"]] == ["j"]


def test_parameters_of_logging(server, job):
    body = {"resourceNames": ["projects/p"], "filter": 'resource.labels.job_id="j"'}
    page = server.request("POST", "/v2/entries:list", params={"fields": "entries(severity,jsonPayload/message)"}, json=body).json()
    assert {key for entry in page["entries"] for key in entry} <= {"severity", "jsonPayload"}
    assert {"message": "x"} in [entry["jsonPayload"] for entry in page["entries"]]
    for parameters in [{"fields": "bogus"}, {"alt": "proto"}, {"bogus": "1"}]:
        assert server.request("POST", "/v2/entries:list", params=parameters, json=body).status_code == 400, parameters


# quotas

def test_request_quota(make_server, upload):
    server = make_server("--quota-requests", "creates=2,other=3")
    uri = upload(server, "probe")
    body = {"jobId": "9bad", "trainingInput": {"region": "us-central1", "packageUris": [uri], **PROGRAM}}
    for expected in (400, 400, 429):
        response = server.request("POST", "/v1/projects/p/jobs", json=body)
        assert response.status_code == expected
    error = error_of(response)
    number = server.request("GET", "/v1/projects/p:getConfig").json()["serviceAccountProject"]
    assert error["status"] == "RESOURCE_EXHAUSTED" and error["message"] == (
        "Quota exceeded for quota metric 'Job requests' and limit 'Job requests per minute' of service 'ml.googleapis.com' for consumer "
        f"'project_number:{number}'.")
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    statuses = [server.request("GET", "/v1/projects/p/jobs").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert server.request("GET", "/v1/projects/q/jobs").ok


NO_ACCELERATORS = ",".join(f"{name}=0" for name in [
    "NVIDIA_TESLA_A100", "NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_P4", "NVIDIA_TESLA_T4", "TPU_V2", "TPU_V2_POD", "TPU_V3",
    "TPU_V3_POD", "NVIDIA_TESLA_V100"])


def test_accelerator_quota(make_server, upload):
    server = make_server("--quota-accelerators", NO_ACCELERATORS)
    config = {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80", "count": "2"}}
    response = server.create("gpu", packageUris=[upload(server, "probe")], scaleTier="CUSTOM", masterType="n1-standard-8",
                             masterConfig=config, **PROGRAM)
    middle = ("The request for 2 K80 accelerators exceeds the allowed maximum of 0 A100, 0 K80, 0 P100, 0 P4, 0 T4, 0 TPU_V2, 0 TPU_V2_POD, "
              "0 TPU_V3, 0 TPU_V3_POD, 0 V100 accelerators.")
    assert error_of(response) == {
        "code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": f"Quota failure for project p. {middle} The server's operator sets it: trainyard serve "
                   "--quota-accelerators.",
        "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"subject": "p", "description": middle}]}]}


def test_accelerators_that_others_hold(make_server, upload):
    server = make_server("--quota-accelerators", "NVIDIA_TESLA_K80=2")
    uri = upload(server, "probe")

    def create(job_id, project="p"):
        config = {"acceleratorConfig": {"type": "NVIDIA_TESLA_K80", "count": "2"}}
        body = {"jobId": job_id, "trainingInput": {
            "region": "us-central1", "packageUris": [uri], "pythonModule": "probe.task", "args": ["forever"], "scaleTier": "CUSTOM",
            "masterType": "n1-standard-8", "masterConfig": config}}
        return server.request("POST", f"/v1/projects/{project}/jobs", json=body)

    first = create("first")
    if first.status_code == 400 and error_of(first)["status"] == "FAILED_PRECONDITION":
        pytest.skip("this server refuses jobs with GPUs: " + error_of(first)["message"])
    assert first.ok, first.text
    second = create("second")
    assert second.status_code == 429
    assert "maximum of 2 K80 accelerators. Unfinished jobs of the project use 2 K80. The server's operator sets it: " in error_of(second)["message"]
    assert create("elsewhere", project="q").ok
    server.cancel("first")
    server.wait("first")
    assert create("third").ok
    for project, job_id in [("p", "third"), ("q", "elsewhere")]:
        named = {"name": f"projects/{project}/jobs/{job_id}"}  # as clients do that send the path's fields in the body, too
        assert server.request("POST", f"/v1/projects/{project}/jobs/{job_id}:cancel", json=named).ok


@pytest.mark.parametrize("flag", [["--quota-requests", "60"], ["--quota-accelerators", "K80=1"]])
def test_quota_flags_that_are_refused(flag, tmp_path):
    from trainyard_server import PROGRAM as TRAINYARD
    run = subprocess.run([TRAINYARD, "serve", "--data", str(tmp_path), *flag], capture_output=True, text=True, timeout=60)
    assert run.returncode != 0 and flag[0] in run.stderr


# gcloud

def test_gcloud(server, upload, gcloud, tmp_path):
    environment = gcloud_environment(server, tmp_path)

    def run(*words, ok=True):
        done = subprocess.run([gcloud, *words], capture_output=True, text=True, env=environment, timeout=120)
        assert (done.returncode == 0) == ok, (words, done.stderr)
        return done

    uri = upload(server, "probe")
    for job_id in ("first", "second"):
        server.submit(job_id, packageUris=[uri], pythonModule="probe.task", args=["forever"] if job_id == "second" else ["print", "x"])
    server.wait("first")
    listed = json.loads(run("ai-platform", "jobs", "list", "--filter=jobId:first", "--format=json").stdout)
    assert [job["jobId"] for job in listed] == ["first"]
    assert [line.split()[0] for line in run("ai-platform", "jobs", "list").stdout.splitlines()] == ["JOB_ID", "second", "first"]
    run("ai-platform", "jobs", "update", "first", "--update-labels=team=a,owner=b")
    run("ai-platform", "jobs", "update", "first", "--remove-labels=owner")
    described = json.loads(run("ai-platform", "jobs", "describe", "first", "--format=json").stdout)
    assert described["labels"] == {"team": "a"} and described["state"] == "SUCCEEDED"
    run("ai-platform", "jobs", "cancel", "second")
    assert server.wait("second")["state"] == "CANCELLED"
    for job_id, state in (("first", "SUCCEEDED"), ("second", "CANCELLED")):  # Airflow's operators know an ended job by the 400
        ended = run("ai-platform", "jobs", "cancel", job_id, ok=False).stderr
        assert f"FAILED_PRECONDITION: Field: name Error: The job {job_id} cannot be cancelled: it has ended, and its state is {state}." in ended
    for words, shown in ((["ps"], "first"), (["status", "first"], "state: SUCCEEDED"), (["logs", "first"], "Job completed successfully."),
                         (["kill", "first"], "jobs cancel"), (["ls"], "jobs list")):
        done = server.trainyard(*words)
        assert shown in done.stdout + done.stderr, done
    missing = run("ai-platform", "jobs", "describe", "none", ok=False).stderr
    assert "NOT_FOUND: Field: name Error: The job cannot be found." in missing


def test_gcloud_locations(server, gcloud, tmp_path):
    environment = gcloud_environment(server, tmp_path)
    command = [gcloud, "alpha", "ai-platform", "locations"]
    listed = subprocess.run([*command, "list", "--format=json"], capture_output=True, text=True, env=environment, timeout=120)
    if "alpha" in listed.stderr and listed.returncode != 0:
        pytest.skip("this gcloud has no alpha component")
    assert listed.returncode == 0, listed.stderr
    assert len(json.loads(listed.stdout)) == 22
    described = subprocess.run([*command, "describe", "us-central1", "--format=json"], capture_output=True, text=True, env=environment,
                               timeout=120)
    assert json.loads(described.stdout)["name"] == "projects/p/locations/us-central1"
