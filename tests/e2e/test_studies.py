"""The Optimizer's API: studies and trials with google-api-python-client as the original's notebooks use it, and with the client of
tensorflow_cloud's tuner, unmodified."""

import json
import subprocess
import sys
import textwrap
import threading

import pytest
from google.auth.credentials import AnonymousCredentials
from googleapiclient import discovery
from googleapiclient.errors import HttpError

from test_golden_errors import expect
from trainyard_server import DEADLINE_S, wait_for

PARENT = "projects/p/locations/us-central1"
STUDY = f"{PARENT}/studies/s"
X = {"parameter": "x", "type": "DOUBLE", "double_value_spec": {"min_value": 0.0, "max_value": 10.0}}
Y = {"parameter": "y", "type": "DOUBLE", "double_value_spec": {"min_value": 0.0, "max_value": 10.0}}


@pytest.fixture
def ml(server):
    """google-api-python-client, as a user builds it."""
    return discovery.build("ml", "v1", client_options={"api_endpoint": server.url}, credentials=AnonymousCredentials())


class Optimizer:
    """What the notebooks call, with their words."""

    def __init__(self, ml):
        locations = ml.projects().locations()
        self.studies, self.trials, self.operations = locations.studies(), locations.studies().trials(), locations.operations()

    def create(self, parameters, study_id="s", metrics=("y:MAXIMIZE",), **config):
        metrics = [{"metric": metric, "goal": goal} for metric, goal in (text.split(":") for text in metrics)]
        body = {"study_config": {"parameters": parameters, "metrics": metrics, **config}}
        return self.studies.create(parent=PARENT, studyId=study_id, body=body).execute()

    def wait(self, operation):
        assert not operation.get("done")  # answered at once; to ask for it then waits a little
        name = f"{PARENT}/operations/{operation['name'].split('/')[-1]}"
        get = self.operations.get(name=name)
        return wait_for(lambda: (lambda found: found if found.get("done") else None)(get.execute()), lambda: f"{name}: {get.execute()}")

    def suggest(self, client="client1", count=1, study=STUDY):
        body = {"client_id": client, "suggestion_count": count}
        return self.wait(self.trials.suggest(parent=study, body=body).execute())["response"]

    def measure(self, trial, step=1, **metrics):
        measurement = {"step_count": step, "metrics": [{"metric": metric, "value": value} for metric, value in metrics.items()]}
        return self.trials.addMeasurement(name=trial["name"], body={"measurement": measurement}).execute()

    def should_stop(self, trial):
        operation = self.wait(self.trials.checkEarlyStoppingState(name=trial["name"]).execute())
        return operation["response"].get("shouldStop", False)


@pytest.fixture
def optimizer(ml):
    return Optimizer(ml)


def values_of(trial):
    def value(parameter):
        if "floatValue" in parameter:
            return parameter["floatValue"]
        return int(parameter["intValue"]) if "intValue" in parameter else parameter["stringValue"]
    return {parameter["parameter"]: value(parameter) for parameter in trial["parameters"]}


# The notebooks

def test_the_notebook_of_conditional_parameters(optimizer):
    """ai_platform_vizier_conditional_parameters: the loop, and what it reads of the answers."""
    rate = {"type": "DOUBLE", "double_value_spec": {"min_value": 0.0001, "max_value": 1.0}, "scale_type": "UNIT_LOG_SCALE"}
    linear = {**rate, "parameter": "linear_rate", "parent_categorical_values": {"values": ["LINEAR", "WIDE_AND_DEEP"]}}
    deep = {**rate, "parameter": "dnn_rate", "parent_categorical_values": {"values": ["WIDE_AND_DEEP"]}}
    model = {"parameter": "model_type", "type": "CATEGORICAL", "categorical_value_spec": {"values": ["LINEAR", "WIDE_AND_DEEP"]},
             "child_parameter_specs": [linear, deep]}
    created = optimizer.create([model], metrics=("accuracy:MAXIMIZE",))
    assert created["name"] == STUDY and created["state"] == "ACTIVE" and "createTime" in created
    assert created["studyConfig"]["parameters"][0]["childParameterSpecs"][1]["parentCategoricalValues"]["values"] == ["WIDE_AND_DEEP"]
    trial_id, seen = 0, set()
    while trial_id < 10:
        for suggested in optimizer.suggest(count=5)["trials"]:
            trial_id = int(suggested["name"].split("/")[-1])
            trial = optimizer.trials.get(name=f"{STUDY}/trials/{trial_id}").execute()
            if trial["state"] in ["COMPLETED", "INFEASIBLE"]:
                continue
            values = values_of(trial)
            assert ("dnn_rate" in values) == (values["model_type"] == "WIDE_AND_DEEP") and "linear_rate" in values
            assert all(0.0001 <= value <= 1 for name, value in values.items() if name.endswith("_rate"))
            seen.add(values["model_type"])
            optimizer.measure(trial, accuracy=1 - values["linear_rate"])
            done = optimizer.trials.complete(name=trial["name"]).execute()
            assert done["state"] == "COMPLETED" and done["finalMeasurement"]["stepCount"] == "1" and "endTime" in done
    assert seen == {"LINEAR", "WIDE_AND_DEEP"}
    trials = optimizer.trials.list(parent=STUDY).execute()["trials"]
    assert [trial["name"].split("/")[-1] for trial in trials] == [str(number) for number in range(1, len(trials) + 1)]
    best = optimizer.trials.listOptimalTrials(parent=STUDY, body={}).execute()["trials"]
    assert [trial["name"] for trial in best] == [
        max(trials, key=lambda trial: trial["finalMeasurement"]["metrics"][0]["value"])["name"]]


