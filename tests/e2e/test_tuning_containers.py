"""Trials that are containers: their flags, and the metric that they report by a file."""

import pytest

from container_engines import run_job, shell

# The first word behind the script is $0 to a shell.
REPORTS = ('x="${0#--x=}"; test -d "$(dirname "$CLOUD_ML_HP_METRIC_FILE")" || exit 9; echo "trial $CLOUD_ML_TRIAL_ID $0 $*"; '
           'printf \'{"%s": "%s", "global_step": "7", "timestamp": 5.5}\\n\' "$CLOUD_ML_HP_METRIC_TAG" "$x" > "$CLOUD_ML_HP_METRIC_FILE"')


@pytest.fixture(scope="module")
def server(container_server):
    return container_server


@pytest.mark.parametrize("user", ["root", "somebody"])
def test_a_container_reports_its_metric(server, images, registry, user):
    name = "busybox"
    if user != "root":
        name = "busybox-somebody"
        if name not in images.made:
            images.derive("busybox", name, user="1234:1235")
    spec = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 2, "maxParallelTrials": 2,
            "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": -3, "maxValue": -1}]}
    job = run_job(server, f"tuned_{user}", registry.push(images[name]), master=shell(REPORTS), hyperparameters=spec, jobDir="gs://out/tuned")
    trials = job["trainingOutput"]["trials"]
    assert len(trials) == 2 and {trial["state"] for trial in trials} == {"SUCCEEDED"}, trials
    texts = server.texts(f"tuned_{user}")
    for trial in trials:
        x = trial["hyperparameters"]["x"]
        assert trial["finalMetric"] == {"trainingStep": "7", "objectiveValue": float(x)}, (trial, texts[-30:])
        assert f"trial {trial['trialId']} --x={x} --job-dir gs://out/tuned/{trial['trialId']}" in texts
