"""Studies of Vertex AI (Vertex Vizier): the studies of ml v1 in another form, by the SDK's clients over REST and gRPC, unmodified."""

import os
import re
import subprocess
import textwrap

import pytest

from trainyard_server import ROOT

LOCATION = "projects/p/locations/us-central1"
ML = f"/v1/{LOCATION}/studies"
VERTEX = f"/aiplatform/v1/{LOCATION}/studies"
SPEC = {"metrics": [{"metricId": "taste", "goal": "MAXIMIZE"}],
        "parameters": [{"parameterId": "celsius", "doubleValueSpec": {"minValue": 120, "maxValue": 260}},
                       {"parameterId": "eggs", "integerValueSpec": {"minValue": 1, "maxValue": 4}},
                       {"parameterId": "topping", "categoricalValueSpec": {"values": ["none", "fruit"]}}]}


def create(server, name="oven", **spec):
    return server.request("POST", VERTEX, json={"displayName": name, "studySpec": {**SPEC, **spec}})


def post(server, resource, verb, **body):
    return server.request("POST", f"/aiplatform/v1/{resource}:{verb}", json=body)


def listed_errors(answer):
    """The fields of "List of found errors"."""
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["message"].startswith("List of found errors:\t"), error
    return re.findall(r"\d+\.Field: (\S+); ", error["message"])


def test_a_study_is_one_study_in_both_apis(server):
    study = create(server, observationNoise="LOW").json()
    parent, number = study["name"].rsplit("/", 1)
    assert parent == f"{LOCATION}/studies" and len(number) == 19 and study["state"] == "ACTIVE", study
    assert study["studySpec"]["observationNoise"] == "LOW" and study["displayName"] == "oven"
    in_ml = server.request("GET", f"{ML}/oven").json()
    assert in_ml["createTime"] == study["createTime"] and in_ml["studyConfig"]["metrics"] == [{"goal": "MAXIMIZE", "metric": "taste"}]
    operation = post(server, study["name"] + "/trials", "suggest", clientId="me", suggestionCount=1).json()
    assert operation["done"] and operation["name"].startswith(study["name"] + "/operations/"), operation
    trial = operation["response"]["trials"][0]
    assert trial["name"] == study["name"] + "/trials/1" and trial["state"] == "ACTIVE" and trial["clientId"] == "me"
    assert [one["parameterId"] for one in trial["parameters"]] == ["celsius", "eggs", "topping"]
    # ml v1 completes it.
    server.request("POST", f"{ML}/oven/trials/1:complete", json={"finalMeasurement": {"metrics": [{"metric": "taste", "value": 7}]}})
    seen = server.request("GET", f"/aiplatform/v1/{trial['name']}").json()
    assert seen["state"] == "SUCCEEDED" and seen["finalMeasurement"]["metrics"] == [{"metricId": "taste", "value": 7}], seen
    assert server.request("GET", f"/aiplatform/v1/{operation['name']}").json() == operation
    assert server.request("GET", f"/aiplatform/v1/{LOCATION}/operations/{operation['name'].rsplit('/', 1)[1]}").json() == operation
    other = operation["name"].replace(number, str(int(number) + 1))
    assert server.request("GET", f"/aiplatform/v1/{other}").status_code == 404
    assert server.request("DELETE", f"/aiplatform/v1/{study['name']}").json() == {}
    assert server.request("GET", f"{ML}/oven").status_code == 404


def test_a_study_of_ml_v1_has_a_number_that_stays(server):
    server.request("POST", ML + "?studyId=old", json={"studyConfig": {"metrics": [{"metric": "m"}], "parameters": [
        {"parameter": "c", "type": "CATEGORICAL", "categoricalValueSpec": {"values": ["a", "b"]}, "childParameterSpecs": [
            {"parameter": "x", "type": "INTEGER", "integerValueSpec": {"minValue": 1, "maxValue": 3},
             "parentCategoricalValues": {"values": ["b"]}}]}]}})
    create(server, "new")
    listed = server.request("GET", VERTEX).json()["studies"]
    assert [one["displayName"] for one in listed] == ["new", "old"]
    first = server.request("GET", VERTEX + "?pageSize=1").json()
    rest = server.request("GET", VERTEX, params={"pageSize": 1, "pageToken": first["nextPageToken"]}).json()
    assert first["studies"] + rest["studies"] == listed and "nextPageToken" not in rest
    spec = listed[1]["studySpec"]
    assert spec["metrics"] == [{"metricId": "m", "goal": "MAXIMIZE"}]
    assert spec["parameters"][0]["conditionalParameterSpecs"] == [
        {"parameterSpec": {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "3"}},
         "parentCategoricalValues": {"values": ["b"]}}]
    found = server.request("POST", VERTEX + ":lookup", json={"displayName": "old"}).json()
    assert found == listed[1] == server.request("GET", f"/aiplatform/v1beta1/{found['name']}").json()