def test_the_notebook_of_several_metrics(optimizer):
    """ai_platform_vizier_multi_objective: two metrics, and what no trial is better than."""
    optimizer.create([X, Y], metrics=("y1:MINIMIZE", "y2:MAXIMIZE"), algorithm="ALGORITHM_UNSPECIFIED")
    for _ in range(4):
        for trial in optimizer.suggest(count=3)["trials"]:
            values = values_of(trial)
            optimizer.measure(trial, y1=values["x"], y2=values["x"] + values["y"])
            optimizer.trials.complete(name=trial["name"], body={}).execute()
    trials = optimizer.trials.list(parent=STUDY).execute()["trials"]
    points = {}
    for trial in trials:
        one, other = (metric["value"] for metric in trial["finalMeasurement"]["metrics"])
        points[trial["name"]] = (one, other)
    front = {name for name, (y1, y2) in points.items()
             if not any(a <= y1 and b >= y2 and (a, b) != (y1, y2) for a, b in points.values())}
    best = optimizer.trials.listOptimalTrials(parent=STUDY, body={}).execute()["trials"]
    assert {trial["name"] for trial in best} == front and len(front) > 1


def test_what_it_learns_pays(optimizer):
    """The end of 25 trials is nearer to the optimum than their beginning: a study is not a random search."""
    optimizer.create([X, Y], metrics=("loss:MINIMIZE",))
    losses = []
    for _ in range(25):
        trial = optimizer.suggest()["trials"][0]
        values = values_of(trial)
        losses.append((values["x"] - 3) ** 2 + (values["y"] - 7) ** 2)
        final = {"metrics": [{"metric": "loss", "value": losses[-1]}]}
        optimizer.trials.complete(name=trial["name"], body={"final_measurement": final}).execute()
    assert min(losses) < 0.5 and min(losses[10:]) < min(losses[:5]), losses


# Trials

def test_clients_share_a_study(optimizer):
    optimizer.create([X])
    first, other = optimizer.suggest("a")["trials"][0], optimizer.suggest("b")["trials"][0]
    assert first["name"] != other["name"] and first["clientId"] == "a"
    assert optimizer.suggest("a")["trials"][0]["name"] == first["name"]
    infeasible = optimizer.trials.complete(name=first["name"], body={"trial_infeasible": True, "infeasible_reason": "diverged"}).execute()
    assert infeasible["trialInfeasible"] and infeasible["infeasibleReason"] == "diverged" and infeasible["state"] == "COMPLETED"
    assert optimizer.suggest("a")["trials"][0]["name"] not in (first["name"], other["name"])


def test_a_users_own_trials(optimizer):
    optimizer.create([X])
    known = {"parameters": [{"parameter": "x", "floatValue": 4}], "finalMeasurement": {"metrics": [{"metric": "y", "value": 0}]}}
    result = optimizer.trials.create(parent=STUDY, body=known).execute()
    assert result["state"] == "COMPLETED" and result["finalMeasurement"]["metrics"] == [{"metric": "y", "value": 0}]
    wanted = optimizer.trials.create(parent=STUDY, body={"parameters": [{"parameter": "x", "floatValue": 0}]}).execute()
    assert wanted["state"] == "REQUESTED"
    assert optimizer.suggest()["trials"][0]["name"] == wanted["name"]
    assert values_of(wanted) == {"x": 0}
    assert optimizer.trials.delete(name=result["name"]).execute() == {}
    assert [trial["name"] for trial in optimizer.trials.list(parent=STUDY).execute()["trials"]] == [wanted["name"]]


def test_the_search_ends_with_the_space(optimizer):
    sizes = {"parameter": "n", "type": "DISCRETE", "discrete_value_spec": {"values": [0, 1.5, 40]}}
    optimizer.create([sizes], algorithm="GRID_SEARCH")
    response = optimizer.suggest(count=10)
    assert response["studyState"] == "COMPLETED"
    assert sorted(values_of(trial)["n"] for trial in response["trials"]) == [0, 1.5, 40]
    with pytest.raises(HttpError) as ended:
        optimizer.suggest("another")
    assert ended.value.resp.status == 429  # tensorflow_cloud's tuner takes it for the end


