"""What is read and waited for before anybody is known, and how long a login lasts that streams."""

import json
import re
import socket

import pytest
import requests

from process_output import DEADLINE_S
from trainyard_server import Server, end_supervisors

BATCHES = ["/batch", "/batch/ml/v1", "/batch/storage/v1"]
TOKEN = "http://$GCE_METADATA_HOST/computeMetadata/v1/instance/service-accounts/default/token"
ASK_FOR_TOKEN = f"echo ANSWER $(curl -s -H 'Metadata-Flavor: Google' {TOKEN})"
PART = "--b\r\nContent-Type: application/http\r\n\r\nGET /v1/projects/p/jobs HTTP/1.1\r\n{fields}\r\n\r\n"


@pytest.fixture(scope="module")
def team(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("team") / "data", "--auth", "on", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


def head_answered(server, path, *fields):
    """The answer to a request whose head alone is sent, although it announces a body of ten megabytes."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
        head = [f"POST {path} HTTP/1.1", f"Host: {host}:{port}", "Content-Type: multipart/mixed; boundary=b",
                f"Content-Length: {10 << 20}", *fields, "", ""]
        connection.sendall("\r\n".join(head).encode())
        return connection.recv(1 << 16)


@pytest.mark.parametrize("path", BATCHES)
@pytest.mark.parametrize("fields", [(), ("Authorization: Bearer ty_nobodys",), ("Expect: 100-continue",)])
def test_the_body_of_a_batch_is_not_read_for_nobody(team, path, fields):
    assert head_answered(team, path, *fields).startswith(b"HTTP/1.1 401 "), (path, fields)


def test_one_login_fails_in_a_batch(team):
    """Each failure may take seconds: the others of the same request are not tried."""
    own, bad = f"Authorization: Bearer {team.token}\r\n", "Authorization: Bearer ty_nobodys\r\n"
    parts = "".join(PART.format(fields=fields) for fields in ["", bad, bad, "", own]) + "--b--"
    answer = team.request("POST", "/batch/ml/v1", data=parts, headers={"Content-Type": "multipart/mixed; boundary=b"})
    assert re.findall(r"HTTP/1\.1 (\d+)", answer.text) == ["200", "401", "401", "200", "401"], answer.text
    assert answer.text.count("are not processed after that") == 2


def bind(server, role, member):
    policy = server.request("POST", "/v1/projects/p:getIamPolicy", json={}).json()
    bindings = [*policy.get("bindings", []), {"role": role, "members": [member]}]
    response = server.request("POST", "/v1/projects/p:setIamPolicy", json={"policy": {**policy, "bindings": bindings}})
    assert response.ok, response.text


def test_a_stream_by_a_jobs_token_ends_with_the_job(team, packages):
    made = team.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"})
    assert made.ok, made.text
    account = team.request("GET", "/v1/projects/p:getConfig").json()["serviceAccount"]
    bind(team, "roles/ml.viewer", "serviceAccount:" + account)
    package = team.upload("packages", "probe.tar.gz", packages["probe"].read_bytes())
    team.submit("mine", packageUris=[package], pythonModule="probe.task", args=["shell", ASK_FOR_TOKEN, "forever"])
    entry = team.wait_for_entry("mine", lambda entry: entry["jsonPayload"]["message"].startswith("ANSWER "))
    token = json.loads(entry["jsonPayload"]["message"].removeprefix("ANSWER "))["access_token"]
    with requests.get(team.url + "/trainyard/v1/projects/p/jobs:watch", headers={"Authorization": "Bearer " + token}, stream=True,
                      timeout=DEADLINE_S) as stream:
        assert stream.status_code == 200, stream.text
        lines = stream.iter_lines(chunk_size=1)
        next(lines)
        team.cancel("mine")
        team.wait("mine")
        assert team.create("later", packageUris=[package], pythonModule="probe.task").ok
        told_later = any(b"later" in line for line in lines)
    assert not told_later
