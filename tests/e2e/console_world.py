"""A server with something of everything that the console shows."""

import math

import event_files
from test_tuning_jobs import X, tune

PARAMETERS = [X, {"parameterName": "units", "type": "INTEGER", "minValue": 1, "maxValue": 64},
              {"parameterName": "kind", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]}]
NOTES = "# A model\n\nTrained for the *console*.\n"


def loss_curve(points, offset=0.0):
    return event_files.event_file([(step, event_files.scalar("loss", math.exp(-step / points * 3) + offset)) for step in range(points)]
                                  + [(step, event_files.scalar("accuracy", 1 - math.exp(-step / points * 3) - offset)) for step in range(points)]
                                  + [(points, event_files.text("notes", NOTES))])


def run(server, upload, job_id, *words, **training_input):
    return server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=list(words), **training_input)


STUDIES = "/v1/projects/p/locations/us-central1/studies"


def study(server, study_id, trials):
    """A study of two parameters whose optimum is in the middle, with trials that are measured."""
    between = {"min_value": 0.0, "max_value": 10.0}
    config = {"parameters": [{"parameter": name, "type": "DOUBLE", "double_value_spec": between} for name in ("x", "y")],
              "metrics": [{"metric": "score", "goal": "MAXIMIZE"}]}
    assert server.request("POST", f"{STUDIES}?studyId={study_id}", json={"study_config": config}).ok
    for number in range(trials):
        x, y = number * 7 % 10, number * 3 % 10
        body = {"parameters": [{"parameter": "x", "floatValue": x}, {"parameter": "y", "floatValue": y}]}
        made = server.request("POST", f"{STUDIES}/{study_id}/trials", json=body)
        assert made.ok, made.text
        measured = {"finalMeasurement": {"stepCount": 1, "metrics": [{"metric": "score", "value": 50 - (x - 5) ** 2 - (y - 5) ** 2 / 4}]}}
        done = server.request("POST", f"/v1/{made.json()['name']}:complete", json=measured)
        assert done.ok, done.text


class World:
    """Jobs: census_1 and census_2 succeeded (with curves and a log of thousands of lines), census_3 failed, census_4 runs, census_5 waits,
    tuned_1 has trials. Study `peaks` has trials, too. Bucket `data` has files."""

    def __init__(self, server, upload):
        self.server = server
        self.upload = upload
        for number, points in ((1, 300), (2, 200)):
            server.upload("models", f"census_{number}/train/events.out.tfevents.1700000000.host", loss_curve(points, number / 50))
            server.upload("models", f"census_{number}/eval/events.out.tfevents.1700000001.host", loss_curve(points // 10, number / 30))
            run(server, upload, f"census_{number}", "count", "4000", "print", "\x1b[32mgreen\x1b[0m and \x1b[1;31mred\x1b[0m", "stderr",
                "something on stderr", "log", "a warning", "print", "needle in the log", jobDir=f"gs://models/census_{number}")
        run(server, upload, "census_3", "print", "it begins", "raise", "no such column: age")
        for name, content in (("readme.txt", b"plain text\n"), ("table.csv", b"age,income\n39,77516\n50,83311\n"),
                              ("config.json", b'{"layers": [64, 32], "rate": 0.01}'), ("deep/er/file.bin", bytes(range(256)))):
            server.upload("data", name, content)
        tune(server, upload, "tuned_1", ["--steps=4"], {"params": PARAMETERS, "maxTrials": 6, "maxParallelTrials": 2}, jobDir="gs://models/tuned_1")
        for job_id in ("census_1", "census_2", "census_3", "tuned_1"):
            job = server.wait(job_id)
            assert job["state"] == ("FAILED" if job_id == "census_3" else "SUCCEEDED"), (job, server.texts(job_id)[-10:])
        study(server, "peaks", 12)
        run(server, upload, "census_4", "print", "it runs", "forever", enableWebAccess=True)
        server.wait("census_4", lambda job: job["state"] == "RUNNING")
        server.request("PATCH", "/v1/projects/p/jobs/census_1?updateMask=labels", json={"labels": {"team": "vision"}})
