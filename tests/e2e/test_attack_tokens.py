"""What proves who somebody is: each proof is for one purpose and one attempt, ends with it, and is in no log."""

import base64
import json
import pathlib
import re
import time
from urllib.parse import urlencode

import pytest
import requests

from test_attack_doors import ask
from trainyard_server import processes_with

TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
FLAVOR = {"Metadata-Flavor": "Google"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Attempt:
    """A running one: what proves each of its rights."""

    def __init__(self, server, upload, job_id="mine", uid=1):
        server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
        job = server.wait(job_id, lambda job: job["state"] == "RUNNING" and job.get("trainingOutput", {}).get("webAccessUris"))
        self.server, self.job_id, self.id = server, job_id, f"{uid}-master-replica-0-1"
        self.shell = job["trainingOutput"]["webAccessUris"]["master-replica-0"]
        self.shell_token = self.shell.split("token=")[1]
        folder = server.data.resolve() / "attempts" / self.id
        manifest = (folder / "manifest.pb").read_bytes()
        self.attempt_token = re.search(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", manifest)[0].decode()
        found = re.search(re.escape(self.id).encode() + rb"\.[0-9a-f]+\.metadata\.trainyard", manifest)
        self.metadata_host = found[0].decode() if found else pytest.skip("the front has no metadata server of its own here")

    def access_token(self):
        """As a program in the replica gets it, by the front: one of its shell."""
        line = f'curl -sS -H "Metadata-Flavor: Google" "http://$GCE_METADATA_HOST{TOKEN}"\nexit\n'
        done = self.server.trainyard("jobs", "shell", self.job_id, "master-replica-0", input=line)
        found = re.search(r'"access_token":"([^"]+)"', done.stdout)
        assert found, done.stdout + done.stderr
        return found[1]

    def owner_by_name(self):
        """Whose token one gets who only knows the name."""
        _, text = ask(self.server.data / "run/front.sock", "GET", TOKEN, Host=self.metadata_host, **FLAVOR)
        return json.loads(text)["access_token"].split(".")[2]


def with_token(server, token, path="/v1/projects/p/jobs"):
    """What the administration, the replicas' port and the front answer to who shows it."""
    headers = {"Authorization": f"Bearer {token}"}
    statuses = {requests.get(origin + path, headers=headers, timeout=60).status_code for origin in (server.url, server.replica_url)}
    front, _ = ask(server.data / "run/front.sock", "GET", path, Host="ml.googleapis.com", **headers)
    return statuses | {front}


def test_a_token_is_new_each_time_and_dies_with_its_attempt(server, upload):
    attempt = Attempt(server, upload)
    first, second = attempt.access_token(), attempt.access_token()
    assert first != second and first.startswith(f"ya29.trainyard.{attempt.id}.")
    assert with_token(server, first) == with_token(server, second) == {200}
    server.kill()
    server.start()
    third = attempt.access_token()
    assert third not in (first, second) and with_token(server, first) == with_token(server, third) == {200}
    server.cancel("mine")
    assert server.wait("mine")["state"] == "CANCELLED"
    for _ in range(2):
        assert with_token(server, first) == with_token(server, third) == {401}
        assert attempt.owner_by_name() == "any-replica"
        refused = requests.get(server.url + "/v1/projects/p/jobs", headers={"Authorization": f"bearer  {first}"}, timeout=60)
        assert "invalid_token" in refused.headers["WWW-Authenticate"] and "has ended" in refused.json()["error"]["message"]
        assert server.request("GET", attempt.shell.removeprefix(server.url)).status_code == 400, "no shell"
        server.kill()
        server.start()


@pytest.mark.parametrize("path", ["/v1/projects/p/jobs", "/storage/v1/b/packages", "/discovery/v1/apis", "/healthz"])
def test_a_token_that_was_changed_is_none(server, upload, path):
    server.upload("packages", "x", b"x")
    good = requests.get(server.url + TOKEN, headers=FLAVOR, timeout=60).json()["access_token"]
    prefix, owner, expires, nonce, mac = good.rsplit(".", 4)
    assert with_token(server, good, path) == {200}
    later, flipped = str(int(expires) + 3600), mac[:-1] + ("0" if mac[-1] != "0" else "1")
    for wrong in ["ya29.trainyard.", "ya29.trainyard.x", f"{prefix}.1-master-replica-0-1.{expires}.{nonce}.{mac}",
                  f"{prefix}.{owner}.{later}.{nonce}.{mac}", f"{prefix}.{owner}.{expires}.{nonce}.{flipped}", good + "0", good[:-1]]:
        assert with_token(server, wrong, path) == {401}, wrong
        for name in "access_token", "oauth_token":
            assert server.request("GET", path, params={name: wrong}).status_code == 401
    for foreign in ["ya29.a0-a-users-own", "eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "x"]:
        assert with_token(server, foreign, path) == {200}, "there is no login yet"


def test_a_batch_does_not_hide_a_token(server):
    server.upload("packages", "x", b"x")
    part = "--x\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/packages/o HTTP/1.1\r\n{}\r\n\r\n--x--\r\n"
    headers = {"Content-Type": "multipart/mixed; boundary=x"}
    for path in "/batch", "/batch/storage/v1":
        for origin in server.url, server.replica_url:
            bad = requests.post(origin + path, part.format("Authorization: Bearer ya29.trainyard.x\r\n"), headers=headers, timeout=60)
            assert "HTTP/1.1 401" in bad.text, bad.text
            good = requests.post(origin + path, part.format(""), headers=headers, timeout=60)
            assert "HTTP/1.1 200" in good.text, good.text


def test_no_proof_stands_for_another(server, upload):
    one, other = Attempt(server, upload), Attempt(server, upload, "other", 2)
    access = one.access_token()
    proofs = {"attempt": one.attempt_token, "shell": one.shell_token, "host": one.metadata_host.split(".")[1], "access": access.split(".")[-1]}
    texts = list(proofs.values())
    assert not [(a, b) for a in texts for b in texts if a is not b and (a.startswith(b) or b in a)]
    shell = one.shell.removeprefix(server.url).split("token=")[0] + "token="
    assert server.request("GET", shell + one.shell_token).status_code == 200
    for wrong in [*proofs.values(), other.shell_token, access]:
        if wrong != one.shell_token:
            assert server.request("GET", shell + wrong).status_code == 403
    prefix = f"ya29.trainyard.{one.id}.9999999999.n."
    for wrong in proofs.values():
        assert with_token(server, prefix + wrong) == {401}
        status, text = ask(server.data / "run/front.sock", "GET", TOKEN, Host=f"{one.id}.{wrong[:40]}.metadata.trainyard", **FLAVOR)
        assert status == 200 and ".any-replica." in text, "a name is nobody's, made up or not: programs print theirs"
    for job_id in "mine", "other":
        server.cancel(job_id)
        server.wait(job_id)


def part(claims):
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()


def jwt(algorithm="RS256", **changed):
    now = int(time.time())
    claims = {"iss": "a@p.iam.gserviceaccount.com", "aud": "https://oauth2.googleapis.com/token", "iat": now, "exp": now + 3600,
              "scope": "https://www.googleapis.com/auth/cloud-platform"} | changed
    return ".".join([part({"alg": algorithm, "typ": "JWT"}), part({name: value for name, value in claims.items() if value is not None}), "c2ln"])


def grant(server, body, **headers):
    text = body if isinstance(body, str) else urlencode(body)
    status, answer = ask(server.data / "run/front.sock", "POST", "/token", text, Host="oauth2.googleapis.com", **{**FORM, **headers})
    return status, json.loads(answer)


JWT_BEARER, EXCHANGE = "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"


def test_the_token_endpoint_wants_a_grant(server):
    for good in [{"grant_type": JWT_BEARER, "assertion": jwt()}, {"grant_type": JWT_BEARER, "assertion": jwt(scope="")},
                 {"grant_type": "refresh_token", "refresh_token": "r", "client_id": "c", "client_secret": "s"},
                 {"grant_type": EXCHANGE, "subject_token": "t", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}]:
        status, answer = grant(server, good)
        assert status == 200 and answer["token_type"] == "Bearer" and answer["expires_in"] == 3600, answer
        assert answer["access_token"].startswith("ya29.trainyard.any-replica.") and with_token(server, answer["access_token"]) == {200}
        assert grant(server, good)[1]["access_token"] != answer["access_token"]
    for bad, error in [("", "invalid_request"), ("garbage", "invalid_request"), ({"grant_type": "password"}, "unsupported_grant_type"),
                       ({"grant_type": JWT_BEARER}, "invalid_request"), ({"grant_type": JWT_BEARER, "assertion": "anything"}, "invalid_grant"),
                       ({"grant_type": JWT_BEARER, "assertion": jwt("none")}, "invalid_grant"),
                       ({"grant_type": JWT_BEARER, "assertion": jwt(iss=None)}, "invalid_grant"),
                       ({"grant_type": JWT_BEARER, "assertion": jwt(iat=1, exp=3601)}, "invalid_grant"),
                       ({"grant_type": JWT_BEARER, "assertion": jwt(exp=int(time.time()) + 86400)}, "invalid_grant"),
                       ({"grant_type": "refresh_token", "refresh_token": ""}, "invalid_request"),
                       ({"grant_type": EXCHANGE, "subject_token": "t"}, "invalid_request")]:
        status, answer = grant(server, bad)
        assert (status, answer["error"]) == (400, error) and answer["error_description"] and "access_token" not in answer, bad
    assert grant(server, '{"grant_type": "refresh_token"}', **{"Content-Type": "application/json"})[0] == 400


def test_the_servers_log_has_no_secret(make_server, upload):
    server = make_server("--verbose")
    attempt = Attempt(server, upload)
    access = attempt.access_token()
    assert server.request("GET", attempt.shell.removeprefix(server.url)).ok
    assert server.request("GET", "/v1/projects/p/jobs", params={"access_token": access, "pageSize": "1"}).ok
    assert server.trainyard("jobs", "shell", "mine", "master-replica-0", input="exit 7\n").returncode == 7
    with_token(server, access)
    server.cancel("mine")
    server.wait("mine")
    log = server.stderr()
    assert "target=/trainyard/v1/projects/p/jobs/mine/replicas/master-replica-0:shell?token=*" in log
    for secret in attempt.shell_token, attempt.attempt_token, access, access.split(".")[-1], attempt.metadata_host.split(".")[1]:
        assert secret not in log, secret[:20]
    supervisors = "".join(path.read_text(errors="replace") for path in pathlib.Path(server.data).glob("attempts/*/supervisor.log"))
    assert attempt.attempt_token not in supervisors
    assert not [command for _, command in processes_with(attempt.shell_token)]
