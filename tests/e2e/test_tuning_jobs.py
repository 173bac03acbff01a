"""Hyperparameter tuning with real programs: trials, their results, and what can go wrong with them."""

import csv
import io
import json
import os
import re
import subprocess
import time

from trainyard_server import kill, processes_with, wait_for

X = {"parameterName": "x", "type": "DOUBLE", "maxValue": 1}


def tune(server, upload, job_id, args=(), spec=None, **training_input):
    """Submits a tuning job of the `tuned` trainer: its metric is its parameter x."""
    hyperparameters = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 3, "maxParallelTrials": 2,
                       "params": [X], **(spec or {})}
    return server.submit(job_id, packageUris=[upload(server, "tuned")], pythonModule="tuned.task", args=list(args),
                         hyperparameters=hyperparameters, **training_input)


def trials_of(job):
    return job["trainingOutput"]["trials"]


def status_of(server, job_id):
    return server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}").json()


def test_all_types_of_parameters(server, upload):
    params = [{**X, "scaleType": "UNIT_LINEAR_SCALE"}, {"parameterName": "units", "type": "INTEGER", "minValue": 1, "maxValue": 64},
              {"parameterName": "batch", "type": "DISCRETE", "discreteValues": [16, 32, 64]},
              {"parameterName": "kind", "type": "CATEGORICAL", "categoricalValues": ["-adam", "sgd"]}]
    created = tune(server, upload, "types", ["--steps=2"], {"params": params, "maxTrials": 4}, jobDir="gs://models/types")
    assert created["trainingOutput"]["isHyperparameterTuningJob"] is True
    job = server.wait("types")
    assert job["state"] == "SUCCEEDED", (job, server.texts("types"))
    output = job["trainingOutput"]
    assert output["completedTrialCount"] == "4"
    assert output["hyperparameterMetricTag"] == "score"
    values = [trial["finalMetric"]["objectiveValue"] for trial in trials_of(job)]
    assert values == sorted(values, reverse=True)
    assert sorted(trial["trialId"] for trial in trials_of(job)) == ["1", "2", "3", "4"]
    said = {}
    for entry in server.log_entries("types", ' AND resource.labels.task_name="master-replica-0"'):
        match = re.fullmatch(r"trial (\d) (?:master|chief) (\S+) (\d+) (\d+) (\S+)", entry["jsonPayload"]["message"])
        if match:
            assert entry["labels"]["ml.googleapis.com/trial_id"] == match[1]
            said[match[1]] = match.groups()[1:]
    for trial in trials_of(job):
        given = trial["hyperparameters"]
        assert trial["finalMetric"] == {"trainingStep": "2", "objectiveValue": float(given["x"])}, trial
        assert (float(given["x"]), given["units"], given["batch"], given["kind"]) == \
            (float(said[trial["trialId"]][0]), *said[trial["trialId"]][1:])
        assert given["batch"] in ("16", "32", "64"), "a whole number has no point"
        assert trial["startTime"] <= trial["endTime"]
        assert trial["state"] == "SUCCEEDED"
    texts = server.texts("types", "service")
    # Two run at once, and either may be the first to end.
    assert any(re.match("Trial [12] is the best so far: score ", text) for text in texts), texts
    assert texts.count("Job is running.") == 1
    command = next(text for text in server.texts("types") if text.startswith("Running command: python3 -m tuned.task"))
    assert re.search(r"--steps=2 --x=\S+ --units=\d+ --batch=\d+ --kind=\S+ --job-dir gs://models/types/\d", command), command


