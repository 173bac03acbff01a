"""How trials report their metric: cloudml-hypertune, and TensorFlow's summaries wherever they are written."""

import pytest

from trainyard_server import ROOT, Server

TENSORFLOW = "2.15"
WAYS = ["bucket", "files", "local", "tf1", "trial-again", "wrong-tag"]


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("metrics"), environments=environments)
    yield server
    server.stop()


def run_example(server, name, edit):
    """Submits an example by the command of its README, and returns its trials."""
    config = server.data / f"{name}.yaml"
    config.write_text(edit((ROOT / "examples" / name / "config.yaml").read_text()))
    done = server.trainyard("jobs", "submit", "training", name, "--package-path", ROOT / "examples" / name / "trainer",
                            "--module-name", "trainer.task", "--job-dir", f"gs://out/{name}", "--region", "us-central1",
                            "--config", config)
    assert done.returncode == 0, done.stderr
    job = server.wait(name)
    assert job["state"] == "SUCCEEDED", (job, server.texts(name)[-60:])
    return job["trainingOutput"]["trials"]


def curves(server, job_id):
    """Step and value of each measurement, by trial."""
    status = server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}").json()
    return {trial["output"]["trialId"]: [(int(one.get("step", 0)), one.get("value", 0.0)) for one in trial["report"].get("measurements", [])]
            for trial in status["trials"]}


def scalars(server, job_id):
    """Of each curve: trial, folder, tag, and whether hypertune reported it; with its number of points."""
    listed = server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}/scalars").json()
    return {(item["name"].get("trialId", ""), item["name"].get("run", ""), item["name"]["tag"], item["name"].get("hypertune", False)):
            int(item["points"]) for item in listed["items"]}


def test_hypertune_with_all_types_of_parameters_and_early_stopping(server, runtime):
    runtime(TENSORFLOW)
    trials = run_example(server, "iris_tuning", lambda config: config.replace("maxTrials: 12", "maxTrials: 9"))
    assert len(trials) == 9 and {trial["state"] for trial in trials} == {"SUCCEEDED"}, trials
    # Which points nine trials try depends on the order in which they end: three in ten points are above 0.9, nine in ten above 0.75.
    found = [trial["finalMetric"]["objectiveValue"] for trial in trials]
    assert found == sorted(found, reverse=True) and found[0] > 0.75, found
    seen = curves(server, "iris_tuning")
    for trial in trials:
        epochs = int(trial["hyperparameters"]["epochs"])
        steps = [step for step, _ in seen[trial["trialId"]]]
        if not trial.get("isTrialStoppedEarly"):
            assert steps == list(range(1, epochs + 1)), "every report, not only those that a poll would have seen"
        last = seen[trial["trialId"]][-1]
        assert trial["finalMetric"] == {"trainingStep": str(last[0]), "objectiveValue": last[1]}
    shown = {trial: points for (trial, _, _, hypertune), points in scalars(server, "iris_tuning").items() if hypertune}
    assert shown == {trial: len(points) for trial, points in seen.items()}
    told = server.request("GET", "/trainyard/v1/projects/p/jobs/iris_tuning/tuning:explain").json()
    assert told["maximize"] and told["bestSoFar"][-1]["value"] == max(
        trial["finalMetric"]["objectiveValue"] for trial in trials if not trial.get("isTrialStoppedEarly"))
    assert {one["trialId"] for one in told.get("stopped", [])} == {trial["trialId"] for trial in trials if trial.get("isTrialStoppedEarly")}
    assert all(one["reason"] for one in told.get("stopped", []))


def test_keras_with_nothing_but_its_summaries(server, runtime):
    runtime(TENSORFLOW)
    trials = run_example(server, "keras_tuning", lambda config: config.replace("maxTrials: 6", "maxTrials: 2"))
    assert len(trials) == 2
    seen = curves(server, "keras_tuning")
    for trial in trials:
        assert [step for step, _ in seen[trial["trialId"]]] == list(range(5)), trial
        assert trial["finalMetric"]["trainingStep"] == "4"
        validation = server.data / "buckets/out/keras_tuning" / trial["trialId"] / "logs/validation"
        assert list(validation.glob("events.out.tfevents.*")), "what was read"
        texts = [text for text in trial_texts(server, "keras_tuning", trial["trialId"]) if "val_loss: " in text]
        shown = [float(text.split("val_loss: ")[1].split()[0]) for text in texts]
        assert [value for _, value in seen[trial["trialId"]]] == pytest.approx(shown, abs=1e-4), "validation, not training"


def trial_texts(server, job_id, trial_id):
    return [entry["jsonPayload"]["message"] for entry in server.log_entries(job_id)
            if entry.get("labels", {}).get("ml.googleapis.com/trial_id") == trial_id]


def test_summaries_wherever_they_are_written(server, upload, runtime):
    runtime(TENSORFLOW)
    ways = {"parameterName": "way", "type": "CATEGORICAL", "categoricalValues": WAYS}
    server.submit("ways", packageUris=[upload(server, "tuned")], pythonModule="tuned.summaries", runtimeVersion=TENSORFLOW,
                  jobDir="gs://out/ways", hyperparameters={"goal": "MAXIMIZE", "hyperparameterMetricTag": "accuracy", "maxTrials": 10,
                                                           "maxParallelTrials": 2, "algorithm": "GRID_SEARCH", "params": [ways]})
    job = server.wait("ways")
    assert job["state"] == "SUCCEEDED", (job, server.texts("ways")[-60:])
    status = server.request("GET", "/trainyard/v1/projects/p/jobs/ways").json()
    by_way = {trial["output"]["hyperparameters"]["way"]: trial for trial in status["trials"]}
    assert set(by_way) == set(WAYS)
    for way, trial in by_way.items():
        directory = "gs://out/ways/" + trial["output"]["trialId"]
        if way == "wrong-tag":
            assert "finalMetric" not in trial["output"]
            assert trial["reason"] == ("The metric 'accuracy' was not reported: looked in /tmp/hypertune/output.metrics (not written), its own "
                                       f"folders (no event files), {directory} (1 event file); tags seen: epoch_accuracy.")
            assert trial["reason"] in server.texts("ways")
            continue
        assert trial["output"]["finalMetric"] == {"trainingStep": "2", "objectiveValue": 0.5}, (way, trial)
        assert trial["report"]["place"] == {"bucket": directory + "/eval", "files": directory + "/logs", "local": "working directory/logs",
                                            "tf1": directory, "trial-again": directory + "/" + trial["output"]["trialId"]}[way]
    places = {trial: run for trial, run, tag, _ in scalars(server, "ways") if tag == "accuracy"}
    ids = {way: trial["output"]["trialId"] for way, trial in by_way.items()}
    assert {way: places.get(ids[way]) for way in WAYS} == {
        "bucket": "eval", "files": "logs", "local": "working directory/logs", "tf1": "", "trial-again": ids["trial-again"], "wrong-tag": None}
