"""What the loop of the image trainers keeps from step to step and from run to run, without a network."""

import json
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms import paths  # noqa: E402
from trainyard_algorithms.images import loop  # noqa: E402
from trainyard_algorithms.images.schedule import Schedule  # noqa: E402


class Counter(tf.Module):
    """A model that answers how many steps it was trained."""

    def __init__(self, steps: Any) -> None:
        super().__init__()
        self.steps = steps

    @tf.function(input_signature=[])
    def answer(self) -> Mapping[str, Any]:
        return {"steps": self.steps.read_value()}


class Task:
    """Counts steps; its evaluations give `values` one by one. Told to stop at step `stop`."""

    def __init__(self, values: Iterable[float], stop: int = -1) -> None:
        self.steps = tf.Variable(0.0)
        self.optimizer = tf.keras.optimizers.SGD()
        self.optimizer.build([self.steps])
        self.values, self.stop, self.evaluated = iter(values), stop, 0
        self.counter = Counter(self.steps)

    def parts(self) -> Mapping[str, Any]:
        return {"backbone": self.counter}

    def step(self, batch: Any) -> Mapping[str, Any]:
        self.steps.assign_add(1.0)
        return {"loss": tf.constant(1.0)}

    def evaluate(self) -> Mapping[str, float]:
        self.evaluated += 1
        return {"accuracy": next(self.values)}

    def serving(self) -> tuple[Any, Any]:
        return self.counter, self.counter.answer


def run(job: Path | str, steps: int, task: Task, monkeypatch: pytest.MonkeyPatch, **arguments: Any) -> int:
    """Trains to `steps` with an evaluation each step: how many steps this run did."""
    course = loop.Course(
        schedule=Schedule(0.1, 0.0, 0, "constant", steps, 1.0, ()),
        steps_per_eval=1,
        batch=1,
        best="accuracy",
        identity={"model_type": "a"},
        arguments={"max_steps": steps, "job_dir": str(job)} | arguments,
        percent="accuracy",
    )
    done = 0

    def batches(start: int) -> Iterator[int]:
        nonlocal done
        while True:
            done += 1
            yield start

    monkeypatch.setattr(loop, "stopping", lambda: 0 <= task.stop <= float(task.steps))
    loop.fit(task, course, paths.JobFolder(str(job)), batches)
    return done


def model_step(job: Path) -> int:
    """The step of the model in model/, which must be whole."""
    assert (job / "model" / "deployment_config.yaml").exists()
    model = tf.saved_model.load(str(job / "model"))
    return int(model.signatures["serving_default"]()["steps"])


@pytest.fixture
def tuner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process is trial 1 of job a; the file of its metrics."""
    monkeypatch.setenv("CLOUD_ML_JOB_ID", "a")
    monkeypatch.setenv("CLOUD_ML_TRIAL_ID", "1")
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", str(tmp_path / "metrics"))
    return tmp_path / "metrics"


def final(file: Path) -> tuple[int, float]:
    """Step and value that the tuner takes: the highest step's, of those the last."""
    reports = [json.loads(line) for line in file.read_text().splitlines()]
    last = max(reports, key=lambda each: (int(each["global_step"]), each["timestamp"]))
    return int(last["global_step"]), float(last["accuracy"])


