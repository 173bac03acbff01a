"""What answers is decided by the socket: a program in a replica tries the whole API by the ways it has, and others try the sockets
that are for supervisors."""

import http.client
import json
import os
import socket
import subprocess

import pytest
import requests

ATTACK = '''
import json, os, sys, urllib.error, urllib.request

SERVER, VICTIM = os.environ["STORAGE_EMULATOR_HOST"], "/v1/projects/p/jobs/victim"
JOB = {"jobId": "made_by_a_job", "trainingInput": {"region": "us-central1", "packageUris": ["gs://packages/doors_attack.tar.gz"],
                                                   "pythonModule": "doors_attack.task"}}
PART = "--x\\r\\nContent-Type: application/http\\r\\nContent-ID: <1>\\r\\n\\r\\nPOST %s:cancel HTTP/1.1\\r\\n\\r\\n\\r\\n--x--\\r\\n" % VICTIM

def call(method, url, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, (dict, list)):
        body, headers["Content-Type"] = json.dumps(body), "application/json"
    request = urllib.request.Request(url, body and body.encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return [answer.status, answer.read().decode()]
    except urllib.error.HTTPError as error:
        return [error.code, error.read().decode()]

def refused(origin):
    return {
        "create": call("POST", origin + "/v1/projects/p/jobs", JOB),
        "cancel": call("POST", origin + VICTIM + ":cancel", {}),
        "override": call("POST", origin + VICTIM + "?updateMask=labels", {"labels": {"a": "b"}}, X_HTTP_Method_Override="PATCH"),
        "patch": call("PATCH", origin + VICTIM + "?updateMask=labels", {"labels": {"a": "b"}}),
        "set_policy": call("POST", origin + VICTIM + ":setIamPolicy", {"policy": {}}),
        "get_policy": call("GET", origin + VICTIM + ":getIamPolicy"),
        "status": call("GET", origin + "/trainyard" + VICTIM),
        "shell": call("GET", origin + "/trainyard" + VICTIM + "/replicas/master-replica-0:shell?token=" + "0" * 64),
        "maintain": call("POST", origin + "/trainyard" + VICTIM + ":maintain", {"replica": "master-replica-0"}),
        "metrics": call("GET", origin + "/metrics"),
        "attach": call("GET", origin + "/replica/v1/attach", Upgrade="trainyard-replica", Connection="Upgrade"),
        "batch": call("POST", origin + "/batch/ml/v1", PART, Content_Type="multipart/mixed; boundary=x"),
    }

def main(folder):
    bucket, _, name = folder[5:].partition("/")
    media = SERVER + "/storage/v1/b/" + bucket + "/o/" + name.replace("/", "%2F") + "%2Fx?alt=media"
    study = {"studyConfig": {"metrics": [{"metric": "y"}], "parameters": [
        {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}}]}}
    token = "/computeMetadata/v1/instance/service-accounts/default/token"
    metadata = "http://" + os.environ.get("GCE_METADATA_ROOT", os.environ["GCE_METADATA_HOST"])
    results = {"refused": {origin: refused(origin) for origin in (SERVER, "https://ml.googleapis.com", "https://www.googleapis.com")
                           if origin == SERVER or "GCE_METADATA_ROOT" in os.environ},
               "storage": refused("https://storage.googleapis.com") if "GCE_METADATA_ROOT" in os.environ else {},
               "allowed": {
        "upload": call("POST", SERVER + "/upload/storage/v1/b/" + bucket + "/o?uploadType=media&name=" + name + "/x", "by http"),
        "download": call("GET", media),
        "metadata": call("GET", metadata + token, Metadata_Flavor="Google"),
        "logs": call("POST", SERVER + "/v2/entries:list", {"resourceNames": ["projects/p"], "pageSize": 1}),
        "study": call("POST", SERVER + "/v1/projects/p/locations/us-central1/studies?studyId=" + name, study),
        "discovery": call("GET", SERVER + "/discovery/v1/apis/ml/v1/rest"),
        "list": call("GET", SERVER + "/v1/projects/p/jobs"),
        "victim": call("GET", SERVER + VICTIM),
    }}
    results["allowed"]["discovery"][1] = ""
    print("RESULT " + json.dumps(results), flush=True)

if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--job-dir") + 1])
'''


