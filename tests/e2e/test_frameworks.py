"""Distributed training with the real frameworks: the examples, each checked by the files that it leaves in the bucket."""

import json
import random

import pytest

from trainyard_server import ROOT

TENSORFLOW = "2.15"


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    from trainyard_server import Server

    server = Server(tmp_path_factory.mktemp("frameworks"), "--image-runtime", "example.com/old-tensorflow*=2.15",
                    environments=environments)
    yield server
    server.stop()


def run(server, example, job_id, args=(), edit=lambda config: config, flags=()):
    """Submits an example by the command of its README and waits for the end; returns the job-dir's folder."""
    config = ROOT / "examples" / example / "config.yaml"
    if config.exists():
        edited = server.data / f"{job_id}.yaml"
        edited.write_text(edit(config.read_text()))
        flags = [*flags, "--config", edited]
    done = server.trainyard("jobs", "submit", "training", job_id, "--package-path", ROOT / "examples" / example / "trainer",
                            "--module-name", "trainer.task", "--job-dir", f"gs://out/{job_id}", "--region", "us-central1",
                            *flags, *(["--", *args] if args else []))
    assert done.returncode == 0, done.stderr
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", job.get("errorMessage")
    return server.data / "buckets/out" / job_id


def read(path):
    return json.loads(path.read_text())


def tf_config_of(server, job_id, task):
    """The cluster and the task that a replica was told, by its log."""
    line = next(text for text in server.texts(job_id, task) if text.startswith("Running task with arguments:"))
    decoder = json.JSONDecoder()
    return {name: decoder.raw_decode(line.split(f"--{name}=", 1)[1])[0] for name in ("cluster", "task", "job")}


def test_multi_worker_mirrored_strategy(server, runtime):
    runtime(TENSORFLOW)
    folder = run(server, "keras_multiworker", "keras", ["--epochs=2", "--steps-per-epoch=40", "--learning-rate=0.3"])
    metrics = read(folder / "metrics.json")
    assert metrics["replicas"] == 3 and metrics["epochs"] == 2 and metrics["accuracy"] > 0.3, "one in ten by chance"
    assert (folder / "model/saved_model.pb").exists() and list((folder / "checkpoints").glob("ckpt-*.index"))
    assert set(tf_config_of(server, "keras", "worker-replica-1")["cluster"]) == {"chief", "worker"}


def test_parameter_server_strategy_with_an_evaluator(server, runtime):
    runtime(TENSORFLOW)
    folder = run(server, "tf_parameter_server", "ps")
    result = read(folder / "result.json")
    assert result["steps"] == 100 and result["workers"] == 2 and result["parameter_servers"] == 1
    assert result["device"].startswith("/job:ps/") and result["weights"] == pytest.approx([1, -2, 3, 0.5], abs=0.05)
    assert read(folder / "eval/step-000100.json")["loss"] < 0.01
    said = tf_config_of(server, "ps", "evaluator-replica-0")
    assert said["task"] == {"type": "evaluator", "index": 0} and set(said["cluster"]) == {"chief", "worker", "ps"}


@pytest.mark.parametrize("name", [pytest.param("chief", marks=pytest.mark.long), "master"])
def test_estimator(name, server, upload, runtime):
    """With a runtime version of TensorFlow 2 the first replica is the chief, in an image it is the master."""
    runtime(TENSORFLOW)
    image = "masterConfig:\n    imageUri: example.com/old-tensorflow:1.15"
    folder = run(server, "tf_estimator", f"estimator_{name}",
                 edit=lambda config: config.replace("runtimeVersion: '2.15'", image) if name == "master" else config)
    metrics = read(folder / "metrics.json")
    assert metrics["task"] == name and metrics["accuracy"] > 0.9 and metrics["step"] >= 400
    assert {path.name for path in (folder / "trained").iterdir()} >= {f"{name}-0.json"}
    assert set(tf_config_of(server, f"estimator_{name}", "ps-replica-0")["cluster"]) == {name, "worker", "ps"}


