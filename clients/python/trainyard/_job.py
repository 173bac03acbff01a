"""One job of a server."""

from __future__ import annotations

import os
import pathlib
import shutil
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Union

from trainyard import _patience
from trainyard._errors import Error, JobFailed
from trainyard._logs import Log, LogLine
from trainyard._table import make_table

if TYPE_CHECKING:
    from trainyard._client import Client

_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
_PAUSE_MAX_S = 2.0


class Job:
    """A job; what it says of itself is asked from the server each time."""

    def __init__(self, client: "Client", job_id: str) -> None:
        self._client = client
        self.id = job_id
        self.name = "projects/%s/jobs/%s" % (client.project, job_id)

    def __repr__(self) -> str:
        return "<trainyard.Job %s>" % self.name

    def describe(self) -> Dict[str, Any]:
        """The job as the API has it."""
        job: Dict[str, Any] = self._client.call(self._client.ml.projects().jobs().get(name=self.name))
        return job

    @property
    def state(self) -> str:
        """QUEUED, PREPARING, RUNNING, SUCCEEDED, FAILED, CANCELLING or CANCELLED."""
        return str(self.describe()["state"])

    def why_waiting(self) -> Optional[str]:
        """Why it does not run yet and what would end the wait; None if it does not wait."""
        waiting = self._status().get("waiting")
        return ("%s %s" % (waiting.get("reason", ""), waiting.get("unblock", ""))).strip() if waiting else None

    def wait(self, timeout: Optional[float] = None, check: bool = True) -> str:
        """Until the job has ended; returns its state. JobFailed if it did not succeed, unless `check` is false; TimeoutError after
        `timeout` seconds. A server that is started again meanwhile is waited for: Unreachable if none answers for 30 s, or at the
        end of `timeout`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.05
        while True:
            left = _patience.PATIENCE_S if deadline is None else max(deadline - time.monotonic(), 0.0)
            job = _patience.ask(self.describe, min(left, _patience.PATIENCE_S))
            if job["state"] in _ENDED:
                break
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("job %s is still %s after %s s" % (self.id, job["state"], timeout))
            time.sleep(pause)
            pause = min(pause * 1.5, _PAUSE_MAX_S)
        if check and job["state"] != "SUCCEEDED":
            raise JobFailed(job.get("errorMessage") or "the job %s was cancelled" % self.id, self)
        return str(job["state"])

    def logs(self, follow: bool = False) -> Iterator[LogLine]:
        """The lines of its log. With `follow` also those that come, until the job has ended; a server that is started again
        meanwhile is waited for, as by wait()."""
        job = self.describe()  # a job that is not there has no log, and the server says so
        log = Log(self._client.transport, self._client.project, self.id, self._has_ended)
        return log.follow(job["createTime"]) if follow else log.read()

    def cancel(self) -> None:
        """Asks the server to end it; wait(check=False) waits until it has."""
        self._client.call(self._client.ml.projects().jobs().cancel(name=self.name, body={}))

    def trials(self) -> Any:
        """A tuning job's trials so far, by number: state, parameters, metric, step."""
        trials = sorted((trial.get("output", {}) for trial in self._status().get("trials", [])), key=lambda trial: int(trial["trialId"]))
        names = sorted({name for trial in trials for name in trial.get("hyperparameters", {})})
        rows = []
        for trial in trials:
            row: Dict[str, Any] = {"trial": trial["trialId"], "state": trial.get("state", "")}
            row.update((name, _number(value)) for name, value in trial.get("hyperparameters", {}).items())
            row.update(metric=_metric(trial), step=_step(trial))
            rows.append(row)
        return make_table(rows, ["trial", "state", *names, "metric", "step"])

    def best_trial(self) -> Dict[str, Any]:
        """The finished trial with the best metric, as the API has it. Error if no trial has one yet."""
        job = self.describe()
        spec = job.get("trainingInput", {}).get("hyperparameters")
        if spec is None:
            raise Error("the job %s tunes no hyperparameters" % self.id)
        with_metric = [trial for trial in job.get("trainingOutput", {}).get("trials", []) if _metric(trial) is not None]
        if not with_metric:
            raise Error("no trial of %s has a metric yet" % self.id)
        sign = -1.0 if spec.get("goal") == "MINIMIZE" else 1.0
        best: Dict[str, Any] = max(with_metric, key=lambda trial: sign * (_metric(trial) or 0.0))
        return best

    def download(self, folder: Union[str, "os.PathLike[str]"] = ".") -> List[pathlib.Path]:
        """Copies what is in its job-dir, or where TRAINYARD_JOB_DIR leads it, into a folder; returns the files."""
        training = self.describe().get("trainingInput", {})
        job_dir = training.get("jobDir") or next(
            (str(one["value"]) for one in training.get("env", []) if one["name"] == "TRAINYARD_JOB_DIR"), "")
        if not job_dir:
            raise Error("the job %s has no job-dir: nobody knows where it writes" % self.id)
        bucket, _, prefix = job_dir[len("gs://"):].partition("/")
        prefix = prefix.rstrip("/") + "/" if prefix.strip("/") else ""
        target = pathlib.Path(folder)
        written = []
        for name in self._client.object_names(bucket, prefix):
            path = target / _safe(name[len(prefix):])
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            quoted = "/storage/v1/b/%s/o/%s?alt=media" % (bucket, urllib.parse.quote(name, safe=""))
            with self._client.transport.open(quoted) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink)
            written.append(path)
        return written

    def _status(self) -> Dict[str, Any]:
        status: Dict[str, Any] = self._client.transport.json("/trainyard/v1/" + self.name)
        return status

    def _has_ended(self) -> bool:
        return "endTime" in self.describe()


def _safe(name: str) -> pathlib.PurePosixPath:
    path = pathlib.PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise Error("the object %r does not name a file below a folder" % name)
    return path


def _metric(trial: Dict[str, Any]) -> Optional[float]:
    """None without a metric. JSON has no zero where it is left out."""
    found = trial.get("finalMetric")
    return None if found is None else float(found.get("objectiveValue", 0))


def _step(trial: Dict[str, Any]) -> Optional[int]:
    found = trial.get("finalMetric")
    return None if found is None else int(found.get("trainingStep", 0))


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
