"""What the tuner's model says of a study's parameters."""

STUDIES = "/v1/projects/p/locations/us-central1/studies"
CONFIG = {"metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
          "parameters": [{"parameter": name, "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}} for name in ("rate", "width")]}


def explain(server, of):
    response = server.request("GET", f"/trainyard/v1/projects/p/{of}/tuning:explain")
    assert response.ok, response.text
    return response.json()


def test_a_study(make_server):
    server = make_server()
    assert server.request("POST", STUDIES, params={"studyId": "s"}, json={"studyConfig": CONFIG}).ok
    study = "locations/us-central1/studies/s"
    assert explain(server, study) == {"note": "Shown after 5 trials with results; there are 0.", "metric": "loss"}
    for number in range(1, 13):
        rate, width = number * 0.618 % 1, number * 0.414 % 1
        made = server.request("POST", f"{STUDIES}/s/trials", json={"parameters": [
            {"parameter": "rate", "floatValue": rate}, {"parameter": "width", "floatValue": width}]})
        assert made.ok, made.text
        final = {"finalMeasurement": {"metrics": [{"metric": "loss", "value": (rate - 0.3) ** 2 + 0.001 * width}]}}
        assert server.request("POST", f"{STUDIES}/s/trials/{number}:complete", json=final).ok
    told = explain(server, study)
    shares = {one["parameter"]: one["share"] for one in told["importances"]}
    assert shares["rate"] > 0.9 and abs(sum(shares.values()) - 1) < 1e-9
    values = [one["value"] for one in told["bestSoFar"]]
    assert values == sorted(values, reverse=True) and told["bestSoFar"][0]["trialId"] == "1" and "note" not in told


def test_a_job_without_hyperparameters(make_server):
    server = make_server()
    server.submit("j", packageUris=[server.upload("out", "trainer.tar.gz", b"not a package")], pythonModule="trainer.task")
    assert explain(server, "jobs/j") == {"note": "The job tunes no hyperparameters."}
    assert server.request("GET", "/trainyard/v1/projects/p/jobs/absent/tuning:explain").status_code == 404
