"""What the console, `trainyard jobs` and log queries show of the jobs of Vertex AI, beside those of ml v1."""

import json

import requests

from test_vertex import PARENT, clients, create, environments, job_of, pool  # fixtures  # noqa: F401

PIPELINES = PARENT.replace("customJobs", "trainingPipelines")
CUSTOM_TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"


def submit_old(server, upload):
    server.submit("old", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "of the old job"])
    assert server.wait("old")["state"] == "SUCCEEDED"


def number_of(name):
    return name.rsplit("/", 1)[1]


def test_the_console_and_the_commands_say_what_a_job_was_submitted_as(server, upload):
    submit_old(server, upload)
    only_old = server.trainyard("jobs", "list").stdout
    assert only_old.splitlines()[0].split() == ["JOB_ID", "STATUS", "CREATED"], only_old
    custom = create(server, {"workerPoolSpecs": [pool(server, upload)]}, name="a census").json()["name"]
    inputs = {"workerPoolSpecs": [pool(server, upload, "forever")]}
    pipeline = server.request("POST", PIPELINES, json={"displayName": "script", "trainingTaskDefinition": CUSTOM_TASK,
                                                       "trainingTaskInputs": inputs}).json()["name"]
    assert job_of(server, custom)["state"] == "SUCCEEDED"

    def rows(**query):
        return server.request("GET", "/trainyard/v1/projects/p/jobs", params=query).json().get("jobs", [])

    shown = {row["jobId"]: row for row in rows()}
    number = number_of(custom)
    submitted = {"api": "aiplatform", "collection": "customJobs", "location": "us-central1", "number": number}
    assert shown["vertex_" + number]["displayName"] == "a census" and shown["vertex_" + number]["submittedAs"] == submitted
    assert shown["vertex_" + number_of(pipeline)]["submittedAs"]["collection"] == "trainingPipelines"
    assert "submittedAs" not in shown["old"] and "displayName" not in shown["old"]
    for search in ('displayName="a census"', number, "census", f'jobId="vertex_{number}"'):
        assert [row["jobId"] for row in rows(filter=search)] == ["vertex_" + number], search
    status = server.request("GET", f"/trainyard/v1/projects/p/jobs/vertex_{number}").json()
    assert status["submittedAs"] == submitted
    # The console asks for the custom job behind a pipeline, to copy it.
    behind = server.request("GET", f"{PARENT}/{number_of(pipeline)}").json()
    assert behind["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"] == ["forever"]

    listed = server.trainyard("jobs", "list").stdout
    assert listed.splitlines()[0].split() == ["JOB_ID", "STATUS", "CREATED", "DISPLAY_NAME", "SUBMITTED_AS"], listed
    line = next(line for line in listed.splitlines() if number in line)
    assert "a census" in line and "Vertex AI custom job, us-central1" in line, listed
    assert "Vertex AI training pipeline, us-central1" in listed and "script" in listed, listed
    described = server.trainyard("jobs", "describe", "vertex_" + number)
    assert "displayName: a census\n" in described.stdout, described.stdout
    assert f"Submitted as: Vertex AI custom job, us-central1, number {number}\n" in described.stderr, described.stderr
    assert "Submitted as" not in server.trainyard("jobs", "describe", "old").stderr
    assert "DISPLAY_NAME" in server.trainyard("jobs", "describe", "vertex_" + number, "--summarize").stdout
    assert "DISPLAY_NAME" not in server.trainyard("jobs", "describe", "old", "--summarize").stdout
    server.cancel("vertex_" + number_of(pipeline))


def test_logs_are_found_by_the_numbers_of_both_kinds_of_jobs(server, upload, gcloud, clients):  # noqa: F811
    submit_old(server, upload)
    pools = [pool(server, upload, "print", "of the primary"), pool(server, upload, "print", "of a worker")]
    custom = create(server, {"workerPoolSpecs": pools}).json()["name"]
    assert job_of(server, custom)["state"] == "SUCCEEDED"
    names = {job["displayName"]: job["name"] for job in server.request("GET", PARENT).json()["customJobs"]}
    new, old = number_of(custom), number_of(names["old"])

    def found(filter_text):
        body = {"resourceNames": ["projects/p"], "filter": filter_text, "pageSize": 1000}
        entries = server.request("POST", "/v2/entries:list", json=body).json().get("entries", [])
        labels = {(entry["resource"]["labels"]["job_id"], entry["resource"]["labels"]["task_name"]) for entry in entries}
        return labels, [entry["jsonPayload"]["message"] for entry in entries]

    for number, text in ((new, "of the primary"), (old, "of the old job")):
        labels, texts = found(f'resource.labels.job_id="{number}" AND resource.labels.task_name="workerpool0-0"')
        assert labels == {(number, "workerpool0-0")} and text in texts, (labels, texts)
        assert {job for job, _ in found(f"resource.labels.job_id={number}")[0]} == {number}
    assert found(f'resource.labels.job_id="{int(old) + 1000}"') == (set(), [])
    # What only looks like such a comparison is text.
    assert found(f'jsonPayload.message:"resource.labels.job_id={new}"') == (set(), [])

    worker = clients(gcloud, "logging", "read", 'resource.labels.task_name="workerpool1-0"',
                     "--format=value(resource.labels.job_id,resource.labels.task_name,jsonPayload.message)")
    assert f"{new}\tworkerpool1-0\tof a worker" in worker.stdout.splitlines(), worker.stderr

    for number, text in ((new, "of the primary"), (old, "of the old job")):
        query = {"resourceNames": "projects/p", "filter": f'resource.labels.job_id="{number}" AND timestamp>="1970-01-01"'}
        with requests.get(server.url + "/v2/entries:tail", params=query, stream=True, timeout=60) as tail:
            events = (json.loads(line.removeprefix("data: ")) for line in tail.iter_lines(decode_unicode=True)
                      if line.startswith("data: "))
            entry = next(entry for event in events for entry in event["entries"] if entry["jsonPayload"]["message"] == text)
        assert entry["resource"]["labels"]["job_id"] == number and entry["resource"]["labels"]["task_name"] == "workerpool0-0"


def test_a_browser_shows_a_custom_job_and_copies_it(server, upload, open_console):
    number = number_of(create(server, {"workerPoolSpecs": [pool(server, upload)]}, name="a census").json()["name"])
    page = open_console(server, f"/ui/p/p/jobs?filter={number}")
    page.get_by_text("Vertex AI custom job, us-central1").wait_for()
    page.get_by_role("link", name="a census").click()
    page.get_by_role("heading", name=f"a census vertex_{number}").wait_for()
    page.get_by_text("Submitted as").wait_for()
    page.get_by_role("link", name="Config", exact=True).click()
    page.get_by_text("gcloud ai custom-jobs create").wait_for()
    page.get_by_role("button", name="Vertex SDK").click()
    page.get_by_text("job = aiplatform.CustomJob(").wait_for()
    assert page.title() == f"a census (vertex_{number}): config · Trainyard"
