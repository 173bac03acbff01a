"""A right that ends while it is used: what a job's program made ends with the job, a body that comes after the right is gone changes
nothing, and what was let in as an account ends when the account does."""

import json
import socket

import pytest
import requests

from process_output import DEADLINE_S
from test_attack_identity import CREATOR, ask, bind, lives, make_account, make_token
from trainyard_server import Server, end_supervisors

METADATA = "http://$GCE_METADATA_HOST/computeMetadata/v1/instance/service-accounts/default/token"
READ = "python3 -c 'import json, sys; print(list(json.load(sys.stdin).values())[0])'"
ANN = "user:ann@example.com"


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments, packages):
    server = Server(tmp_path_factory.mktemp("lost") / "data", "--auth", "on", environments=environments)
    ask(server, "POST", "/storage/v1/b?project=p", {"name": "p-data"})
    server.upload("p-data", "probe.tar.gz", packages["probe"].read_bytes())
    yield server
    server.stop()
    end_supervisors(server.data)


def run_as(server, job, account, *more):
    """A job whose program prints its own token, and then what `more` prints."""
    script = f"OWN=$(curl -s -H 'Metadata-Flavor: Google' {METADATA} | {READ}); echo OWN $OWN\n" + "\n".join(more)
    server.submit(job, packageUris=["gs://p-data/probe.tar.gz"], pythonModule="probe.task", args=["shell", script, "forever"],
                  serviceAccount=account)


def printed(server, job, begin):
    entry = server.wait_for_entry(job, lambda entry: entry["jsonPayload"]["message"].startswith(begin + " "))
    return entry["jsonPayload"]["message"].split(" ", 1)[1]


def test_what_a_jobs_program_made_ends_with_the_job(server):
    own, _ = make_account(server, "runs-job")
    other, _ = make_account(server, "is-made")
    bind(server, "projects/p", ("roles/ml.serviceAgent", "serviceAccount:" + own))
    bind(server, f"projects/p/serviceAccounts/{other}", (CREATOR, "serviceAccount:" + own))
    make = f"{server.url}/v1/projects/-/serviceAccounts/{other}:generateAccessToken"
    run_as(server, "makes", own, "echo MADE $(curl -s -X POST -H \"Authorization: Bearer $OWN\" -H 'Content-Type: application/json' "
                                 f"-d '{{\"scope\": [\"x\"]}}' {make} | {READ})")
    made = printed(server, "makes", "MADE")
    session = requests.post(server.url + "/trainyard/v1/session", json={"token": made}, timeout=DEADLINE_S)
    cookie = {"Cookie": session.headers["Set-Cookie"].split(";")[0]}
    assert lives(server, made) and requests.get(server.url + "/trainyard/v1/whoami", headers=cookie, timeout=DEADLINE_S).ok
    server.cancel("makes")
    server.wait("makes")
    assert not lives(server, made)
    assert requests.get(server.url + "/trainyard/v1/whoami", headers=cookie, timeout=DEADLINE_S).status_code == 401
    server.kill()
    server.start()
    assert not lives(server, made)


def send_late(server, token, method, path, body, between, kind="application/json"):
    """The status of a request whose body is sent after `between`, when its head was let in."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
        connection.sendall((f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n"
                            f"Content-Length: {len(content)}\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n").encode())
        assert connection.recv(1 << 12).startswith(b"HTTP/1.1 100 ")
        between()
        connection.sendall(content)
        return int(connection.recv(1 << 16).split()[1])


def test_a_body_after_the_role_is_gone_changes_nothing(server):
    token, _ = make_token(server, ANN)
    bind(server, "projects/left", ("roles/ml.developer", ANN))
    body = {"jobId": "mine", "trainingInput": {"region": "us-central1", "packageUris": [], "pythonModule": "m",
                                               "masterConfig": {}, "scaleTier": "BASIC"}}
    body["trainingInput"]["packageUris"] = ["gs://p-data/probe.tar.gz"]
    job = "/v1/projects/left/jobs/mine"
    ask(server, "PUT", "/storage/v1/b/p-data/iam", {"bindings": [{"role": "roles/storage.objectViewer", "members": [ANN]}]})
    ask(server, "POST", "/v1/projects/left/jobs", body, token)
    for method, path, content in [("POST", job + ":setIamPolicy", {"policy": {"bindings": [{"role": "roles/ml.admin", "members": [ANN]}]}}),
                                  ("PATCH", job + "?updateMask=labels", {"labels": {"a": "late"}}), ("POST", job + ":cancel", {"name": "x"})]:
        bind(server, "projects/left", ("roles/ml.developer", ANN))
        assert send_late(server, token, method, path, content, lambda: bind(server, "projects/left")) == 401, path
    assert server.request("GET", job, token=token).status_code == 404
    server.request("POST", job + ":cancel", json={})


def test_what_was_let_in_as_an_account_ends_when_it_is_disabled(server):
    account, _ = make_account(server, "goes-away")
    bind(server, "projects/p", ("roles/ml.serviceAgent", "serviceAccount:" + account), ("roles/ml.viewer", "serviceAccount:" + account))
    run_as(server, "disabled", account)
    token = printed(server, "disabled", "OWN")
    path = f"/v1/projects/p/serviceAccounts/{account}"
    with requests.get(server.url + "/trainyard/v1/projects/p/jobs:watch", headers={"Authorization": "Bearer " + token}, stream=True,
                      timeout=DEADLINE_S) as stream:
        assert stream.status_code == 200, stream.text
        lines = stream.iter_lines(chunk_size=1)
        next(lines)
        upload = "/upload/storage/v1/b/p-data/o?uploadType=media&name=late"
        assert send_late(server, token, "POST", upload, b"late", lambda: ask(server, "POST", path + ":disable", {}), "text/plain") == 401
        run_as(server, "after", account)
        assert not any(b"after" in line for line in lines)
    for job in ("disabled", "after"):
        server.cancel(job)
        server.wait(job)