def test_a_display_name_is_any_text_and_unique(server):
    study = create(server, "my study: 2nd / über").json()
    assert server.request("POST", VERTEX + ":lookup", json={"displayName": "my study: 2nd / über"}).json() == study
    assert create(server, "my study: 2nd / über").status_code == 409
    assert create(server, "my study: 3rd").ok
    absent = server.request("POST", VERTEX + ":lookup", json={"displayName": "other"})
    assert absent.status_code == 404 and "other" in absent.json()["error"]["message"]


def test_what_is_wrong_is_said_by_name(server):
    answer = server.request("POST", VERTEX, json={"studySpec": {
        "metrics": [{"metricId": "m", "goal": "MAXIMIZE", "safetyConfig": {}}], "convexAutomatedStoppingSpec": {},
        "parameters": [{"parameterId": "x"}]}})
    assert listed_errors(answer) == ["display_name", "study_spec.metrics[0].safety_config", "study_spec.parameters[0]",
                                     "study_spec.convex_automated_stopping_spec"]
    empty = {"parameterId": "x", "doubleValueSpec": {"minValue": 2, "maxValue": 1}}
    assert listed_errors(create(server, parameters=[empty])) == ["study_spec.parameters[0].double_value_spec.min_value"]
    study = create(server).json()["name"]
    trials = f"/aiplatform/v1/{study}/trials"
    assert listed_errors(server.request("POST", trials, json={"parameters": [
        {"parameterId": "celsius", "value": "hot"}, {"parameterId": "eggs", "value": 1.5}]})) == ["parameters[0].value", "parameters[1].value"]
    assert listed_errors(server.request("POST", trials, json={"parameters": [{"parameterId": "celsius", "value": 10}]})) == [
        "parameters[0].value"]
    assert listed_errors(post(server, study + "/trials", "suggest", clientId="me", suggestionCount=0)) == ["suggestion_count"]
    assert listed_errors(post(server, study + "/trials", "suggest", clientId="me", suggestionCount=1, contexts=[{}])) == ["contexts"]
    trial = post(server, study + "/trials", "suggest", clientId="me", suggestionCount=1).json()["response"]["trials"][0]["name"]
    assert listed_errors(post(server, trial, "addTrialMeasurement", measurement={"metrics": [{"value": 1}]})) == [
        "measurement.metrics[0].metric_id"]
    refused = post(server, trial, "complete")
    assert refused.status_code == 400 and "no measurement" in refused.json()["error"]["message"]
    assert post(server, study + "/trials/9", "stop").status_code == 404


def test_the_end_of_a_search(server):
    study = create(server, algorithm="GRID_SEARCH", parameters=[{"parameterId": "n", "integerValueSpec": {"minValue": 1, "maxValue": 2}}]).json()
    answer = post(server, study["name"] + "/trials", "suggest", clientId="a", suggestionCount=5).json()
    assert len(answer["response"]["trials"]) == 2 and answer["response"]["studyState"] == "COMPLETED", answer
    refused = post(server, study["name"] + "/trials", "suggest", clientId="b", suggestionCount=1)
    assert refused.status_code == 429, refused.text