@pytest.mark.parametrize("how", ["env", "tf-config", "cluster-spec"])
def test_torch_distributed(how, server, upload, runtime):
    runtime("pytorch")
    job_id = "ddp_" + how.replace("-", "_")
    folder = run(server, "pytorch_ddp", job_id, [f"--init={how}"])
    assert read(folder / "result.json")["weights"] == pytest.approx([1, -2, 3, 0.5], abs=0.05)
    ranks = [read(folder / f"ranks/{rank}.json") for rank in range(3)]
    assert ranks == [{"rank": rank, "world_size": 3, "same_weights": True} for rank in range(3)]
    assert (folder / "model.pt").stat().st_size > 0
    assert any("the image gcr.io/cloud-ml-public/training/pytorch-cpu.1-11 is not pulled; running with runtime version pytorch"
               in text for text in server.texts(job_id, "service"))
    assert "master" in tf_config_of(server, job_id, "master-replica-0")["cluster"]


def test_a_model_split_over_two_replicas(server, runtime):
    runtime("pytorch")
    folder = run(server, "pytorch_model_parallel", "split")
    front, back = read(folder / "result-0.json"), read(folder / "result-1.json")
    assert back["accuracy"] > 0.9 > back["accuracy_at_first"]
    assert (front["parameters"], back["parameters"]) == (48, 289)
    assert {path.name for path in (folder / "model").iterdir()} == {"part-0.pt", "part-1.pt"}


def test_xgboost_by_its_own_collective(server, runtime):
    runtime(TENSORFLOW)
    folder = run(server, "xgboost_distributed", "boosted")
    assert read(folder / "result.json")["accuracy"] > 0.9
    ranks = [read(folder / f"ranks/{rank}.json") for rank in range(3)]
    assert ranks == [{"world_size": 3, "rows": 6000, "same_model": True}] * 3


def test_scikit_learn_by_its_own_processes(server, runtime):
    runtime(TENSORFLOW)
    rng = random.Random(7)
    lines = ["age,hours,job,rich"]
    for _ in range(400):
        age, hours, job = rng.randint(18, 70), rng.randint(5, 60), rng.choice(["baker", "banker", "builder"])
        lines.append(f"{age},{hours},{job},{int(hours > 30 and job != 'baker' or age > 60)}")
    table = server.upload("data", "people.csv", "\n".join(lines).encode())
    folder = run(server, "sklearn_search", "search", ["--table", table, "--processes=2"],
                 flags=["--scale-tier", "basic", "--runtime-version", TENSORFLOW])
    result = read(folder / "result.json")
    assert result["rows"] == 400 and result["accuracy"] > 0.9 and result["best"]["trees__max_depth"] == 3
    assert (folder / "model/model.joblib").stat().st_size > 0


def test_a_parameter_server_by_hand(server):
    folder = run(server, "distributed", "by_hand")
    assert (folder / "result.json").exists()


# Packages that were written to try the product out, unmodified. (The fifth of them is examples/keras_multiworker.)

SHARED = {
    "iris_sklearn": (["--epochs=20"], {"runtimeVersion": TENSORFLOW}),
    "tabular_xgboost": (["--rounds=60", "--max-depth=4"], {"runtimeVersion": TENSORFLOW}),
    "linreg_stdlib": ([], {}),
    "dist_sgd_stdlib": (["--mode=sync"], {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4",
                                          "workerCount": "2", "parameterServerType": "n1-standard-4",
                                          "parameterServerCount": "1"}),
}


@pytest.mark.parametrize("name", SHARED)
def test_trainers_of_others_run_unmodified(name, server, upload, runtime):
    args, training_input = SHARED[name]
    if "runtimeVersion" in training_input:
        runtime(TENSORFLOW)
    job_id = f"unmodified_{name}"
    server.submit(job_id, packageUris=[upload(server, name)], pythonModule="trainer.task", args=args,
                  jobDir=f"gs://out/{job_id}", **training_input)
    job = server.wait(job_id)
    assert job["state"] == "SUCCEEDED", job.get("errorMessage")
    folder = server.data / "buckets/out" / job_id
    if name == "iris_sklearn":
        assert read(folder / "metrics.json")["accuracy"] > 0.8 and (folder / "model/model.joblib").exists()
    elif name == "tabular_xgboost":
        assert read(folder / "metrics.json")["rounds"] == 60
    elif name == "linreg_stdlib":
        assert read(folder / "model/model.json")["validation_mse"] == pytest.approx(0.009683, abs=1e-6)
    else:
        model = read(folder / "model/model.json")
        assert model["loss"] == pytest.approx(0.287531, abs=1e-6) and model["updates"] == 60