def test_what_trials_do_wrong(server, upload):
    tune(server, upload, "wrong", ["--fail=2", "--silent=3", "--nan=4"], {"maxTrials": 5, "maxFailedTrials": 3})
    job = server.wait("wrong")
    assert job["state"] == "SUCCEEDED", (job, server.texts("wrong"))
    by_id = {trial["trialId"]: trial for trial in trials_of(job)}
    assert {k: t["state"] for k, t in by_id.items()} == {"1": "SUCCEEDED", "2": "FAILED", "3": "SUCCEEDED", "4": "SUCCEEDED", "5": "SUCCEEDED"}
    assert {k for k, t in by_id.items() if "finalMetric" in t} == {"1", "5"}
    assert [t["trialId"] for t in trials_of(job)][2:] == ["2", "3", "4"]
    assert job["trainingOutput"]["completedTrialCount"] == "4"
    reasons = {trial["output"]["trialId"]: trial.get("reason", "") for trial in status_of(server, "wrong")["trials"]}
    assert "trial 2 burst" in reasons["2"]
    assert "'score'" in reasons["3"] and "another" in reasons["3"], "which tag was looked for, and which was there"
    assert "score" in reasons["4"]
    assert reasons["3"] in server.texts("wrong", "service")


def test_a_failing_program_fails_the_job(server, upload):
    tune(server, upload, "fails", ["--fail=1,2"], {"maxTrials": 9, "maxParallelTrials": 1})
    job = server.wait("fails")
    assert job["state"] == "FAILED"
    assert job["errorMessage"].startswith(
        "Hyperparameter Tuning Trial #1 Failed before any other successful trials were completed. The failed trial had parameters: x=")
    assert "ValueError: trial 1 burst" in job["errorMessage"]
    assert len(trials_of(job)) == 1


def test_cancel_reaches_every_trial(server, upload, shared_folder):
    tune(server, upload, "cancelled", ["--wait-for", str(shared_folder / "never")], {"maxTrials": 9, "maxParallelTrials": 3})
    server.wait("cancelled", lambda job: [t["state"] for t in job["trainingOutput"].get("trials", [])] == ["RUNNING"] * 3)
    status = status_of(server, "cancelled")
    assert [trial["replicas"][0]["phase"] for trial in status["trials"]] == ["RUNNING"] * 3
    server.cancel("cancelled")
    job = server.wait("cancelled")
    assert job["state"] == "CANCELLED"
    assert {trial["state"] for trial in trials_of(job)} == {"CANCELLED"}
    assert len(trials_of(job)) == 3


def test_server_death_loses_no_trial_and_repeats_none(server, upload, shared_folder):
    gate = shared_folder / "gate"
    tune(server, upload, "survivor", ["--wait-for", str(gate)], {"maxTrials": 6, "maxParallelTrials": 2})
    server.wait("survivor", lambda job: [t["state"] for t in job["trainingOutput"].get("trials", [])] == ["RUNNING"] * 2)
    server.kill()
    gate.write_text("go")
    server.start()
    for _ in range(3):
        done = len([t for t in trials_of(server.get("survivor")) if t["state"] == "SUCCEEDED"])
        server.wait("survivor", lambda job: "endTime" in job or
                    len([t for t in trials_of(job) if t["state"] == "SUCCEEDED"]) > done)
        server.kill()
        server.start()
    job = server.wait("survivor")
    assert job["state"] == "SUCCEEDED", job
    assert sorted(trial["trialId"] for trial in trials_of(job)) == list("123456")
    assert all("finalMetric" in trial for trial in trials_of(job)), job
    starts = [text for text in server.texts("survivor", "master-replica-0") if text.startswith("trial ")]
    assert sorted(text.split()[1] for text in starts) == list("123456"), starts


