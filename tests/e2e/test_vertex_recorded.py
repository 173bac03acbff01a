"""Recorded requests of Vertex AI's clients (tests/golden/vertex): each is answered as its client expects, over REST and gRPC. What is
refused on purpose is a table here, with the reason."""

import base64
import json
import pathlib
import re
import subprocess
import tarfile

import google_crc32c
import pytest

from process_output import Output
from trainyard_server import MINIMAL_RUNTIME, ROOT

REQUESTS = [json.loads(line) for line in (pathlib.Path(__file__).parents[1] / "golden/vertex/requests.jsonl").read_text().splitlines()]
HEADERS = {"gcloud": {"Accept": "application/json", "Accept-Encoding": "gzip, deflate"},
           "SDK": {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "Content-Type": "application/json"},
           "google-cloud-storage": {"Accept": "application/json", "Accept-Encoding": "gzip, deflate"}}
COLLECTIONS = {"customJobs": "CustomJob", "hyperparameterTuningJobs": "HyperparameterTuningJob", "trainingPipelines": "TrainingPipeline",
               "studies": "Study", "models": "Model"}
VERBS = {"cancel": "Empty", "suggest": "Operation", "checkTrialEarlyStoppingState": "Operation", "addTrialMeasurement": "Trial",
         "complete": "Trial", "listOptimalTrials": "ListOptimalTrialsResponse"}
JOB = {"name", "displayName", "state", "createTime", "updateTime"}
# The members that clients read, in every state of the resource.
READ = {"CustomJob": JOB | {"jobSpec"},
        "HyperparameterTuningJob": JOB | {"studySpec", "maxTrialCount", "parallelTrialCount", "trialJobSpec"},
        "TrainingPipeline": JOB | {"trainingTaskDefinition", "trainingTaskInputs", "trainingTaskMetadata"},
        "Study": {"name", "displayName", "studySpec", "state", "createTime"},
        "Trial": {"name", "id", "state", "parameters", "startTime"},
        "Model": {"name", "displayName", "versionId", "containerSpec", "createTime", "updateTime", "trainingPipeline", "artifactUri"},
        "Operation": {"name", "done", "response"}, "ListOptimalTrialsResponse": {"optimalTrials"}, "Empty": set()}
OF_A_RUN = {"startTime", "endTime", "error", "trials", "webAccessUris"}  # nothing runs in these tests, but the recorder told of runs
NOT_READ = {"etag"}  # by none of these clients
SECOND_STUDY = {78: 58}  # line -> that of the study with the same display name, which has to go first
NEEDS_SUCCESS = {55}  # a model: test_the_model_of_a_pipeline

# What is answered otherwise than by the recorder: line -> (status, a part of the message, why).
OTHERWISE = {
    15: (400, "job_spec.worker_pool_specs[0]", "the pool has no program: the recorder did not look"),
    16: (400, "persistent resources", "there are no persistent resources, and the program would run elsewhere than its user meant"),
    21: (400, "GRID_SEARCH requires", "a grid of a DOUBLE has no end: the recorder did not look"),
    25: (404, "", "there are no TensorBoard instances: curves are read from the event files"),
    37: ("OK", "", "the recorder had no list yet"),
    96: (200, "", "the recorder had no path prefix"),
    97: (200, "", "the recorder had no path prefix"),
    114: ("INVALID_ARGUMENT", "tensorboard", "there are no TensorBoard instances: curves are read from the event files"),
}


class Client:
    """Sends recorded requests to a server, and reads the answers with the SDK's own classes."""

    def __init__(self, server):
        self.server = server
        self.ids = {}  # line -> the id that its resource was given
        address = server.presence["tls_url"].removeprefix("https://")
        self.process = subprocess.Popen(
            [str(ROOT / "build/venv-vertex/bin/python"), str(pathlib.Path(__file__).with_name("vertex_grpc.py")), address,
             str(server.data / "tls/ca.pem")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.output = Output(self.process.stdout)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)

    def ask(self, **asked):
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.output.line())

    def of_our_ids(self, recorded):
        text = re.sub(r"ID_OF_(\d+)", lambda line: self.ids.get(int(line[1]), "0"), json.dumps(recorded))
        return json.loads(text)

    def send(self, line):
        """The status, the answer as the client reads it, its type, and the message of an error."""
        asked = self.of_our_ids(line)
        if "rpc" in asked:
            reply = self.ask(rpc=asked["rpc"], request=asked["request"])
            return reply["status"], reply.get("answer"), reply.get("type"), reply.get("message", "")
        method, target = asked["rest"].split(" ", 1)
        headers = dict(HEADERS[line["by"].split()[0]])
        body = {"json": asked["body"]} if "body" in asked else {}
        if "body_head" in asked:
            headers["Content-Type"] = asked["type"]
            body = {"data": multipart(asked)}
        path = "/aiplatform" + target if re.match("/v1(beta1)?/", target) else target
        response = self.server.request(method, path, headers=headers, **body)
        if response.status_code >= 400:
            return response.status_code, None, None, response.json()["error"]["message"]
        kind = type_of_path(method, target)
        if not kind:
            return response.status_code, response.json(), None, ""
        read = self.ask(type=kind, json=response.json())
        return response.status_code, read.get("answer"), kind, read.get("message", "")

    def resource(self, line):
        """The resource that a request creates, as the answer's type; None: it creates none."""
        asked = self.of_our_ids(line)
        if "rpc" in asked:
            return next((value for value in asked["request"].values() if isinstance(value, dict)), None) if "/Create" in asked["rpc"] else None
        method, target = asked["rest"].split(" ", 1)
        collection = target.split("?")[0].rsplit("/", 1)[1]
        return self.ask(type=COLLECTIONS[collection], json=asked["body"]).get("answer") if method == "POST" and collection in COLLECTIONS else None


