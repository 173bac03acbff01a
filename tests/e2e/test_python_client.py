"""The Python client (clients/python) and the notebook that shows it, with a real server."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import urllib.parse
import zipfile

import pytest

from notebook import run_notebook
from trainyard_server import DEADLINE_S, PROGRAM, ROOT, RUNTIME, wait_for

sys.path.insert(0, str(ROOT / "clients/python"))  # the sources, not what is installed
import trainyard  # noqa: E402

PROGRAM_TEXT = '''
import argparse, os, pathlib
import beside
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--job-dir")
arguments = parser.parse_args()
for epoch in range(arguments.epochs):
    print("epoch", epoch, beside.WORD, flush=True)
folder = pathlib.Path("/gcs") / arguments.job_dir[len("gs://"):]
(folder / "deep").mkdir(parents=True)
(folder / "deep/model.txt").write_text("a model")
(folder / "empty").write_text("")
'''

TUNING = {"goal": "MINIMIZE", "hyperparameterMetricTag": "loss", "maxTrials": 3, "maxParallelTrials": 3,
          "params": [{"parameterName": "rate", "type": "DISCRETE", "discreteValues": [1, 2, 3]}]}


@pytest.fixture
def client(server):
    return trainyard.connect(server.url, "p")


def texts(job, **options):
    return [line.text for line in job.logs(**options) if line.task == "master-replica-0"]


def test_a_file_from_its_start_to_its_model(client, tmp_path):
    program = tmp_path / "program"
    program.mkdir()
    (program / "train.py").write_text(PROGRAM_TEXT)
    (program / "beside.py").write_text("WORD = open('word.txt').read()\n")
    (program / "word.txt").write_text("from beside")
    job = client.run(program / "train.py", args={"epochs": 3}, name="first", job_dir="gs://models/first", labels={"team": "a"})
    followed = texts(job, follow=True)  # from the first line on, and until the end
    assert [text for text in followed if text.startswith("epoch")] == [f"epoch {epoch} from beside" for epoch in range(3)]
    assert job.wait() == job.state == "SUCCEEDED"
    assert sorted(followed) == sorted(texts(job)), "no line is missing or comes twice"
    assert job.describe()["labels"] == {"team": "a"}
    files = job.download(tmp_path / "copy")
    assert {path.relative_to(tmp_path / "copy").as_posix(): path.read_text() for path in files} == {
        "deep/model.txt": "a model", "empty": ""}
    with pytest.raises(trainyard.Error, match="it has ended, and its state is SUCCEEDED"):
        job.cancel()
    assert job.url == client.transport.url + "/ui/p/p/jobs/first"
    table = client.jobs()
    assert [(row["job"], row["state"]) for row in table] == [("first", "SUCCEEDED")]
    assert client.job("first").state == "SUCCEEDED"
    again = job.rerun(args={"epochs": 1}, name="second")
    again.wait(check=False)  # its folder is there already
    assert [text for text in texts(again) if text.startswith("epoch")] == ["epoch 0 from beside"]
    assert again.describe()["labels"] == {"team": "a"}


def test_trials_of_a_function(client):
    def train(rate, offset):
        import json
        import os
        with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w") as file:
            json.dump({"loss": rate + offset, "global_step": "7", "timestamp": 1.0}, file)

    job = client.run(train, args={"offset": 10}, tuning=TUNING)
    assert job.id.startswith("train_")
    job.wait()
    table = job.trials()
    assert table.columns == ["trial", "state", "rate", "metric", "step"]
    assert sorted((row["rate"], row["metric"], row["step"]) for row in table) == [(1, 11.0, 7), (2, 12.0, 7), (3, 13.0, 7)]
    assert job.best_trial()["hyperparameters"] == {"rate": 1.0}


def test_errors_are_the_servers_own(client, make_server):
    def fail():
        raise ValueError("burst")

    job = client.run(fail, name="bad")
    with pytest.raises(trainyard.JobFailed, match="(?s)ValueError: burst.*Diagnosis: ") as caught:
        job.wait()
    assert caught.value.job is job
    with pytest.raises(trainyard.Error, match="A job with this id already exists") as refused:
        client.run(fail, name="bad")
    assert refused.value.code == 409
    with pytest.raises(trainyard.Error, match="tunes no hyperparameters"):
        job.best_trial()
    for absent in (lambda: client.job("absent"), lambda: list(trainyard.Job(client, "absent").logs())):
        with pytest.raises(trainyard.Error) as refused:
            absent()
        assert refused.value.code == 404


def test_gpus_workers_variables_and_a_job_that_waits(make_server):
    server = make_server("--accelerators", "none")
    client = trainyard.connect(server.url, "p")

    def train():
        pass

    job = client.run(train, gpus=2, workers=1, env={"SEED": "7"})
    told = job.describe()["trainingInput"]
    assert told["scaleTier"] == "CUSTOM" and told["workerCount"] == "1"
    assert told["masterConfig"] == told["workerConfig"] == {"acceleratorConfig": {"count": "2", "type": "NVIDIA_TESLA_V100"}}
    variables = {one["name"]: one["value"] for one in told["env"]}
    assert variables["SEED"] == "7"
    assert told["jobDir"] == f"gs://p-runs/{job.id}" and told["jobDirAsVariable"]
    assert "this machine has no accelerators" in (job.why_waiting() or "")
    with pytest.raises(TimeoutError, match="is still QUEUED"):
        job.wait(timeout=0)
    job.cancel()
    assert job.wait(check=False) == "CANCELLED"
    with pytest.raises(trainyard.JobFailed, match="Cancelled by the user"):
        job.wait()


def test_what_a_job_without_a_job_dir_wrote_is_downloaded_from_its_own_folder(make_server, tmp_path):
    server = make_server("--accelerators", "none")
    client = trainyard.connect(server.url, "p")

    def train():
        pass

    job = client.run(train, gpus=1, name="waits")
    assert job.download(tmp_path) == []
    server.upload("p-runs", "waits/model/weights", b"1")
    server.upload("p-runs", "waits2/other", b"2")
    assert [path.relative_to(tmp_path).as_posix() for path in job.download(tmp_path)] == ["model/weights"]
    with pytest.raises(trainyard.Error, match="does not name a file below a folder"):
        server.upload("p-runs", "waits/a/../../outside", b"3")
        job.download(tmp_path)
    server.submit("plain", pythonModule="a", packageUris=job.describe()["trainingInput"]["packageUris"])
    with pytest.raises(trainyard.Error, match="has no job-dir"):
        client.job("plain").download()


def test_the_server_is_found_by_its_note(server, monkeypatch):
    for name in ("TRAINYARD_SERVER", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(server.data / "no-gcloud"))
    monkeypatch.setenv("TRAINYARD_DATA", str(server.data))
    client = trainyard.connect()
    assert client.transport.url == server.url and client.project == "trainyard"


def test_the_notebook(server, monkeypatch, tmp_path):
    """Each cell of the example runs, and the last one shows the trials."""
    monkeypatch.setenv("TRAINYARD_SERVER", server.url)
    monkeypatch.chdir(tmp_path)
    path = ROOT / "examples/notebook/first_job.ipynb"
    shown = run_notebook(path)
    cells = json.loads(path.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells), "it is kept without outputs"
    assert "the loss is" in "".join(shown) and "<table>" in shown[-2]
    assert pathlib.Path("model/model.json").exists()


def hang_up(server, times, askers):
    """In the place of a server that is away: closes so many connections of those who look for it, as long as any does."""
    address = urllib.parse.urlsplit(server.url)
    with socket.create_server((address.hostname, address.port)) as listener:
        listener.settimeout(0.1)
        while times and not all(asker.done() for asker in askers):
            with contextlib.suppress(TimeoutError):
                listener.accept()[0].close()
                times -= 1


def test_who_follows_and_who_waits_live_through_kill_9(server, client, upload):
    server.submit("survivor", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["tick", "300"])
    job = client.job("survivor")
    lines = []

    def follow():
        for line in job.logs(follow=True):
            lines.append(line)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        following = pool.submit(follow)
        waiting = pool.submit(trainyard.connect(server.url, "p").job("survivor").wait)
        for count in (50, 100):
            wait_for(lambda count=count: len(lines) >= count or following.done() or None, lambda: f"{lines[-5:]}")
            server.kill()
            hang_up(server, 12, (following, waiting))  # more than one request tries by itself
            server.start()
        following.result(DEADLINE_S)
        assert waiting.result(DEADLINE_S) == "SUCCEEDED"
    ticks = [line.text for line in lines if line.text.startswith("tick ")]
    assert ticks == [f"tick {number:07d}" for number in range(300)]


def test_a_server_that_stays_away_is_an_error(server, client, upload):
    server.submit("endless", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"])
    job = client.job("endless")
    server.kill()
    with pytest.raises(trainyard.Unreachable, match="no Trainyard server answers at"):
        job.wait(timeout=0)


SECRET = "hunter2-Zeile/0815"


def test_secrets_reach_the_program_and_nothing_else(server, client, monkeypatch, caplog):
    def train():
        import os
        print("the secret is", os.environ["HF_TOKEN"], "of length", len(os.environ["HF_TOKEN"]))

    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(trainyard.Error, match="the secret HF_TOKEN has no value: the variable is not set here"):
        client.run(train, secrets=["HF_TOKEN"])
    with pytest.raises(trainyard.Error, match="names alone"):
        client.run(train, secrets=[f"HF_TOKEN={SECRET}"])
    with pytest.raises(trainyard.Error, match="a list of names"):
        client.run(train, secrets="HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN", SECRET)
    caplog.set_level("DEBUG")
    job = client.run(train, env={"LEVEL": "7"}, secrets=["HF_TOKEN"])
    with pytest.raises(trainyard.Error, match="TF_CONFIG") as refused:
        client.run(train, env={"TF_CONFIG": "x"}, secrets=["HF_TOKEN"])
    job.wait()
    assert f"the secret is *** of length {len(SECRET)}" in texts(job)
    assert {"name": "HF_TOKEN", "secret": True} in job.describe()["trainingInput"]["env"]
    shown = [json.dumps(job.describe()), repr(job), repr(client), str(client.jobs()), *map(str, job.logs()), str(refused.value), caplog.text,
             server.stderr()]
    assert not [text for text in shown if SECRET in text]


def test_the_runtime_version_is_that_of_the_imports(make_server, tmp_path):
    """As `trainyard run` chooses it (src/cli/run/program_package.cc). Jobs that wait for a GPU show it without being run."""
    client = trainyard.connect(make_server("--accelerators", "none").url, "p")
    program = tmp_path / "program"
    program.mkdir()
    (program / "train.py").write_text("import numpy\nimport beside\n")
    (program / "beside.py").write_text("import torch.nn as nn\n")

    def train():
        import tensorflow
        return tensorflow

    def version(program, **options):
        return client.run(program, gpus=1, **options).describe()["trainingInput"].get("runtimeVersion")

    assert version(program / "train.py") == "pytorch-2.15"
    assert version(program / "train.py", runtime=RUNTIME) == RUNTIME
    assert version(train) == "2.15"


UNIVERSE_PROGRAM = """
import sys
from googleapiclient import discovery
import trainyard
client = trainyard.connect(project="p")
print(sorted(row["job"] for row in client.jobs()))
print([bucket["name"] for bucket in client.storage.buckets().list(project="p").execute()["items"]])
if sys.argv[1:] == ["google"]:
    print(sorted(job["jobId"] for job in discovery.build("ml", "v1").projects().jobs().list(parent="projects/p").execute()["jobs"]))
