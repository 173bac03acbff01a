"""trainyard.log: what it writes, and where."""

import json

import pytest

import trainyard
from trainyard import _log


@pytest.fixture(autouse=True)
def counts():
    _log._steps.clear()


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Of a job's file."""
    path = tmp_path / "hypertune/output.metrics"
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(path))
    return lambda: [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_for_a_step(lines):
    trainyard.log(step=3, loss=0.25, **{"val/loss": 2})
    (line,) = lines()
    assert line.pop("timestamp") > 1.7e9
    assert line == {"trial": "0", "loss": "0.25", "val/loss": "2.0", "global_step": "3", "checkpoint_path": ""}


def test_without_a_step_each_name_counts(lines):
    trainyard.log(loss=1)
    trainyard.log(loss=2, acc=float("nan"))
    assert [(line["global_step"], line.get("loss"), line.get("acc")) for line in lines()] == \
        [("0", "1.0", None), ("1", "2.0", None), ("0", None, "nan")]


def test_what_is_no_number_is_refused(lines):
    with pytest.raises(TypeError, match="loss is 'low', which is not a number"):
        trainyard.log(step=1, loss="low")


def test_a_jobs_file_keeps_the_newest(lines, monkeypatch):
    monkeypatch.setattr(_log, "_BYTES_MAX", 2000)
    for step in range(100):
        trainyard.log(step=step, loss=step)
    steps = [int(line["global_step"]) for line in lines()]
    assert steps == list(range(steps[0], 100)) and 5 < len(steps) < 30


def test_elsewhere_it_is_a_file_of_the_working_directory(tmp_path, monkeypatch):
    for name in ("CLOUD_ML_HP_METRIC_FILE", "CLOUD_ML_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    trainyard.log(step=1, loss=0.5)
    assert json.loads((tmp_path / "trainyard-metrics.jsonl").read_text())["loss"] == "0.5"


def test_a_file_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(tmp_path / "file/below"))
    with pytest.warns(UserWarning, match="trainyard.log: "):
        trainyard.log(loss=1)
