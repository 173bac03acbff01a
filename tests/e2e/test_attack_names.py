"""Names that the product derives from a project's name are that project's: gs://PROJECT-runs, where `trainyard run` puts programs and results."""

import json
import os
import subprocess

import pytest

from trainyard_server import PROGRAM, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("names") / "data", "--auth", "on")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def tokens(server):
    return {name: server.token_for(f"user:{name}@example.com", "roles/trainyard.member", "roles/storage.admin", project=project)
            for name, project in (("ann", "one"), ("eve", "two"))}


def make_bucket(server, token, project, name):
    return server.request("POST", "/storage/v1/b", token, params={"project": project}, json={"name": name})


def run(server, token, folder, project, *flags):
    (folder / "train.py").write_text("print('runs')\n")
    return subprocess.run([PROGRAM, "run", "--async", "--project", project, "--server", server.url, *flags], capture_output=True, text=True,
                          cwd=folder, timeout=60, env={**os.environ, "TRAINYARD_TOKEN": token})


def test_a_bucket_for_runs_is_made_for_its_project_only(server, tokens):
    refused = make_bucket(server, tokens["eve"], "two", "one-runs")
    assert refused.status_code == 400 and "for that project only" in refused.text, refused.text
    assert make_bucket(server, tokens["eve"], "two", "two-runs-runs").status_code == 400
    assert make_bucket(server, tokens["eve"], "two", "two-data").ok
    server.upload("two-data", "o", b"x")
    # Neither by the job-dir of a job, which makes buckets.
    job = {"jobId": "squats", "trainingInput": {"region": "us-central1", "packageUris": ["gs://two-data/o"], "pythonModule": "m",
                                                "jobDir": "gs://one-runs/x"}}
    made = server.request("POST", "/v1/projects/two/jobs", tokens["eve"], json=job)
    assert made.status_code == 400 and "for that project only" in made.text, made.text
    assert make_bucket(server, tokens["ann"], "one", "one-runs").ok
    assert make_bucket(server, tokens["eve"], "two", "two-runs").ok


def test_run_uses_no_bucket_of_another_project(server, tokens, tmp_path):
    """One that another project has all the same, from before or by the fallback of names that are too long."""
    assert make_bucket(server, server.token, "trainyard", "trainyard-runs").ok  # what a project's name of 60 letters falls back to
    policy = {"bindings": [{"role": "roles/storage.objectAdmin", "members": ["user:carl@example.com"]}]}  # the squatter lets the victim in
    assert server.request("PUT", "/storage/v1/b/trainyard-runs/iam", json=policy).ok
    victim = "v" * 60
    token = server.token_for("user:carl@example.com", "roles/trainyard.member", project=victim)
    for flags in (["train.py"], ["--image", "python:3"]):
        refused = run(server, token, tmp_path, victim, *flags)
        assert refused.returncode == 1, refused
        assert f"gs://trainyard-runs is no bucket of project {victim}" in refused.stderr, refused.stderr
        assert "--job-dir" in refused.stderr
    assert "items" not in server.request("GET", "/storage/v1/b/trainyard-runs/o").json()
    # In one's own it goes on as ever.
    assert run(server, tokens["ann"], tmp_path, "one", "train.py").returncode == 0
    assert json.loads(server.request("GET", "/v1/projects/one/jobs", tokens["ann"]).text)["jobs"]
