"""Errors that only a server can give, word for word: tests/golden/api/server/NAME.json."""

import json
import os
import pathlib
import re

import pytest

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden/api/server"
JOB = {"packageUris": ["gs://packages/probe.tar.gz"], "pythonModule": "probe.task"}


def expect(name, response):
    text = re.sub(r"service-\d{12}@", "service-NUMBER@", response.text)  # each data directory gives out its own
    text = re.sub(r"It is [A-Z]+\.", "It is STATE.", text)
    if "TRAINYARD_UPDATE_GOLDEN" in os.environ:
        (GOLDEN / f"{name}.json").write_text(text)
    assert text == (GOLDEN / f"{name}.json").read_text()
    assert response.status_code == json.loads(response.text)["error"]["code"]
    assert response.headers["Content-Type"].startswith("application/json")


def already_exists(server):
    server.submit("taken", **JOB)
    return server.create("taken", **JOB)


def no_such_job(server):
    return server.request("GET", "/v1/projects/p/jobs/nothing")


def no_such_package(server):
    return server.create("no_package", **{**JOB, "packageUris": ["gs://packages/path/file.tar.gz"]})


def test_without_containers(make_server):
    server = make_server("--container-engine", "off")
    expect("no_containers", server.create("container", masterConfig={"imageUri": "gcr.io/my-project/trainer:v1"}))


@pytest.mark.parametrize("ask", [already_exists, no_such_job, no_such_package], ids=lambda ask: ask.__name__)
def test_word_for_word(server, upload, ask):
    upload(server, "probe")
    expect(ask.__name__, ask(server))
