"""One job of a server."""

from __future__ import annotations

import os
import pathlib
import shutil
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from trainyard import _patience
from trainyard._errors import Error, JobFailed
from trainyard._logs import Log, LogLine
from trainyard._package import Arguments
from trainyard._table import TableLike, make_table

if TYPE_CHECKING:
    from trainyard._client import Client

_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
_PAUSE_MAX_S = 2.0
_CURVES_MAX = 1000  # of one request
_POINTS_MAX = 1_000_000


class Job:
    """A job; what it says of itself is asked from the server each time."""

    def __init__(self, client: "Client", job_id: str) -> None:
        self._client = client
        self.id = job_id
        self.name = "projects/%s/jobs/%s" % (client.project, job_id)

    def __repr__(self) -> str:
        return "<trainyard.Job %s>" % self.name

    @property
    def url(self) -> str:
        """The job's page in the console."""
        project, job_id = (urllib.parse.quote(word, safe="") for word in (self._client.project, self.id))
        return "%s/ui/p/%s/jobs/%s" % (self._client.transport.url.rstrip("/"), project, job_id)

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

    def rerun(self, *, args: Optional[Arguments] = None, name: Optional[str] = None,
              env: Optional[Mapping[str, object]] = None, secrets: Sequence[str] = ()) -> "Job":
        """The same job again under a new id, with other arguments or further variables if there are any; returns at once. A secret
        of this job has to be named in `secrets` again: the server keeps no value."""
        return self._client.rerun(self, args=args, name=name, env=env or {}, secrets=secrets)

    def metrics(self) -> "TableLike":
        """The curves of what it reports, as a table: trial, run, tag, step, time, value."""
        found = self._client.transport.json("/trainyard/v1/%s/scalars" % self.name).get("items", [])
        rows: List[Dict[str, Any]] = []
        for begin in range(0, len(found), _CURVES_MAX):
            names = [item["name"] for item in found[begin:begin + _CURVES_MAX]]
            query = {"names": names, "pointsMax": _POINTS_MAX // len(names)}
            path = "/trainyard/v1/projects/%s/scalars:query" % urllib.parse.quote(self._client.project, safe="")
            for curve in self._client.transport.json(path, query).get("curves", []):
                of = curve["name"]
                rows += [{"trial": of.get("trialId", ""), "run": of.get("run", ""), "tag": of["tag"], "step": int(step),
                          "time": float(at), "value": float(value)}
                         for step, at, value in zip(curve.get("steps", []), curve.get("times", []), curve.get("values", []))]
        return make_table(rows, ["trial", "run", "tag", "step", "time", "value"])

    def trials(self) -> "TableLike":
        """A tuning job's trials so far, by number: state, parameters, metric, step. Parameters have the types of their
        specification."""
        kinds = self._parameter_kinds()
        trials = sorted((trial.get("output", {}) for trial in self._status().get("trials", [])), key=lambda trial: int(trial["trialId"]))
        names = sorted({name for trial in trials for name in trial.get("hyperparameters", {})})
        rows = []
        for trial in trials:
            row: Dict[str, Any] = {"trial": trial["trialId"], "state": trial.get("state", "")}
            row.update((name, _typed(value, kinds.get(name))) for name, value in trial.get("hyperparameters", {}).items())
            row.update(metric=_metric(trial), step=_step(trial))
            rows.append(row)
        return make_table(rows, ["trial", "state", *names, "metric", "step"])

    def best_trial(self) -> Dict[str, Any]:
        """The finished trial with the best metric, as the API has it, but its hyperparameters with the types of their
        specification. Error if no trial has one yet."""
        job = self.describe()
        spec = job.get("trainingInput", {}).get("hyperparameters")
        if spec is None:
            raise Error("the job %s tunes no hyperparameters" % self.id)
        with_metric = [trial for trial in job.get("trainingOutput", {}).get("trials", []) if _metric(trial) is not None]
        if not with_metric:
            raise Error("no trial of %s has a metric yet" % self.id)
        sign = -1.0 if spec.get("goal") == "MINIMIZE" else 1.0
        best: Dict[str, Any] = max(with_metric, key=lambda trial: sign * (_metric(trial) or 0.0))
        kinds = self._parameter_kinds()
        typed = {name: _typed(value, kinds.get(name)) for name, value in best.get("hyperparameters", {}).items()}
        return {**best, "hyperparameters": typed}

    def download(self, path: Union[str, "os.PathLike[str]"] = ".") -> List[pathlib.Path]:
        """Copies what is in its job-dir into the local folder `path`; returns the files."""
        job_dir = self.describe().get("trainingInput", {}).get("jobDir", "")
        if not job_dir:
            raise Error("the job %s has no job-dir: nobody knows where it writes" % self.id)
        bucket, _, prefix = job_dir[len("gs://"):].partition("/")
        prefix = prefix.rstrip("/") + "/" if prefix.strip("/") else ""
        target = pathlib.Path(path)
        written = []
        for name in self._client.object_names(bucket, prefix):
            file = target / _safe(name[len(prefix):])
            if name.endswith("/"):
                file.mkdir(parents=True, exist_ok=True)
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            quoted = "/storage/v1/b/%s/o/%s?alt=media" % (bucket, urllib.parse.quote(name, safe=""))
            with self._client.transport.open(quoted) as source, open(file, "wb") as sink:
                shutil.copyfileobj(source, sink)
            written.append(file)
        return written

    def _status(self) -> Dict[str, Any]:
        status: Dict[str, Any] = self._client.transport.json("/trainyard/v1/" + self.name)
        return status

    def _parameter_kinds(self) -> Dict[str, str]:
        spec = self.describe().get("trainingInput", {}).get("hyperparameters", {})
        return {param["parameterName"]: param.get("type", "") for param in spec.get("params", [])}

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


def _typed(text: str, kind: Optional[str]) -> Union[int, float, str]:
    """A parameter's value, which the API has as text."""
    if kind == "INTEGER":
        return int(text)
    return float(text) if kind in ("DOUBLE", "DISCRETE") else text
