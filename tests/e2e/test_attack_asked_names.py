"""What a request says of itself: its Host, its target, its audience, a batch's parts; and what a refusal or a public page says back."""

import base64
import json
import time

import pytest
from google.auth import crypt
from google.auth import jwt as google_jwt

from raw_http import converse, lines, statuses
from trainyard_server import Server, end_supervisors, wait_for

TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
JOBS = "/v1/projects/p/jobs"


@pytest.fixture(scope="module")
def team(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("names") / "data", "--auth", "on", "--host-name", "yard.test", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


def must(response):
    assert response.ok, response.text
    return response.json()


@pytest.fixture(scope="module")
def key(team):
    """A key file, made by a request under another of the server's names."""
    account = must(team.request("POST", "/v1/projects/p/serviceAccounts", json={"accountId": "trainer"}))["email"]
    binding = {"role": "roles/ml.viewer", "members": ["serviceAccount:" + account]}
    must(team.request("POST", "/v1/projects/p:setIamPolicy", json={"policy": {"bindings": [binding]}}))
    made = must(team.request("POST", f"/v1/projects/p/serviceAccounts/{account}/keys", json={}, headers={"Host": "localhost:1"}))
    return json.loads(base64.b64decode(made["privateKeyData"]))


def test_a_key_file_names_the_server_by_its_own_url(team, key):
    assert {key[name].split("/")[2] for name in ("token_uri", "auth_uri")} == {team.url.removeprefix("http://")}


def signed(key, audience):
    now = int(time.time())
    claims = {"iss": key["client_email"], "sub": key["client_email"], "iat": now, "exp": now + 600, "aud": audience}
    return google_jwt.encode(crypt.RSASigner.from_service_account_info(key), claims).decode()


def test_an_audience_is_the_servers_own_url_and_not_what_the_request_says(team, key):
    port = int(team.url.rsplit(":", 1)[1])
    foreign = {"localhost:1": "http://localhost:1/v1/projects", "ml.localhost:9": "http://ml.localhost:9/",
               "yard.test:1": "http://yard.test:1", "127.0.0.1": "http://127.0.0.1"}
    for host, audience in foreign.items():
        for name in (host, team.url.removeprefix("http://")):
            refused = team.request("GET", JOBS, token=signed(key, audience), headers={"Host": name})
            assert refused.status_code == 401 and "aud is another server" in refused.text, (host, audience, refused.text)
    tls = team.presence["tls_url"].rsplit(":", 1)[1]
    for audience in (team.url + "/", team.url + JOBS, f"http://ml.localhost:{port}/", f"https://storage.localhost:{tls}/",
                     f"https://yard.test:{tls}/", "https://yard.test/v1", "https://ml.googleapis.com/"):
        assert must(team.request("GET", JOBS, token=signed(key, audience), headers={"Host": "localhost:1"})) == {}, audience


def test_a_batchs_part_asks_the_metadata_server_as_all_do(team):
    part = "--x\r\nContent-Type: application/http\r\n\r\nGET {} HTTP/1.1\r\n{}\r\n\r\n--x--\r\n"
    headers = {"Content-Type": "multipart/mixed; boundary=x"}
    for path in (TOKEN, "/computeMetadata/v1/project/project-id", "/computeMetadata/v1/instance/name"):
        answer = team.request("POST", "/batch", data=part.format(path, ""), headers=headers)
        assert "HTTP/1.1 403" in answer.text and "Missing Metadata-Flavor:Google header" in answer.text, answer.text
    project = part.format("/computeMetadata/v1/project/project-id", "Metadata-Flavor: Google\r\n")
    assert "HTTP/1.1 200" in team.request("POST", "/batch", data=project, headers=headers).text


def test_a_malformed_host_is_no_host(team):
    for host in ("local\thost", "localhost\t", "user@localhost", "localhost:x", "local host", "[::1", "a" * 300):
        said = converse(team, lines("GET /healthz HTTP/1.1", "Host: " + host, "Connection: close", ""))
        wanted = [200] if host == "localhost\t" else [400]  # blanks around a value are none of it
        assert statuses(said) == wanted, (host, said)


def test_the_host_of_an_absolute_target_counts(team):
    for target, wanted in (("http://evil.example/healthz", 403), ("https://evil.example/healthz", 403), ("http://localhost/healthz", 200),
                           ("http://user@localhost/healthz", 400), ("http://yard.test:1/healthz", 200)):
        said = converse(team, lines(f"GET {target} HTTP/1.1", "Host: localhost", "Connection: close", ""))
        assert statuses(said) == [wanted], (target, said)
    said = converse(team, lines("GET http://localhost/healthz HTTP/1.1", "Host: evil.example", "Connection: close", ""))
    assert statuses(said) == [200], "a server passes over the field then (RFC 9112 section 3.2.2)"


def test_what_everybody_may_read_names_no_folder(team):
    ready = team.request("GET", "/readyz", token="")
    assert ready.ok and str(team.data) not in ready.text and "free in the server's data" in ready.text, ready.text
    shown = team.trainyard("admin", "status", "--data", str(team.data))
    assert f"free in {team.data}" in shown.stdout + shown.stderr, shown.stdout + shown.stderr


SECRET = "hunter2-of-4711"


@pytest.mark.parametrize("env", [[{"name": "A", "secret": True, "value": 4711}], [{"name": "A", "secret": SECRET, "value": "x"}],
                                 ["A=" + SECRET], "A=" + SECRET])
def test_a_refusal_repeats_no_value_of_a_variable(team, env):
    job = {"jobId": "j", "trainingInput": {"region": "us-central1", "pythonModule": "t", "packageUris": ["gs://b/t"], "env": env}}
    whole = json.dumps(job)
    twice = json.dumps({"jobId": "j", "trainingInput": json.dumps(job["trainingInput"])})
    for body in (whole, whole[:-1], whole.replace('"region"', "'region'"), whole.replace('"env":', '"env"'), twice):
        for path in (JOBS, "/trainyard" + JOBS + ":validate"):
            refused = team.request("POST", path, data=body, headers={"Content-Type": "application/json"})
            assert SECRET not in refused.text and "4711" not in refused.text, refused.text
            assert refused.status_code == 400 or path.endswith("validate"), refused.text


REPORTS = """import json, os
os.makedirs("/tmp/hypertune", exist_ok=True)
with open("/tmp/hypertune/output.metrics", "w") as file:
    for step, name in enumerate(["loss", os.environ["TOKEN"], "of " + os.environ["TOKEN"]]):
        file.write(json.dumps({"timestamp": 1.0 + step, "trial": "", name: "0.5", "global_step": str(step)}) + "\\n")
"""


def test_a_secret_is_no_metrics_name(team, upload):
    must(team.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}))
    env = [{"name": "TOKEN", "secret": True, "value": SECRET}, {"name": "CODE", "value": REPORTS}]
    team.submit("reports", packageUris=[upload(team, "probe")], pythonModule="probe.task", args=["shell", 'python3 -c "$CODE"'], env=env)
    assert team.wait("reports")["state"] == "SUCCEEDED", team.texts("reports")
    scalars = "/trainyard/v1/projects/p/jobs/reports/scalars"
    curves = wait_for(lambda: (lambda shown: shown if "loss" in shown else None)(team.request("GET", scalars).text), lambda: "no curves")
    assert "of ***" in curves and SECRET not in curves
    for path in (JOBS + "/reports", "/trainyard" + JOBS + "/reports"):
        assert SECRET not in team.request("GET", path).text
