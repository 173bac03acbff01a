"""Built-in algorithms end to end: submitted as the original's, and their models loaded by the plain libraries."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

from container_engines import oci, stop_clean
from process_output import Output
from trainyard_server import ROOT, Server, end_supervisors, kill, wait_for

IMAGES = "gcr.io/cloud-ml-algos/"
MACHINES = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "1"}
PICTURES = ["--num_classes=3", "--max_steps=4", "--train_steps_per_eval=4"]
TREES = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "base_score": 0.5, "tree_method": "hist"}
PARTS = ("training", "validation", "test")


class First(NamedTuple):
    """A first job of an algorithm. `data`: its files in gs://data, by argument; `left`: what is below its job-dir afterwards."""

    image: str
    data: dict[str, str]
    args: list[str]
    framework: str
    left: list[str]


TABULAR = [f"processed_data/{part}.csv" for part in PARTS] + ["artifacts/metadata.json", "model/deployment_config.yaml"]
KERAS = [*TABULAR, "model/saved_model.pb", "model/variables/variables.index", "experiment/validation/events.out.tfevents*"]
FOR_PICTURES = ["model/saved_model.pb", "model/deployment_config.yaml", "checkpoints/checkpoint", "experiment/validation/events.out.tfevents*"]
FIRST = {
    "boosted_trees": First("boosted_trees:latest", {"training": "iris.csv"},
                           ["--preprocess", "--objective=multi:softprob", "--num_class=3", "--max_depth=3"],
                           "XGBOOST", [*TABULAR, "model/model.bst", "model/model.json"]),
    "linear_learner": First("linear_learner_cpu:latest", {"training": "iris.csv"},
                            ["--preprocess", "--model_type=classification", "--max_steps=40", "--learning_rate=0.1"], "TENSORFLOW", KERAS),
    "wide_deep_learner": First("wide_deep_learner_cpu:latest", {"training": "hours.csv"},
                               ["--preprocess", "--model_type=regression", "--max_steps=20", "--use_wide", "--embed_categories",
                                "--hidden_units=8,4", "--dnn_learning_rate=0.05"], "TENSORFLOW", KERAS),
    "tab_net": First("tab_net", {"training": "census.csv"},
                     ["--preprocess", "--model_type=classification", "--max_steps=10", "--learning_rate=0.02", "--feature_dim=4",
                      "--num_decision_steps=2", "--num_transformer_layers=1", "--test_split=0.1"],
                     "TENSORFLOW", [*KERAS, "artifacts/feature_importances.json"]),
    "xgboost_dist": First("xgboost_dist:latest", {"training": "rows-*.csv", "validation": "unseen.csv"},
                          ["--objective=binary:logistic", "--num_boost_round=10", "--max_depth=3", "--eval_metric=logloss", "--nthread=1"],
                          "XGBOOST", ["model/model.bst", "model/model.json", "model/deployment_config.yaml"]),
    "image_classification": First("image_classification:latest",
                                  {"training": "classification-train", "validation": "classification-validation"},
                                  [*PICTURES, "--model_type=resnet-18", "--image_size=32", "--train_batch_size=4"],
                                  "TENSORFLOW", FOR_PICTURES),
    # With 4 steps nothing reaches the threshold that detections have by default.
    "image_object_detection": First("image_object_detection:latest",
                                    {"training": "detection-train", "validation": "detection-validation"},
                                    [*PICTURES, "--resnet_depth=18", "--image_size=64,64", "--fpn_feature_dims=16", "--head_num_convs=1",
                                     "--train_batch_size=2", "--nms_score_threshold=0", "--max_num_bboxes_in_prediction=20"],
                                    "TENSORFLOW", FOR_PICTURES),
}


