"""Metrics reach the tuner, TensorBoard and the log; failures and outputs are as users and scripts expect."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from trainyard_algorithms import outputs
from trainyard_algorithms.report import Reporter

HERE = Path(__file__).resolve().parent.parent


def test_every_tag_reaches_the_tuner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(tmp_path / "metrics/file"))
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "3")
    reporter = Reporter(None)
    reporter.report(10, {"loss": 0.5, "accuracy": 0.75})
    reporter.report(10, {"loss": 9.0}, part="training")
    reporter.report(20, {"loss": 0.25, "accuracy": float("nan")})
    lines = [json.loads(each) for each in (tmp_path / "metrics/file").read_text().splitlines()]
    assert [
        (each["global_step"], each.get("loss"), each.get("accuracy"), each["trial"]) for each in lines
    ] == [
        ("10", "0.5", None, "3"),
        ("10", None, "0.75", "3"),
        ("20", "0.25", None, "3"),
        ("20", None, "nan", "3"),
    ]


def test_nothing_fails_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(tmp_path / "file/below"))
    reporter = Reporter(tmp_path / "file")
    reporter.report(1, {"loss": 1.0})
    reporter.report(2, {"loss": 1.0})
    assert [each.levelname for each in caplog.records].count("WARNING") == 2


def test_event_files_are_tensorboards(tmp_path: Path) -> None:
    reporter = Reporter(tmp_path)
    reporter.report(1, {"loss": 0.5})
    reporter.report(2, {"loss": 0.25})
    reporter.report(2, {"loss": 0.125}, part="training")
    program = """
import sys
sys.modules["tensorflow"] = None  # tensorboard reads without it, and starts faster
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
for part in ("validation", "training"):
    seen = EventAccumulator(sys.argv[1] + "/" + part).Reload()
    print([(each.step, each.value) for each in seen.Scalars("loss")])
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert done.stdout == "[(1, 0.5), (2, 0.25)]\n[(2, 0.125)]\n", done.stderr


def test_writing_events_does_not_import_tensorflow(tmp_path: Path) -> None:
    program = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
from trainyard_algorithms.report import Reporter
Reporter(Path({str(tmp_path)!r})).report(1, {{"loss": 1.0}})
print("tensorflow" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_the_log_has_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Reporter(None).report(5, {"loss": 0.123456789, "auc": 1.0})
    assert caplog.messages == ["Step 5, validation: loss 0.123457, auc 1"]


def test_the_log_names_the_part_that_stands_for_validation(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO)
    reporter = Reporter(tmp_path, "training")
    reporter.report(5, {"loss": 1.0})
    reporter.report(5, {"loss": 2.0}, part="test")
    assert caplog.messages == ["Step 5, training: loss 1", "Step 5, test: loss 2"]
    assert (tmp_path / "validation").is_dir(), "where a tuner and TensorBoard look"


def test_deployment_config(tmp_path: Path) -> None:
    outputs.write_deployment_config(
        tmp_path / "model", "TENSORFLOW", {"accuracy": "93.3", "global_step": "7"}, "2.15"
    )
    assert (tmp_path / "model/deployment_config.yaml").read_text() == (
        'framework: TENSORFLOW\nlabels:\n  accuracy: "93.3"\n  global_step: "7"\n'
        f'pythonVersion: "{sys.version_info.major}.{sys.version_info.minor}"\nruntimeVersion: "2.15"\n'
    )


@pytest.mark.parametrize(
    "raised, status, last, traceback",
    [
        ("UserError('row 3: no')", 1, "row 3: no", False),
        ("MemoryError()", 1, "Not enough memory: use a machine type with more, or less data.", False),
        ("OSError(28, 'No space left', '/x')", 1, "The disk is full while writing /x.", False),
        ("KeyError('bug')", 1, "KeyError: 'bug'", True),
    ],
)
def test_what_the_user_can_mend_is_one_line(raised: str, status: int, last: str, traceback: bool) -> None:
    program = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from trainyard_algorithms import arguments, failure
from trainyard_algorithms.failure import UserError
arguments.table = lambda name: {{"arguments": []}}
def main(args):
    raise {raised}
sys.argv = ["x", "--job-dir=y"]
failure.run("some", main)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1], "Traceback" in done.stderr) == (
        status,
        last,
        traceback,
    )