def test_grid_and_resume(server, upload):
    spec = {"algorithm": "GRID_SEARCH", "maxTrials": 2, "params": [{"parameterName": "units", "type": "INTEGER", "minValue": 1, "maxValue": 3}]}
    tune(server, upload, "first", [], spec)
    refused = server.create("second", packageUris=["gs://packages/tuned.tar.gz"], pythonModule="tuned.task",
                            hyperparameters={**spec, "hyperparameterMetricTag": "other", "resumePreviousJobId": "nobody"})
    assert refused.status_code == 400 and "nobody" in refused.text, refused.text
    assert server.wait("first")["state"] == "SUCCEEDED"
    server.submit("second", packageUris=["gs://packages/tuned.tar.gz"], pythonModule="tuned.task",
                  hyperparameters={"maxTrials": 20, "resumePreviousJobId": "first"})
    job = server.wait("second")
    assert job["state"] == "SUCCEEDED", job
    shown = job["trainingInput"]["hyperparameters"]
    former = server.get("first")["trainingInput"]["hyperparameters"]
    former.pop("maxParallelTrials")
    assert shown == {**former, "maxTrials": 20, "resumePreviousJobId": "first"}
    assert any(text.startswith("Taken from the job first (resumePreviousJobId): params, goal") for text in server.texts("second"))
    assert job["trainingOutput"]["consumedMLUnits"] >= 0.01
    assert {trial["hyperparameters"]["units"] for trial in trials_of(job)} <= {"1", "2", "3"}
    assert len(trials_of(job)) <= 3


def test_early_stopping_gives_time_to_save(server, upload):
    tune(server, upload, "early", ["--bad=6", "--steps=5"], {"maxTrials": 6, "maxParallelTrials": 1, "enableTrialEarlyStopping": True})
    job = server.wait("early")
    assert job["state"] == "SUCCEEDED", (job, server.texts("early"))
    stopped = [trial for trial in trials_of(job) if trial.get("isTrialStoppedEarly")]
    assert [trial["trialId"] for trial in stopped] == ["6"]
    assert stopped[0]["state"] == "SUCCEEDED" and stopped[0]["finalMetric"]["objectiveValue"] < 0
    assert trials_of(job)[-1]["trialId"] == "6"
    texts = server.texts("early")
    assert "saved" in texts
    assert any(text.startswith("Trial 6 is stopped early. ") for text in texts)


def test_a_distributed_trial_reports_by_its_master(server, upload):
    tune(server, upload, "gang", [], {"maxTrials": 2, "maxParallelTrials": 2}, scaleTier="CUSTOM", masterType="n1-standard-4",
         workerType="n1-standard-4", workerCount=1)
    job = server.wait("gang")
    assert job["state"] == "SUCCEEDED", (job, server.texts("gang"))
    assert all(trial["finalMetric"]["objectiveValue"] <= 1 for trial in trials_of(job))
    # A worker may be stopped by its master's end before its program has said a word; its supervisor has.
    workers = {entry["labels"]["ml.googleapis.com/trial_id"] for entry in server.log_entries("gang")
               if entry["resource"]["labels"]["task_name"] == "worker-replica-0"}
    assert workers == {"1", "2"}


def test_the_command_line(server, upload):
    tune(server, upload, "shown", ["--silent=2"], {"maxTrials": 2, "maxParallelTrials": 1})
    streamed = server.trainyard("jobs", "stream-logs", "shown")
    assert re.search(r"\t1\ttrial 1 ", streamed.stdout), streamed.stdout[-2000:]
    assert "is the best so far: score" in streamed.stdout
    described = server.trainyard("jobs", "describe", "shown")
    assert described.returncode == 0
    assert "trials:" in described.stdout, "the job itself, as gcloud prints it"
    assert re.search(r"^TRIAL +STATE +METRIC +STEP +x +COURSE +REASON", described.stderr, re.M), described.stderr
    assert re.search(r"^1 \(best\) +SUCCEEDED +\S+ +3 +\S+ +▁", described.stderr, re.M), described.stderr
    rows = list(csv.DictReader(io.StringIO(server.trainyard("jobs", "trials", "shown", "--format", "csv").stdout)))
    assert [row["trial_id"] for row in rows] == ["1", "2"]
    assert float(rows[0]["objective_value"]) == float(rows[0]["x"])
    assert "another" in rows[1]["reason"]
    outputs = json.loads(server.trainyard("jobs", "trials", "shown", "--format", "json").stdout)
    assert [output["trialId"] for output in outputs] == ["1", "2"]
    assert server.trainyard("jobs", "trials", "shown").stdout.startswith("TRIAL")
    assert "no trials" in server.trainyard("jobs", "trials", "nothing").stderr or \
        "not be found" in server.trainyard("jobs", "trials", "nothing").stderr