def test_early_stopping(optimizer):
    optimizer.create([X], automated_stopping_config={"median_automated_stopping_config": {}})
    for _ in range(6):
        trial = optimizer.suggest()["trials"][0]
        for step in range(1, 6):
            optimizer.measure(trial, step=step, y=0.8 + step / 100)
        assert not optimizer.should_stop(trial)
        optimizer.trials.complete(name=trial["name"], body={}).execute()
    hopeless = optimizer.suggest()["trials"][0]
    for step in range(1, 5):
        optimizer.measure(hopeless, step=step, y=0.01)
    assert optimizer.should_stop(hopeless)
    assert optimizer.trials.get(name=hopeless["name"]).execute()["state"] == "STOPPING"
    assert optimizer.trials.stop(name=hopeless["name"]).execute()["state"] == "STOPPING"
    assert optimizer.trials.complete(name=hopeless["name"], body={}).execute()["finalMeasurement"]["metrics"][0]["value"] == 0.01


# Nothing is lost

def test_a_server_that_is_killed(optimizer, server):
    """Many clients ask while the server is killed, again and again: what it answered is there, and each trial is one client's."""
    optimizer.create([X])
    stop = threading.Event()
    answered, problems = [], []

    def ask(client):
        number = 0
        while not stop.is_set():
            number += 1
            try:
                response = server.request("POST", f"/v1/{STUDY}/trials:suggest",
                                          json={"clientId": f"{client}-{number}", "suggestionCount": 1})
                if response.ok:
                    answered.append(response.json()["name"])
                else:
                    problems.append(response.text)
            except OSError:
                pass  # killed: nothing was promised

    clients = [threading.Thread(target=ask, args=(name,)) for name in "abc"]
    for client in clients:
        client.start()
    for _ in range(3):
        wanted = len(answered) + 10
        wait_for(lambda: len(answered) >= wanted or problems or None, lambda: f"{answered} {problems}")
        server.kill()
        server.start()
    stop.set()
    for client in clients:
        client.join(DEADLINE_S)
    assert not problems
    given = []
    for name in answered:
        done = wait_for(lambda: (lambda found: found if found.get("done") else None)(server.request("GET", f"/v1/{name}").json()),
                        lambda: server.request("GET", f"/v1/{name}").text)
        trials = done["response"]["trials"]
        assert [trial["clientId"] for trial in trials] == [done["metadata"]["clientId"]]
        given += [trial["name"] for trial in trials]
    listed = [trial["name"] for trial in server.request("GET", f"/v1/{STUDY}/trials").json()["trials"]]
    assert len(set(given)) == len(given) and set(given) <= set(listed)
    # At most one operation of each client and kill was on disk and not answered.
    assert len(listed) <= len(given) + 3 * len(clients)


# Errors

def error_of(request):
    with pytest.raises(HttpError) as error:
        request.execute()
    return error.value.resp.status, error.value.reason


def test_errors(optimizer):
    optimizer.create([X])
    trials = optimizer.trials
    for request in [optimizer.studies.get(name=f"{PARENT}/studies/none"), optimizer.studies.delete(name=f"{PARENT}/studies/none"),
                    trials.list(parent=f"{PARENT}/studies/none"), trials.get(name=f"{STUDY}/trials/1"),
                    trials.get(name=f"{STUDY}/trials/01"), trials.get(name=f"{STUDY}/trials/99999999999999999999"),
                    trials.stop(name=f"{STUDY}/trials/x"), optimizer.operations.get(name=f"{PARENT}/operations/77"),
                    optimizer.studies.list(parent="projects/p/locations/mars")]:
        assert error_of(request)[0] == 404
    assert error_of(optimizer.studies.create(parent=PARENT, body={"studyConfig": {}}))[0] == 400
    trial = optimizer.suggest()["trials"][0]
    status, reason = error_of(trials.complete(name=trial["name"], body={}))
    assert status == 400 and "The trial has no measurement that could become its final one" in reason
    status, reason = error_of(trials.suggest(parent=STUDY, body={"clientId": "a", "suggestion_count": 0}))
    assert status == 400 and "suggestion_count" in reason


WRONG_STUDIES = {
    "study_unknown_field": {"studyConfig": {"parameters": [X], "metrics": [{"metric": "y"}], "maxTrialCount": 3}},
    "study_two_ranges": {"studyConfig": {"metrics": [{"metric": "y"}], "parameters": [
        {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}, "integerValueSpec": {"maxValue": "1"}}]}},
    "study_child_without_values": {"studyConfig": {"metrics": [{"metric": "y"}], "parameters": [
        {"parameter": "model", "type": "CATEGORICAL", "categoricalValueSpec": {"values": ["a", "b"]}, "childParameterSpecs": [X]}]}},
    "study_grid_of_doubles": {"studyConfig": {"algorithm": "GRID_SEARCH", "metrics": [{"metric": "y"}], "parameters": [X]}},
}


