"""A mistyped bucket, which the upload of the package makes: it is named at create, with the one that was meant."""

import subprocess

import pytest

from test_clients_with import own_environment
from trainyard_server import PROGRAM

SAID = ("The bucket gs://my-modles of the job's jobDir did not exist until a file was uploaded to it; did you mean gs://my-models? "
        "If the name is right, ignore this: it is said once.")


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "app/trainer"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text("print('trained')\n")
    return folder


@pytest.fixture
def server(make_server):
    """It has the bucket that is meant."""
    started = make_server()
    assert started.request("POST", "/storage/v1/b?project=p", json={"name": "my-models"}).ok
    return started


def usual(package, job_id, bucket):
    return ["jobs", "submit", "training", job_id, "--package-path", str(package), "--module-name", "trainer.task", "--job-dir",
            f"gs://{bucket}/out", "--region", "us-central1"]


def warnings(server, job_id):
    server.wait_for_entry(job_id, lambda entry: entry["jsonPayload"]["message"] == f"Job {job_id} is queued.")
    return [entry["jsonPayload"]["message"] for entry in server.log_entries(job_id) if entry["severity"] == "WARNING"
            and "gs://" in entry["jsonPayload"]["message"]]


def test_our_own_command_names_it_once(server, package):
    first = server.trainyard(*usual(package, "typed", "my-modles"))
    assert first.returncode == 0 and f"WARNING: {SAID}\n" in first.stderr, first.stderr
    assert warnings(server, "typed") == [SAID]
    again = server.trainyard(*usual(package, "again", "my-modles"))
    assert again.returncode == 0 and "did you mean" not in again.stderr, again.stderr
    right = server.trainyard(*usual(package, "right", "my-models"))
    assert right.returncode == 0 and "did you mean" not in right.stderr, right.stderr
    assert warnings(server, "again") == warnings(server, "right") == []
    for job_id in ("typed", "again", "right"):
        server.cancel(job_id)


def test_gcloud_names_it_in_the_log_and_within_with_on_stderr(server, package, gcloud, tmp_path):
    environment = own_environment(tmp_path, CLOUDSDK_CORE_PROJECT="p", CLOUDSDK_CORE_DISABLE_PROMPTS="1")
    done = subprocess.run([PROGRAM, "with", "--data", str(server.data), "--", gcloud, "ai-platform", *usual(package, "typed", "my-modles")],
                          capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Job [typed] submitted successfully." in done.stderr and done.stderr.endswith(f"WARNING: {SAID}\n"), done.stderr
    assert warnings(server, "typed") == [SAID]
    server.cancel("typed")


def test_a_bucket_that_somebody_requested_never_warns(server, upload):
    """Before the upload or after it, by hand, and with a name that is near another."""
    for bucket in ("my-modelz", "my-model"):
        if bucket == "my-model":
            assert server.request("POST", "/storage/v1/b?project=p", json={"name": bucket}).ok
        server.upload(bucket, "input", b"x")
    assert server.request("POST", "/storage/v1/b?project=p", json={"name": "my-modelz"}).status_code == 409  # it is there, and meant now
    (server.data / "buckets/my-modelle").mkdir()
    server.submit("meant", packageUris=[upload(server, "probe")], pythonModule="probe.task", jobDir="gs://my-modelz/out",
                  args=["--data", "gs://my-model/input", "--out=gs://my-modelle/x"])
    assert warnings(server, "meant") == []
    server.cancel("meant")