def test_the_last_report_is_of_the_model_that_is_written(
    tmp_path: Path, tuner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "job"
    run(job, 3, Task([0.3, 0.9, 0.5]), monkeypatch)
    assert (final(tuner), model_step(job)) == ((3, 0.9), 2)
    run(job, 4, Task([0.6]), monkeypatch)
    assert (final(tuner), model_step(job)) == ((4, 0.9), 2)
    tuner.unlink()
    assert run(job, 4, Task([0.6]), monkeypatch) == 0
    assert (final(tuner), model_step(job)) == ((4, 0.9), 2)
    run(job, 5, Task([0.95]), monkeypatch)
    assert (final(tuner), model_step(job)) == ((5, 0.95), 5)


@pytest.mark.parametrize("other", [("CLOUD_ML_JOB_ID", "b"), ("CLOUD_ML_TRIAL_ID", "2")])
def test_a_trial_goes_on_only_with_its_own_checkpoints(
    other: tuple[str, str],
    tmp_path: Path,
    tuner: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert run(tmp_path, 2, Task([0.8, 0.9]), monkeypatch) == 2
    assert run(tmp_path, 3, Task([0.7]), monkeypatch) == 1  # a second attempt
    assert "starts anew" not in caplog.text
    monkeypatch.setenv(*other)
    tuner.unlink()
    assert run(tmp_path, 2, Task([0.2, 0.1]), monkeypatch) == 2
    assert "another job or trial: this trial starts anew" in caplog.text
    assert (final(tuner), model_step(tmp_path)) == ((2, 0.2), 1)


def test_a_job_that_goes_on_names_arguments_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run(tmp_path, 1, Task([0.8]), monkeypatch, rate=0.1, seed=1)
    assert run(tmp_path, 2, Task([0.8]), monkeypatch, rate=0.1, seed=1) == 1
    assert "other arguments" not in caplog.text
    assert run(tmp_path, 3, Task([0.8]), monkeypatch, rate=0.2, seed=1) == 1
    assert "The first 2 steps in the job-dir were trained with other arguments: --rate=0.1 (now 0.2)." in (
        caplog.text
    )


def test_settings_that_cannot_be_read_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run(tmp_path, 2, Task([0.8, 0.9]), monkeypatch)
    settings = tmp_path / "checkpoints" / "settings.json"
    settings.write_bytes(settings.read_bytes()[:-5])
    assert run(tmp_path, 2, Task([0.3, 0.2]), monkeypatch) == 2
    assert "settings.json in the job-dir cannot be read: training starts anew" in caplog.text
    assert model_step(tmp_path) == 1


class Killed(BaseException):
    pass


KILLS = ("shutil.copytree", "shutil.copyfile", "write_json", "write_deployment_config")


class Storage:
    """google-cloud-storage with one bucket."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects, self.name = objects, ""

    def bucket(self, name: str) -> "Storage":
        return self

    def blob(self, name: str) -> "Storage":
        result = Storage(self.objects)
        result.name = name
        return result

    def list_blobs(self, bucket: str, prefix: str) -> list["Storage"]:
        return [self.blob(name) for name in sorted(self.objects) if name.startswith(prefix)]

    def upload_from_filename(self, path: str) -> None:
        self.objects[self.name] = Path(path).read_bytes()

    def download_to_filename(self, path: str) -> None:
        Path(path).write_bytes(self.objects[self.name])

    def delete(self) -> None:
        del self.objects[self.name]


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("place", KILLS)
def test_a_kill_while_the_model_is_saved_leaves_no_half_model(
    place: str, copies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects: dict[str, bytes] = {}
    monkeypatch.setattr(paths, "client", lambda: Storage(objects))
    job = "gs://bucket/job" if copies else str(tmp_path / "job")

    def here() -> Path:
        """The job's folder; of the bucket, a copy."""
        shutil.rmtree(tmp_path / "seen", ignore_errors=True)
        for name, content in objects.items():
            file = tmp_path / "seen" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return tmp_path / "seen" / "job" if copies else tmp_path / "job"

    def kill(*_: Any, **__: Any) -> None:
        raise Killed

    run(job, 1, Task([0.5]), monkeypatch)
    assert model_step(here()) == 1
    with monkeypatch.context() as patch:
        patch.setattr(f"{loop.__name__}.{place}", kill)
        with pytest.raises(Killed):
            run(job, 2, Task([0.9]), patch)
    assert not (here() / "model" / "deployment_config.yaml").exists()
    run(job, 2, Task([0.4]), monkeypatch)  # worse than both, but whole
    assert model_step(here()) == 2


def test_told_to_stop_keeps_the_best_model(
    tmp_path: Path, tuner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task([0.9, 0.5], stop=3)
    assert run(tmp_path, 100, task, monkeypatch) == 3
    assert task.evaluated == 2
    assert (final(tuner), model_step(tmp_path)) == ((3, 0.9), 1)


def test_told_to_stop_before_the_first_evaluation_evaluates_once(
    tmp_path: Path, tuner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task([0.4], stop=1)
    assert run(tmp_path, 100, task, monkeypatch) == 1
    assert (final(tuner), model_step(tmp_path)) == ((1, 0.4), 1)
    assert run(tmp_path / "none", 100, Task([], stop=0), monkeypatch) == 0
    assert not list((tmp_path / "none" / "model").iterdir())


def test_an_evaluation_ends_soon_after_a_stop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert len(list(loop.hurried(repeat(0, 50)))) == 50
    monkeypatch.setattr(loop, "stopping", lambda: True)
    monkeypatch.setattr(loop, "HURRIED_SECONDS", 0.0)
    assert list(loop.hurried([7, 8, 9])) == [7]
    assert "not all pictures are evaluated" in caplog.text