def arguments(name):
    first = FIRST[name]
    return [*first.args, *(f"--{part}_data_path=gs://data/{file}" for part, file in first.data.items())]


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    """Without anything that runs containers: the images of the built-in algorithms are none."""
    server = Server(tmp_path_factory.mktemp("algorithms"), "--container-engine", "off", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


@pytest.fixture(scope="module")
def python(server, runtime):
    """The Python of the algorithms' runtime version."""
    runtime("algorithms")
    described = server.trainyard("runtimes", "describe", "algorithms", "--data", str(server.data), "--format", "json")
    assert described.returncode == 0, described.stderr
    return pathlib.Path(json.loads(described.stdout)["folder"]) / "bin/python"


@pytest.fixture(scope="module")
def ask(python):
    """ask(FUNCTION, ARGUMENTS...): what a function of algorithm_models.py answers."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.Popen([python, ROOT / "tests/e2e/algorithm_models.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=environment)
    output = Output(process.stdout)

    def call(*words):
        process.stdin.write(json.dumps([str(word) if isinstance(word, pathlib.Path) else word for word in words]) + "\n")
        process.stdin.flush()
        answer = json.loads(output.line())
        assert "answer" in answer, answer
        return answer["answer"]

    yield call
    process.stdin.close()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def data(server, ask, tmp_path_factory):
    """gs://data: the examples' tables, rows for trees, and pictures. Answers its folder."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copy(ROOT / "examples/algorithms/iris.csv", folder)
    for file, target in (("census.csv", "income"), ("hours.csv", "hours")):
        subprocess.run([sys.executable, ROOT / "examples/algorithms/make_census.py", folder / file, "--rows=400", f"--target={target}"],
                       check=True)
    for file, rows, seed in (("rows-1.csv", 500, 1), ("rows-2.csv", 500, 2), ("rows-3.csv", 500, 3), ("unseen.csv", 300, 4)):
        (folder / file).write_text(rows_of_numbers(rows, seed))
    (folder / "ragged.csv").write_text("a,1.5\nb,2.5\na,3.5,4\n")
    ask("shapes", folder, 64, 16, 8)
    for path in folder.iterdir():
        server.upload("data", path.name, path.read_bytes())
    return folder


def rows_of_numbers(rows, seed):
    """Few different values a column: their bins are the same on one replica and on several."""
    dice = random.Random(seed)
    lines = []
    for _ in range(rows):
        values = [round(dice.gauss(0, 1) * 4) / 4 for _ in range(5)]
        lines.append(f"{int(values[0] + values[1] * values[2] + dice.gauss(0, 0.5) > 0)}," + ",".join(map(str, values)))
    return "\n".join(lines) + "\n"


def run_gcloud(server, folder, *words):
    environment = {**os.environ, **server.client_environment(), "CLOUDSDK_CORE_PROJECT": "p", "CLOUDSDK_CONFIG": str(folder),
                   "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}
    return subprocess.run(["gcloud", "ai-platform", *words], capture_output=True, text=True, env=environment, timeout=200)


@pytest.fixture(scope="module")
def submitted(server, data, tmp_path_factory):
    """The first job of every algorithm, called as its algorithm: by gcloud where there is one, else by the API. What gcloud said, by job."""
    said = {}
    folder = tmp_path_factory.mktemp("gcloud")
    for name, first in FIRST.items():
        spreads = name == "xgboost_dist"
        if not shutil.which("gcloud"):
            server.submit(name, masterConfig={"imageUri": IMAGES + first.image}, jobDir=f"gs://out/{name}", args=arguments(name),
                          **(MACHINES if spreads else {"scaleTier": "BASIC"}))
            continue
        tier = ["--scale-tier=CUSTOM", "--master-machine-type=n1-standard-4", "--worker-machine-type=n1-standard-4",
                "--worker-count=1"] if spreads else ["--scale-tier=BASIC"]
        done = run_gcloud(server, folder, "jobs", "submit", "training", name, "--region=us-central1", *tier,
                          f"--master-image-uri={IMAGES}{first.image}", f"--job-dir=gs://out/{name}", "--", *arguments(name))
        assert done.returncode == 0, done.stderr + server.stderr()[-2000:]
        said[name] = done.stderr
    return said


def folder_of(server, job_id):
    return server.data / "buckets/out" / job_id


def labels(folder):
    """The metrics in deployment_config.yaml."""
    text = (folder / "model/deployment_config.yaml").read_text()
    return {name: float(value) for name, value in re.findall(r'^  "?([^ :"]+)"?: "([^"]*)"$', text, re.M)}


def built_in(name, **more):
    return {"framework": FIRST[name].framework, "runtimeVersion": "2.15", "pythonVersion": "3.11", **more}


@pytest.mark.parametrize("name", FIRST)
def test_the_first_job_of_each(server, ask, data, submitted, name):
    job = server.wait(name)
    assert job["state"] == "SUCCEEDED", (job, server.texts(name)[-40:])
    output = job["trainingOutput"]
    assert output["isBuiltInAlgorithmJob"] is True
    assert output["builtInAlgorithmOutput"] == built_in(name, modelPath=f"gs://out/{name}/model/")
    folder = folder_of(server, name)
    for pattern in FIRST[name].left:
        assert list(folder.glob(pattern)), (pattern, sorted(path.relative_to(folder) for path in folder.rglob("*")))
    CHECKS[name](ask, data, folder)


def check_trees(ask, data, folder):
    processed = folder / "processed_data"
    params = {**TREES, "objective": "multi:softprob", "num_class": 3}
    found = ask("booster", folder, params, 10, [f"{processed}/training.csv"], f"{processed}/validation.csv")
    assert found["apart"] < 1e-6 and found["formats_apart"] < 1e-6 and found["rounds"] == 10, found
    assert labels(folder) == {"accuracy": pytest.approx(100 * found["accuracy"], abs=1e-4), "global_step": 10,
                              "merror": pytest.approx(1 - found["accuracy"], abs=1e-6), "mlogloss": pytest.approx(found["loss"], abs=1e-6)}
    assert found["accuracy"] > 0.8


def check_distributed_trees(ask, data, folder):
    found = ask("booster", folder, TREES, 10, sorted(map(str, data.glob("rows-*.csv"))), str(data / "unseen.csv"))
    assert found["apart"] < 1e-5 and found["formats_apart"] < 1e-6 and found["rounds"] == 10, found  # sums in another order
    assert labels(folder) == {"accuracy": pytest.approx(100 * found["accuracy"], abs=1e-4), "global_step": 10,
                              "logloss": pytest.approx(found["loss"], abs=2e-6)}
    assert found["accuracy"] > 0.75


def check_linear(ask, data, folder):
    found, told = ask("tabular", folder), labels(folder)
    assert told["accuracy"] == pytest.approx(100 * found["accuracy"], abs=0.006), "with two decimals"
    assert told["loss"] == pytest.approx(found["loss"], rel=1e-4)
    assert found["labels"] == ["setosa", "versicolor", "virginica"] and found["accuracy"] > 0.8
    parts = [len((folder / f"processed_data/{part}.csv").read_text().splitlines()) for part in PARTS]
    assert sum(parts) == 150 and parts[1] == found["rows"] and parts[0] > 75, parts


def check_wide_deep(ask, data, folder):
    found, told = ask("tabular", folder), labels(folder)
    assert (told["rmse"], told["mae"]) == (pytest.approx(found["rmse"], rel=1e-5), pytest.approx(found["mae"], rel=1e-5))
    assert told["loss"] == pytest.approx(found["rmse"] ** 2, rel=1e-4)
    assert found["rmse"] < 12, "the deviation of the hours is about 9: their scale is that of the file"
    columns = json.loads((folder / "artifacts/metadata.json").read_text())["columns"]
    numeric = {"column_3", "column_6", "column_9"}
    assert {column["name"] for column in columns if column["kind"] == "numeric"} == numeric
    assert [column["name"] for column in columns if column["kind"] == "key"] == ["column_11"]


def check_tab_net(ask, data, folder):
    found, told = ask("tabular", folder), labels(folder)
    assert told["accuracy"] == pytest.approx(100 * found["accuracy"], abs=0.006)
    assert told["loss"] == pytest.approx(found["loss"], rel=1e-4)
    seen = json.loads((folder / "artifacts/feature_importances.json").read_text())["features"]
    assert len(seen) == 9 and sum(each["importance"] for each in seen) == pytest.approx(1)


def check_classification(ask, data, folder):
    found, told = ask("classification", folder, str(data / "classification-validation")), labels(folder)
    assert told["accuracy"] == pytest.approx(100 * found["accuracy"], abs=1e-3)
    assert told["loss"] == pytest.approx(found["loss"], rel=1e-3)
    assert found["keys"] == [str(place) for place in range(8)] and set(found["labels"]) <= {"circle", "square", "triangle"}


def check_detection(ask, data, folder):
    found, told = ask("detection", folder, str(data / "detection-validation")), labels(folder)
    assert found["shape"] == [8, 20, 4] and found["sorted"] and found["inside"] and found["detections"] > 0, found
    assert set(found["classes"]) <= {0, 1, 2, 3}
    for metric in ("AP", "AP50", "AP75", "ARmax100"):
        assert told[metric] == pytest.approx(found[metric], abs=1e-3), (metric, told, found)
    assert told["accuracy"] == pytest.approx(100 * told["AP50"], abs=0.01)


CHECKS = {"boosted_trees": check_trees, "linear_learner": check_linear, "wide_deep_learner": check_wide_deep, "tab_net": check_tab_net,
          "xgboost_dist": check_distributed_trees, "image_classification": check_classification, "image_object_detection": check_detection}


@pytest.mark.parametrize("name", FIRST)
def test_gcloud_submits_them_unmodified(gcloud, submitted, name):
    assert f"Job [{name}] submitted successfully." in submitted[name]


def test_gcloud_describes_what_came_out(server, gcloud, submitted, tmp_path):
    server.wait("boosted_trees")
    shown = run_gcloud(server, tmp_path, "jobs", "describe", "boosted_trees", "--format=json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["trainingOutput"]["builtInAlgorithmOutput"]["modelPath"] == "gs://out/boosted_trees/model/"


def test_gcloud_shows_why_an_argument_is_refused(server, gcloud, tmp_path):
    words = ["jobs", "submit", "training", "wrong", "--region=us-central1", f"--master-image-uri={IMAGES}linear_learner_cpu:latest",
             "--job-dir=gs://out/wrong", "--", "--model_type=classification", "--training_data_path=gs://data/iris.csv", "--max_step=5"]
    done = run_gcloud(server, tmp_path, *words)
    assert done.returncode != 0 and server.request("GET", "/v1/projects/p/jobs/wrong").status_code == 404
    assert "has no argument --max_step. Did you mean --max_steps?" in done.stderr, done.stderr


def refused(server, image, args, **more):
    """The field and the text with which a job is refused."""
    fields = {"masterConfig": {"imageUri": IMAGES + image}, "jobDir": "gs://out/refused", "args": args, **more}
    response = server.create("refused", **{name: value for name, value in fields.items() if value is not None})
    assert response.status_code == 400, response.text
    violation = response.json()["error"]["details"][0]["fieldViolations"][0]
    return violation["field"], violation["description"]


LINEAR = ["--model_type=regression", "--training_data_path=gs://data/hours.csv"]
TREE_ARGS = ["--objective=reg:linear", "--training_data_path=gs://data/hours.csv"]


@pytest.mark.parametrize("image, args, more, field, text", [
    ("linear_learner_cpu", LINEAR[:1], {}, "args", "needs --training_data_path"),
    ("linear_learner_cpu", [*LINEAR, "--max_steps=none"], {}, "args", "must be a whole number of at least 1, not 'none'"),
    ("linear_learner_cpu", [*LINEAR, "--validation_split=0.1"], {}, "args", "--validation_split needs --preprocess"),
    ("boosted_trees", [*TREE_ARGS, "--etta=1"], {}, "args", "Did you mean --eta?"),
    ("boosted_trees", ["--objective=regression", TREE_ARGS[1]], {}, "args", "--objective must be one of reg:linear, "),
    ("tab_net", LINEAR, {}, "args", "needs --learning_rate"),
    ("image_classification", [], {}, "args", "needs --training_data_path"),
    ("linear_learner_cpu", LINEAR, {"jobDir": None}, "job_dir", "required for built-in algorithms"),
    ("linear_learner_cpu", LINEAR, {"packageUris": ["gs://packages/a.tar.gz"], "pythonModule": "a.task"}, "package_uris", "leave out the packages"),
    ("linear_learner_cpu", LINEAR, MACHINES, "worker_count", "is not distributed"),
    ("xgboost_dist", TREE_ARGS, {}, "scale_tier", "needs a master and at least one worker"),
    ("image_segmentation", LINEAR, {}, "master_config.image_uri", f"There is no built-in algorithm of the image '{IMAGES}image_segmentation'"),
    ("boosted_trees", TREE_ARGS, {"hyperparameters": {"maxTrials": 2, "goal": "MINIMIZE", "hyperparameterMetricTag": "rmsee", "params": [
        {"parameterName": "eta", "type": "DOUBLE", "minValue": 0.1, "maxValue": 0.3}]}}, "hyperparameters.hyperparameter_metric_tag", "'rmse'?"),
    ("boosted_trees", TREE_ARGS, {"hyperparameters": {"maxTrials": 2, "goal": "MINIMIZE", "hyperparameterMetricTag": "rmse", "params": [
        {"parameterName": "eta", "type": "DOUBLE", "minValue": 0.1, "maxValue": 3}]}}, "hyperparameters.params[0]", "not '3'"),
])
def test_what_cannot_run_is_refused_at_creation(server, image, args, more, field, text):
    where, why = refused(server, image, args, **more)
    assert where.endswith(field) and text in why, (where, why)


def test_each_trial_has_a_model(server, data, submitted, python):
    params = [{"parameterName": "max_depth", "type": "INTEGER", "minValue": 1, "maxValue": 3},
              {"parameterName": "eta", "type": "DOUBLE", "minValue": 0.05, "maxValue": 0.5}]
    created = server.submit("tuned", masterConfig={"imageUri": f"{IMAGES}boosted_trees:latest"}, jobDir="gs://out/tuned",
                            args=["--preprocess", "--objective=multi:softmax", "--num_class=3", "--training_data_path=gs://data/iris.csv"],
                            hyperparameters={"goal": "MINIMIZE", "hyperparameterMetricTag": "mlogloss", "maxTrials": 3,
                                             "maxParallelTrials": 2, "params": params})
    assert created["trainingOutput"]["isBuiltInAlgorithmJob"] is True, "from the beginning"
    assert created["trainingOutput"]["builtInAlgorithmOutput"] == built_in("boosted_trees")
    job = server.wait("tuned")
    assert job["state"] == "SUCCEEDED", (job, server.texts("tuned")[-40:])
    assert job["trainingOutput"]["builtInAlgorithmOutput"] == built_in("boosted_trees"), "a tuning job has no model of its own"
    trials = job["trainingOutput"]["trials"]
    assert sorted(trial["trialId"] for trial in trials) == ["1", "2", "3"]
    for trial in trials:
        folder = folder_of(server, "tuned") / trial["trialId"]
        assert trial["builtInAlgorithmOutput"]["modelPath"] == f"gs://out/tuned/{trial['trialId']}/model/", trial
        assert labels(folder)["mlogloss"] == pytest.approx(trial["finalMetric"]["objectiveValue"], abs=1e-6)
        assert trial["finalMetric"]["trainingStep"] == "10"
        assert (folder / "processed_data/training.csv").exists() and (folder / "artifacts/metadata.json").exists()
    assert not (folder_of(server, "tuned") / "model").exists()


def test_a_killed_worker_starts_again_and_the_training_goes_on(server, ask, data, submitted):
    rounds = 2000  # one takes a millisecond or two: time to see that it runs, and to kill it
    server.submit("killed", masterConfig={"imageUri": f"{IMAGES}xgboost_dist:latest"}, jobDir="gs://out/killed", **MACHINES,
                  args=["--objective=binary:logistic", f"--num_boost_round={rounds}", "--max_depth=3", "--eta=0.005", "--nthread=1",
                        "--eval_metric=logloss", "--model_saving_period=10", "--eval_log_period=10", "--training_data_path=gs://data/rows-*.csv",
                        "--validation_data_path=gs://data/unseen.csv"])
    wait_for(lambda: any(text.startswith("Step 20, ") for text in server.texts("killed", "master-replica-0")) or None,
             lambda: f"{server.get('killed')} {server.texts('killed')[-40:]}")
    kill(trainer_of("killed", "worker"))
    job = server.wait("killed")
    texts = server.texts("killed")
    assert job["state"] == "SUCCEEDED", (job, texts[-60:])
    gone_on = [text for text in texts if text.startswith("Going on after round ")]
    assert gone_on and 20 <= int(re.findall(r"\d+", gone_on[0])[0]) < rounds, texts[-60:]
    steps = [int(text.split()[1].rstrip(",")) for text in server.texts("killed", "master-replica-0") if text.startswith("Step ")]
    assert steps == list(range(10, rounds + 1, 10)), "each round is reported once"
    found = ask("booster", folder_of(server, "killed"), {**TREES, "eta": 0.005}, rounds, sorted(map(str, data.glob("rows-*.csv"))),
                str(data / "unseen.csv"))
    assert found["rounds"] == rounds and abs(found["accuracy"] - found["accuracy_by_hand"]) < 0.01, found
    assert labels(folder_of(server, "killed"))["logloss"] == pytest.approx(found["loss"], abs=2e-6)


def trainer_of(job_id, task_type):
    """The process of a replica's trainer."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            variables = dict(item.split("=", 1) for item in (entry / "environ").read_text(errors="replace").split("\0") if "=" in item)
        except OSError:
            continue
        if variables.get("CLOUD_ML_JOB_ID") != job_id or b"trainyard_algorithms.xgboost_dist" not in command or b"-m" not in command:
            continue
        if json.loads(variables["TF_CONFIG"])["task"]["type"] == task_type:
            return int(entry.name)
    raise AssertionError(f"no {task_type} of {job_id} runs")


@pytest.mark.parametrize("image, args, why", [
    ("boosted_trees", ["--preprocess", "--objective=binary:logistic", "--training_data_path=gs://data/ragged.csv"], "gs://data/ragged.csv, row 3"),
    ("boosted_trees", ["--objective=reg:linear", "--training_data_path=gs://data/nothing.csv"], "gs://data/nothing.csv: there is no such file."),
    ("linear_learner_cpu", ["--preprocess", "--model_type=regression", "--training_data_path=gs://data/census.csv"], "gs://data/census.csv, row 1"),
    ("image_classification", ["--num_classes=3", "--max_steps=1", "--training_data_path=gs://data/iris.csv",
                              "--validation_data_path=gs://data/iris.csv"], "iris.csv is not a TFRecord file"),
])
def test_bad_data_end_a_job_with_a_line(server, data, submitted, request, image, args, why):
    job_id = re.sub(r"\W", "_", request.node.callspec.id)[-60:]
    server.submit(job_id, masterConfig={"imageUri": IMAGES + image}, jobDir=f"gs://out/{job_id}", args=args)
    job = server.wait(job_id)
    texts = server.texts(job_id, "master-replica-0")
    assert job["state"] == "FAILED" and why in job["errorMessage"], (job["errorMessage"], texts[-40:])
    assert not [text for text in texts if "Traceback" in text], texts
    assert [text for text in texts if why in text], texts
    assert "modelPath" not in job["trainingOutput"]["builtInAlgorithmOutput"]


def test_an_image_of_the_operators_is_run_instead(make_server, registry, images):
    server = make_server(*oci().flags, "--image-map", f"{IMAGES}boosted*={registry.push(images['busybox'])}")
    created = server.submit("mapped", masterConfig={"imageUri": f"{IMAGES}boosted_trees:latest", "containerCommand": ["/bin/echo"],
                                                    "containerArgs": ["--any=argument"]})
    assert "isBuiltInAlgorithmJob" not in created.get("trainingOutput", {})
    job = server.wait("mapped")
    assert job["state"] == "SUCCEEDED" and "--any=argument" in server.texts("mapped"), (job, server.texts("mapped"))
    assert "builtInAlgorithmOutput" not in job["trainingOutput"]
    stop_clean(server)


def test_nothing_here_runs_containers(server):
    assert "containers: none." in server.stderr()