@pytest.mark.parametrize("name", WRONG_STUDIES)
def test_word_for_word(server, name):
    expect(name, server.request("POST", f"/v1/{PARENT}/studies", params={"studyId": "s"}, json=WRONG_STUDIES[name]))


# tensorflow_cloud

@pytest.fixture(scope="session")
def tensorflow_cloud(tmp_path_factory):
    """The package as it is in the index, without the packages that only its other parts need."""
    folder = tmp_path_factory.mktemp("tensorflow_cloud")
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target",
                           str(folder), "tensorflow-cloud==0.1.16", "absl-py==2.3.1"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("tensorflow-cloud cannot be had: " + done.stderr.strip().splitlines()[-1])
    # Of TensorFlow the client uses the logger. The package's own __init__ imports all of TensorFlow and Keras.
    (folder / "tensorflow.py").write_text("import logging\nget_logger = lambda: logging.getLogger('tensorflow')\n")
    (folder / "tensorflow_cloud/__init__.py").write_text("")
    return folder


WITH_VIZIER_CLIENT = """
    import json, sys
    from tensorflow_cloud.tuner import constants, vizier_client
    # Its copy of the API's description names the original's address.
    constants.OPTIMIZER_API_DOCUMENT_FILE = sys.argv[1]
    config = json.loads(sys.argv[2])
    client = vizier_client.create_or_load_study("p", "us-central1", "CloudTuner_study_1", config)
    again = vizier_client.create_or_load_study("p", "us-central1", "CloudTuner_study_1", config)
    stopped = 0
    for number in range(8):
        trial = client.get_suggestions("tuner0")[0]
        trial_id = trial["name"].split("/")[-1]
        assert again.get_suggestions("tuner0")[0]["name"] == trial["name"]
        good = number < 6
        for epoch in range(1, 6):
            value = 0.5 + epoch / 50 if good else 0.001
            client.report_intermediate_objective_value(epoch, 2.5 * epoch, [{"metric": "val_accuracy", "value": value}], trial_id)
            if client.should_trial_stop(trial_id):
                stopped += 1
                break
        if number == 5:
            infeasible = client.complete_trial(trial_id, True, "INVALID")
            assert infeasible["trialInfeasible"], infeasible
        else:
            done = client.complete_trial(trial_id, False)
            assert int(done["finalMeasurement"].get("stepCount", 0)) == epoch, done
            assert done["finalMeasurement"]["metrics"][0].get("value") == value
            assert done["finalMeasurement"]["elapsedTime"] == f"{int(2.5 * epoch)}s", done
    trials = client.list_trials()
    assert len(trials) == 8 and client.get_trial("3")["state"] == "COMPLETED"
    assert [study["name"].split("/")[-1] for study in client.list_studies()] == ["CloudTuner_study_1"]
    client.delete_study()
    try:
        client.delete_study()
    except ValueError as error:
        assert "Study not found" in str(error)
    print("STOPPED", stopped)
"""


@pytest.mark.parametrize("rule", ["decayCurveStoppingConfig", "medianAutomatedStoppingConfig"])
def test_tensorflow_clouds_client(server, tensorflow_cloud, tmp_path, rule):
    document = tmp_path / "ml.json"
    document.write_text(server.request("GET", "/discovery/v1/apis/ml/v1/rest").text)
    # As make_study_config of its tuner/utils.py makes them.
    config = {"algorithm": "ALGORITHM_UNSPECIFIED", "automatedStoppingConfig": {rule: {"useElapsedTime": True}},
              "metrics": [{"metric": "val_accuracy", "goal": "MAXIMIZE"}],
              "parameters": [{"parameter": "units", "type": "DISCRETE", "discrete_value_spec": {"values": [16, 32, 64]}},
                             {"parameter": "learning_rate", "type": "DOUBLE", "scale_type": "UNIT_LOG_SCALE",
                              "double_value_spec": {"min_value": 1e-4, "max_value": 1e-1}},
                             {"parameter": "augment", "type": "CATEGORICAL", "categorical_value_spec": {"values": ["True", "False"]}}]}
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(WITH_VIZIER_CLIENT), str(document), json.dumps(config)],
                         env={**server.client_environment(), "PYTHONPATH": str(tensorflow_cloud)}, capture_output=True, text=True,
                         timeout=DEADLINE_S)
    assert run.returncode == 0, run.stdout + run.stderr + server.stderr()
    if rule.startswith("median"):
        assert "STOPPED 2" in run.stdout
