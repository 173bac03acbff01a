"""What the tests share: a table written as text, prepared as a trainer would."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from replicas import Job

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
os.environ.setdefault("TF_NUM_INTEROP_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a process that a test kills leaves behind is below pytest's folder."""
    with pytest.MonkeyPatch.context() as patch:
        folder = str(tmp_path_factory.mktemp("temporary"))
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(autouse=True)
def no_trial(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests are no trial of a tuning job, and reach no storage."""
    for name in ("CLOUD_ML_HP_METRIC_FILE", "CLOUD_ML_JOB_ID", "CLOUD_ML_TRIAL_ID", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    yield


@pytest.fixture
def prepared(tmp_path: Path) -> Callable[..., Any]:
    """prepare() of CSV text: prepared(text, classes=..., numeric=..., validation=text, **arguments)."""

    def act(
        text: str | bytes,
        *,
        classes: bool = True,
        numeric: bool = False,
        preprocess: bool = True,
        validation: str | bytes | None = None,
        test: str | bytes | None = None,
        **arguments: Any,
    ) -> Any:
        from trainyard_algorithms.paths import JobFolder
        from trainyard_algorithms.tabular.prepare import prepare

        given: dict[str, Any] = {"validation_split": 0.2, "test_split": 0.2} | arguments
        for part, content in (("training", text), ("validation", validation), ("test", test)):
            if content is not None:
                path = tmp_path / f"given_{part}.csv"
                path.write_bytes(content.encode() if isinstance(content, str) else content)
                given[f"{part}_data_path"] = str(path)
        args = SimpleNamespace(preprocess=preprocess, **given)
        return prepare(args, JobFolder(str(tmp_path / "job")), classes=classes, numeric=numeric)

    return act


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[list[Job]]:
    started: list[Job] = []
    yield started
    for job in started:
        job.end()
