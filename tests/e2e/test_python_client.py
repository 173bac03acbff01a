"""The Python client (clients/python) and the notebook that shows it, with a real server."""

import json
import pathlib
import sys

import pytest

from notebook import run_notebook
from trainyard_server import ROOT

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
    (tmp_path / "train.py").write_text(PROGRAM_TEXT)
    (tmp_path / "beside.py").write_text("WORD = 'from beside'\n")
    job = client.run(tmp_path / "train.py", args={"epochs": 3}, name="first", job_dir="gs://models/first", labels={"team": "a"})
    followed = texts(job, follow=True)  # from the first line on, and until the end
    assert [text for text in followed if text.startswith("epoch")] == [f"epoch {epoch} from beside" for epoch in range(3)]
    assert job.wait() == job.state == "SUCCEEDED"
    assert sorted(followed) == sorted(texts(job)), "no line is missing or comes twice"
    assert job.describe()["labels"] == {"team": "a"}
    files = job.download(tmp_path / "copy")
    assert {path.relative_to(tmp_path / "copy").as_posix(): path.read_text() for path in files} == {
        "deep/model.txt": "a model", "empty": ""}
    table = client.jobs()
    assert [(row["job"], row["state"]) for row in table] == [("first", "SUCCEEDED")]
    assert client.job("first").state == "SUCCEEDED"


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
    assert job.best_trial()["hyperparameters"] == {"rate": "1"}


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
    assert variables["TRAINYARD_JOB_DIR"] == f"gs://p-runs/{job.id}" == variables["AIP_MODEL_DIR"].removesuffix("/model/")
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