"""


@pytest.fixture
def server_with_a_job(make_server):
    server = make_server("--accelerators", "none")

    def train():
        pass

    trainyard.connect(server.url, "p").run(train, gpus=1, name="there")
    return server


def run_in_universe(command, universe, **variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python"), "GOOGLE_CLOUD_UNIVERSE_DOMAIN": universe, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, env=environment)


@pytest.mark.parametrize("universe", ["elsewhere.example", "googleapis.com"])
def test_the_users_own_universe_is_not_the_servers(server_with_a_job, universe):
    """The client asks no name of Google's, whatever cloud the user's other programs are led to."""
    done = run_in_universe([sys.executable, "-c", UNIVERSE_PROGRAM], universe, TRAINYARD_SERVER=server_with_a_job.url)
    assert (done.returncode, done.stdout) == (0, "['there']\n['p-runs']\n"), done


ENVIRONMENT_SHELL = """
program=$1; shift
eval "$("$program" env)"
"$@" google || exit
eval "$("$program" env --unset)"
echo "then $GOOGLE_CLOUD_UNIVERSE_DOMAIN"
"""


def test_trainyard_env_leads_from_the_users_universe_and_back(server_with_a_job, with_localhost_names):
    """google-api-python-client, without an argument, and ours in one program."""
    command = ["bash", "-c", ENVIRONMENT_SHELL, "bash", PROGRAM, sys.executable, "-c", UNIVERSE_PROGRAM]
    done = run_in_universe(with_localhost_names(command), "elsewhere.example", TRAINYARD_DATA=str(server_with_a_job.data))
    assert (done.returncode, done.stdout) == (0, "['there']\n['p-runs']\n['there']\nthen elsewhere.example\n"), done


def test_an_installation_leaves_nothing_in_the_clone(tmp_path):
    source = tmp_path / "python"
    shutil.copytree(ROOT / "clients/python", source, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(source.rglob("*"))
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path / "wheels"), str(source)],
                          capture_output=True, text=True, timeout=DEADLINE_S)
    if done.returncode and "flit_core" in done.stderr:
        pytest.skip("no package index to build the client with")
    assert done.returncode == 0, done.stderr
    assert sorted(source.rglob("*")) == before
    assert any(name.endswith("trainyard/py.typed") for name in zipfile.ZipFile(next((tmp_path / "wheels").iterdir())).namelist())