def test_gcloud(server, upload, gcloud, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("trainingInput:\n  hyperparameters:\n    goal: MAXIMIZE\n    hyperparameterMetricTag: score\n    maxTrials: 2\n"
                      "    maxParallelTrials: 2\n    enableTrialEarlyStopping: True\n    params:\n    - parameterName: x\n"
                      "      type: DOUBLE\n      minValue: 0.1\n      maxValue: 1\n      scaleType: UNIT_LOG_SCALE\n")
    environment = {**os.environ, **server.client_environment(), "CLOUDSDK_CORE_PROJECT": "p"}

    def call(*words):
        done = subprocess.run([gcloud, "ai-platform", "jobs", *words], env=environment, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stderr
        return done

    call("submit", "training", "by_gcloud", "--packages", upload(server, "tuned"), "--module-name", "tuned.task",
         "--region", "us-central1", "--config", str(config), "--job-dir", "gs://models/by_gcloud")
    job = server.wait("by_gcloud")
    assert job["state"] == "SUCCEEDED", (job, server.texts("by_gcloud"))
    shown = call("describe", "by_gcloud", "--summarize").stdout
    assert "Training Output Trials" in shown and "OBJECTIVE_VALUE" in shown, shown
    for trial in trials_of(job):
        assert trial["hyperparameters"]["x"] in shown, shown


def test_a_trial_without_room_waits_and_says_what_for(server, upload, shared_folder):
    tune(server, upload, "crowd", ["--wait-for", str(shared_folder / "never")], {"maxTrials": 9, "maxParallelTrials": 2},
         scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount=4 * len(os.sched_getaffinity(0)))
    server.wait("crowd", lambda job: job["state"] == "RUNNING")
    waiting = wait_for(lambda: next((trial for trial in status_of(server, "crowd")["trials"]
                                     if trial["output"]["state"] == "QUEUED" and trial.get("reason")), None),
                       lambda: str(status_of(server, "crowd")))
    assert waiting["output"]["trialId"] == "2" and waiting["reason"].startswith("Waiting for "), waiting
    server.cancel("crowd")
    job = server.wait("crowd")
    assert job["state"] == "CANCELLED"
    assert [(trial["trialId"], trial["state"]) for trial in trials_of(job)] == [("1", "CANCELLED"), ("2", "CANCELLED")]


def test_a_cancelled_job_says_which_trials_have_not_ended(make_server, upload):
    server = make_server("--stop-grace", "600")
    marker = f"6{time.time_ns() % 10**8}"
    server.submit("stubborn", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                  args=["ignore-term", "print", marker, "forever"],
                  hyperparameters={"goal": "MAXIMIZE", "maxTrials": 2, "maxParallelTrials": 2, "params": [X]})
    wait_for(lambda: True if server.texts("stubborn").count(marker) == 2 else None, lambda: str(server.texts("stubborn")))
    server.cancel("stubborn")
    ending = "The job is being cancelled. Cancelled by the user. master-replica-0 was told to end (SIGTERM)."

    def both_end():
        status = status_of(server, "stubborn")
        return status if [trial.get("reason") for trial in status["trials"]] == [ending, ending] else None
    status = wait_for(both_end, lambda: str(status_of(server, "stubborn")))
    assert status["waiting"]["reason"] == "Trial 1: " + ending, status
    for pid, _ in processes_with(f"print {marker} forever"):
        kill(pid)
    assert server.wait("stubborn")["state"] == "CANCELLED"
    assert "waiting" not in status_of(server, "stubborn")