PYTHON = ROOT / "build/venv-vertex/bin/python"
SDK = """
import sys
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform
transport, endpoint = sys.argv[1:]
aiplatform.init(project="p", location="us-central1", credentials=AnonymousCredentials(), api_endpoint=endpoint, api_transport=transport)
"""
GAPIC = SDK + """
client = aiplatform.gapic.VizierServiceClient(credentials=AnonymousCredentials(), transport=transport,
                                              client_options=ClientOptions(api_endpoint=endpoint))
parent = "projects/p/locations/us-central1"
study = client.create_study(parent=parent, study={"display_name": "bread", "study_spec": {
    "metrics": [{"metric_id": "taste", "goal": "MAXIMIZE"}], "median_automated_stopping_spec": {"use_elapsed_duration": False},
    "parameters": [{"parameter_id": "x", "double_value_spec": {"min_value": 0, "max_value": 1}}]}})
assert client.lookup_study({"parent": parent, "display_name": "bread"}) == client.get_study(name=study.name) == study
assert [one.name for one in client.list_studies(parent=parent)] == [study.name]
try:
    client.create_study(parent=parent, study=study)
    raise AssertionError("it is there twice")
except exceptions.Conflict:  # AlreadyExists, over gRPC
    pass
for value in 1, 2:
    given = client.suggest_trials({"parent": study.name, "suggestion_count": 1, "client_id": "me"}).result(timeout=60)
    trial, = given.trials
    assert given.study_state.name == "ACTIVE" and 0 <= trial.parameters[0].value <= 1, given
    measurement = {"step_count": 1, "metrics": [{"metric_id": "taste", "value": value}]}
    assert client.add_trial_measurement({"trial_name": trial.name, "measurement": measurement}).measurements[0].step_count == 1
    assert client.check_trial_early_stopping_state({"trial_name": trial.name}).result(timeout=60).should_stop is False
    assert client.complete_trial({"name": trial.name}).state.name == "SUCCEEDED"
mine = client.create_trial(parent=study.name, trial={"parameters": [{"parameter_id": "x", "value": 0.25}]})
assert client.stop_trial({"name": mine.name}).state.name == "STOPPING"
asked = client.complete_trial({"name": mine.name, "trial_infeasible": True, "infeasible_reason": "burnt"})
assert (asked.state.name, asked.infeasible_reason) == ("INFEASIBLE", "burnt")
states = [one.state.name for one in client.list_trials(parent=study.name)]
best, = client.list_optimal_trials({"parent": study.name}).optimal_trials
client.delete_trial(name=mine.name)
try:
    client.get_trial(name=mine.name)
    raise AssertionError("it is still there")
except exceptions.NotFound as error:
    assert "trial" in error.message, error
client.delete_study(name=study.name)
assert not list(client.list_studies(parent=parent))
print(states, best.id, best.final_measurement.metrics[0].value)
"""
VIZIER = SDK + """
from google.cloud.aiplatform import vizier
from google.cloud.aiplatform.vizier import pyvizier
problem = pyvizier.StudyConfig()
problem.algorithm = pyvizier.Algorithm.RANDOM_SEARCH
problem.metric_information.append(pyvizier.MetricInformation(name="taste", goal=pyvizier.ObjectiveMetricGoal.MAXIMIZE))
root = problem.search_space.select_root()
root.add_float_param("x", 0.0, 1.0, scale_type=pyvizier.ScaleType.LINEAR)
root.add_int_param("n", 1, 4)
root.add_discrete_param("d", [16, 32])
root.add_categorical_param("c", ["a", "b"])
study = vizier.Study.create_or_load(display_name="bread", problem=problem)
if transport == "grpc":  # over REST the SDK does not know 409 as AlreadyExists, and does not load it
    assert vizier.Study.create_or_load(display_name="bread", problem=problem).name == study.name
assert vizier.Study.from_uid(study.name).resource_name == study.resource_name
for trial in study.suggest(count=2, worker="me"):
    assert set(trial.parameters) == {"x", "n", "d", "c"}, trial.parameters
    trial.add_measurement(pyvizier.Measurement(metrics={"taste": trial.uid}, steps=1, elapsed_secs=1))
    assert not trial.should_stop()
    trial.complete()
    assert trial.status == pyvizier.TrialStatus.COMPLETED
one, = study.optimal_trials()
done = len(study.trials()), one.uid, one.materialize().final_measurement.metrics["taste"].value
study.delete()
print(*done)
"""


@pytest.fixture
def sdk(server, tmp_path):
    """Runs a program with the SDK over REST or gRPC and returns its last line."""
    if not PYTHON.exists():
        pytest.skip("no build/venv-vertex: ./dev test installs it")

    def run(program, transport):
        endpoint = server.url + "/aiplatform" if transport == "rest" else server.presence["tls_url"].removeprefix("https://")
        done = subprocess.run([PYTHON, "-c", program, transport, endpoint], capture_output=True, text=True, timeout=180, cwd=tmp_path,
                              env={**os.environ, **server.client_environment()})
        assert done.returncode == 0, done.stderr[-5000:]
        return done.stdout.splitlines()[-1]
    return run


@pytest.mark.parametrize("transport", ["rest", pytest.param("grpc", marks=pytest.mark.long)])
def test_the_client_of_the_service(sdk, transport):
    assert sdk(GAPIC, transport) == "['SUCCEEDED', 'SUCCEEDED', 'INFEASIBLE'] 2 2.0"


@pytest.mark.parametrize("transport", [pytest.param("rest", marks=pytest.mark.long), "grpc"])
def test_the_studies_of_the_sdk(sdk, transport):
    assert sdk(VIZIER, transport) == "2 2 2.0"


def test_the_example_of_the_docs(server, sdk):
    section = (ROOT / "docs/studies.md").read_text().split("## By the API of Vertex AI")[1].split("\n## ")[0]
    example = textwrap.dedent("\n".join(line for line in section.splitlines() if line.startswith("    ") or not line))
    assert sdk(example.replace("http://localhost:8470", server.url), "rest") == "1 celsius SUCCEEDED"