@pytest.fixture
def attack(tmp_path):
    """Uploads the attacking program as a package and returns its URI."""
    (tmp_path / "attack/doors_attack").mkdir(parents=True)
    (tmp_path / "attack/doors_attack/__init__.py").touch()
    (tmp_path / "attack/doors_attack/task.py").write_text(ATTACK)
    (tmp_path / "attack/setup.py").write_text(
        "from setuptools import setup\nsetup(name='doors_attack', version='1', packages=['doors_attack'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=tmp_path / "attack", check=True, capture_output=True)
    content = next((tmp_path / "attack/dist").glob("*.tar.gz")).read_bytes()
    return lambda server: server.upload("packages", "doors_attack.tar.gz", content)


def start_victim(server, upload):
    server.submit("victim", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
    job = server.wait("victim", lambda job: job["state"] == "RUNNING" and job.get("trainingOutput", {}).get("webAccessUris"))
    return job["trainingOutput"]["webAccessUris"]["master-replica-0"]


# name: the status, and a part of what the answer says
REFUSED = dict.fromkeys(("create", "cancel", "override", "patch", "set_policy", "get_policy", "status", "shell", "maintain", "metrics"),
                        (403, "Programs in replicas may not do this"))
REFUSED |= {"attach": (404, ""), "batch": (200, "Programs in replicas may not do this")}


@pytest.mark.parametrize("network", ["host", "isolated"])
def test_a_program_in_a_replica_has_its_part_of_the_api(network, make_server, attack, upload):
    if network == "isolated" and os.geteuid() != 0:
        pytest.skip("isolated networks need root")
    server = make_server("--network", network)
    uri = start_victim(server, upload)
    server.submit("attack", packageUris=[attack(server)], pythonModule="doors_attack.task", jobDir="gs://out/attack")
    assert server.wait("attack")["state"] == "SUCCEEDED", server.texts("attack")
    results = next(json.loads(text.removeprefix("RESULT ")) for text in server.texts("attack") if text.startswith("RESULT "))
    for origin, answers in results["refused"].items():
        wrong = {name: answer for name, answer in answers.items()
                 if answer[0] != REFUSED[name][0] or REFUSED[name][1] not in answer[1]}
        assert not wrong, origin
    # There a path is a bucket's and an object's name.
    assert not {name: answer for name, answer in results["storage"].items() if answer[0] < 400 and name != "batch"}
    allowed = results["allowed"]
    assert {name: answer[0] for name, answer in allowed.items()} == dict.fromkeys(allowed, 200), allowed
    assert allowed["download"][1] == "by http" and "ya29.trainyard." in allowed["metadata"][1]
    for shown in allowed["victim"][1], allowed["list"][1]:
        assert "victim" in shown and "webAccessUris" not in shown and uri.split("token=")[1] not in shown
    assert {job["jobId"] for job in server.request("GET", "/v1/projects/p/jobs").json()["jobs"]} == {"victim", "attack"}
    victim = server.get("victim")
    assert victim["state"] == "RUNNING" and "labels" not in victim
    server.cancel("victim")
    server.wait("victim")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def ask(path, method, target, body=None, **headers):
    connection = UnixConnection(path)
    connection.request(method, target, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    text = answer.read().decode() if answer.status != 101 else ""
    connection.close()
    return answer.status, text


UPGRADE = {"Upgrade": "trainyard-replica", "Connection": "Upgrade"}


def test_supervisors_have_a_socket_and_nobody_else_theirs(server):
    run = server.data / "run"
    for origin in server.url, server.replica_url:
        assert requests.get(origin + "/replica/v1/attach", headers=UPGRADE, timeout=60).status_code == 404, origin
    for name in "admin.sock", "replica.sock", "front.sock":
        assert ask(run / name, "GET", "/replica/v1/attach", **UPGRADE)[0] == 404, name
    assert ask(run / "attach.sock", "GET", "/replica/v1/attach", **UPGRADE)[0] == 101
    for method, target in [("GET", "/"), ("GET", "/healthz"), ("GET", "/metrics"), ("GET", "/v1/projects/p/jobs"), ("POST", "/v1/projects/p/jobs"),
                           ("GET", "/storage/v1/b/packages"), ("POST", "/v2/entries:list"), ("POST", "/batch"), ("POST", "/token"),
                           ("GET", "/computeMetadata/v1/project/project-id"), ("GET", "/$discovery/rest?version=v1")]:
        assert ask(run / "attach.sock", method, target, Content_Type="application/json", Metadata_Flavor="Google")[0] == 404, target


def test_the_replicas_port_stays_over_a_restart(server):
    before = server.replica_url
    assert before != server.url
    for end in server.kill, server.stop:
        end()
        server.start()
        assert server.replica_url == before


def test_the_administrations_socket_has_the_whole_api(server):
    run = server.data / "run"
    assert ask(run / "admin.sock", "GET", "/v1/projects/p/jobs")[0] == 200
    assert ask(run / "admin.sock", "GET", "/metrics")[0] == 200
    assert ask(run / "replica.sock", "GET", "/metrics")[0] == 403
    assert not [path.name for path in run.glob("*.sock") if path.stat().st_mode & 0o077]
