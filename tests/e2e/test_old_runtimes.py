"""The original's runtime versions with the clients of their years, unchanged: each builds a gigabyte, so only under ./dev test --long."""

import json
import re

import pytest

import trainyard_server
from test_unmodified_gs import content, needs_root, trainers  # fixtures and helpers  # noqa: F401

BUILD_DEADLINE_S = 900
FIRST_WRITE_S = 5  # a name of the metadata server that is not there took TensorFlow before 2.5 longer

pytestmark = [pytest.mark.long, needs_root]


@pytest.mark.parametrize("version", ["1.15", "2.1", "2.5", "2.9", "2.11"])
def test_every_client_of_buckets(version, make_server, runtime, trainers, monkeypatch):  # noqa: F811
    monkeypatch.setattr(trainyard_server, "DEADLINE_S", BUILD_DEADLINE_S)
    runtime(version)
    server = make_server()
    uri = server.upload("packages", "old_clients.tar.gz", trainers["old_clients"])
    server.submit("old", runtimeVersion=version, packageUris=[uri], pythonModule="old_clients.task", jobDir="gs://out/old")
    job = server.wait("old")
    texts = server.texts("old")
    assert job["state"] == "SUCCEEDED", "\n".join(texts[-60:])
    seen = next(json.loads(text.removeprefix("RESULT ")) for text in texts if text.startswith("RESULT "))
    print(version, seen)
    python = seen["python_clients"]
    assert python["project"] == ["p", "p"] and python["text"] == "written by storage.Client()" and python["listed"]
    assert re.match(r"ya29\.trainyard\.\d+-master-replica-0-1\.", python["token"])
    assert content(server, "old/client.txt") == b"written by storage.Client()"
    gfile = seen["gfile"]
    assert gfile["version"].startswith(version) and gfile["text"] == "written by GFile" and "gfile.txt" in gfile["listed"]
    assert gfile["first_write"] < FIRST_WRITE_S and content(server, "old/gfile.txt") == b"written by GFile"
    assert not [text for text in texts if "bearer token failed" in text or "Couldn't resolve host" in text], texts
    assert seen["api_client"] == {"buckets": ["out", "out"]} and seen["gsutil"] == {"text": "written by gsutil"}
    assert not [text for text in texts if "running with runtime version" in text], texts