def multipart(asked):
    content = b"a package"
    digest = base64.b64encode(google_crc32c.value(content).to_bytes(4, "big")).decode()
    boundary = asked["type"].split('"')[1]
    head = re.sub(r'("crc32c": ")[^"]*', r"\g<1>" + digest, asked["body_head"])
    return head.encode() + content + f"\r\n--{boundary}--\r\n".encode()


def type_of_path(method, target):
    path = target.split("?")[0]
    if not re.match("(/aiplatform)?/v1(beta1)?/", path):
        return None
    if ":" in path:
        return VERBS[path.rsplit(":", 1)[1]]
    if method == "DELETE":
        return "Operation"
    last, before = path.split("/")[-1], path.split("/")[-2]
    if last in COLLECTIONS:
        return COLLECTIONS[last] if method == "POST" else f"List{COLLECTIONS[last]}sResponse"
    return COLLECTIONS[before]


def lacks(part, whole, path=""):
    """The first place where `whole` is not at least `part`; "" if there is none."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return next((found for name, value in part.items() if (found := lacks(value, whole.get(name), f"{path}.{name}"))), "")
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        return next((found for one, other in zip(part, whole) if (found := lacks(one, other, path + "[]"))), "")
    return "" if part == whole or part in ({}, [], None) and whole is None else f"{path}: {part!r} became {whole!r}"


def complaint(client, number, line):
    """What is wrong with the answer to a recorded request; "" if nothing is."""
    expected, text, _ = OTHERWISE.get(number, (line["status"], "", ""))
    resource = client.resource(line) if number not in OTHERWISE else None
    if re.search("/Delete|^DELETE", line.get("rpc") or line["rest"]):
        client.server.wait("vertex_" + client.ids[int(re.search(r"ID_OF_(\d+)", json.dumps(line))[1])])  # it was cancelled
    status, answer, kind, message = client.send(line)
    if status != expected or text not in message:
        return f"{status} {message}"
    if status not in (200, "OK"):
        return "" if message else "an error without a message"
    if answer is None:
        return f"the client cannot read the answer: {message}"
    wanted = READ.get(kind, set()) | set(line.get("keys", ())) - OF_A_RUN - NOT_READ
    if missing := wanted - answer.keys():
        return f"no {sorted(missing)} in {answer}"
    if resource is not None:
        client.ids[number] = answer["name"].rsplit("/", 1)[1]
        return lacks(resource, answer)
    return ""


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A 2.15 without packages, for the recorded program that runs."""
    folder = tmp_path_factory.mktemp("recorded") / "environments/runtimes.d"
    folder.mkdir(parents=True)
    (folder / "2.15.json").write_text(json.dumps({**MINIMAL_RUNTIME, "version": "2.15"}))
    return folder.parent


@pytest.fixture
def make_client():
    if not (ROOT / "build/venv-vertex/bin/python").exists():
        pytest.skip("no build/venv-vertex: ./dev test installs it")
    clients = []

    def make(server):
        clients.append(Client(server))
        return clients[-1]
    yield make
    for client in clients:
        client.close()


def put_packages(server, path):
    """Each package that a request names, with the modules that they run."""
    sources = path / "packages"
    for module in ("trainer", "aiplatform_custom_trainer_script"):
        (sources / module).mkdir(parents=True)
        (sources / module / "__init__.py").touch()
        (sources / module / "task.py").write_text("print('it runs')\n")
    (sources / "setup.py").write_text("import setuptools\nsetuptools.setup(name='t', version='0.1', packages=setuptools.find_packages())\n")
    with tarfile.open(path / "t.tar.gz", "w:gz") as archive:
        archive.add(sources, "t-0.1")
    content = (path / "t.tar.gz").read_bytes()
    for uri in set(re.findall(r'gs://my-bucket/([^"]*\.tar\.gz)', json.dumps(REQUESTS))):
        server.upload("my-bucket", uri, content)


def test_recorded_requests(make_server, make_client, tmp_path):
    """Nothing runs, so that jobs can be cancelled whenever the recording does it."""
    server = make_server("--accelerators", "nvidia-tesla-t4=4")
    put_packages(server, tmp_path)
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    client = make_client(server)
    assert len(REQUESTS) == 114
    wrong = []
    for number, line in enumerate(REQUESTS, 1):
        if number in SECOND_STUDY:
            studies = "/aiplatform/v1/projects/p/locations/us-central1/studies/"
            assert server.request("DELETE", studies + client.ids[SECOND_STUDY[number]]).json() == {}
        if number not in NEEDS_SUCCESS and (found := complaint(client, number, line)):
            wrong.append(f"{number} {line['by']} {line.get('rpc') or line['rest']}: {found}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_the_model_of_a_pipeline(make_server, make_client, tmp_path):
    """GetModel once the recorded pipeline has succeeded. Here it runs, with an image that every machine has a Python for."""
    server = make_server()
    put_packages(server, tmp_path)
    client = make_client(server)
    pipeline = json.loads(json.dumps(REQUESTS[53]).replace("tf-cpu.2-8:latest\", \"python_module", "sklearn-cpu.1-6:latest\", \"python_module"))
    assert pipeline != REQUESTS[53]
    assert not complaint(client, 54, pipeline)
    assert complaint(client, 55, REQUESTS[54]).startswith("NOT_FOUND Model does not exist: ")
    job = server.wait("vertex_" + client.ids[54])
    assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"]))
    assert not complaint(client, 55, REQUESTS[54])
