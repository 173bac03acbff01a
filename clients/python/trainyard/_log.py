"""Numbers of a training, for the curves of its job: trainyard.log(step=3, loss=0.21).

In a job they go into the file that cloudml-hypertune writes, which the job's supervisor reads whenever it was written.
Elsewhere they go into the file trainyard-metrics.jsonl of the working directory, in the same form.

It uses only the standard library of Python 3.7 and later, because a job that has not installed the client gets this
file as its module `trainyard`.
"""

import json
import os
import threading
import time
import warnings
from typing import Any, Dict, Optional

_OF_JOBS = "/tmp/hypertune/output.metrics"
_ELSEWHERE = "trainyard-metrics.jsonl"
# The supervisor keeps what it has read, and reads at most 4 MiB of the file: in a job, the newest lines are enough.
_BYTES_MAX = 1 << 20

_steps: Dict[str, int] = {}
_lock = threading.Lock()


def log(step: Optional[int] = None, **values: Any) -> None:
    """Adds a point to the curve of each name: log(step=3, loss=0.21, **{"val/loss": 0.3}).

    A value is anything that float() takes, such as a tensor with one element. Without a step, a name counts its own
    calls, from 0. A file that cannot be written is a warning and does not end the training.
    """
    numbers = {}
    for name, value in values.items():
        try:
            numbers[name] = float(value)
        except (TypeError, ValueError):
            raise TypeError("trainyard.log: %s is %r, which is not a number" % (name, value)) from None
    with _lock:
        by_step: Dict[int, Dict[str, str]] = {}
        for name, number in numbers.items():
            at = _steps.get(name, -1) + 1 if step is None else int(step)
            _steps[name] = at
            by_step.setdefault(at, {})[name] = repr(number)
        lines = "".join(_line(at, texts) for at, texts in by_step.items())
        try:
            _append(_path(), lines.encode())
        except OSError as error:
            warnings.warn("trainyard.log: %s" % error, stacklevel=2)


def _line(step: int, texts: Dict[str, str]) -> str:
    return json.dumps({"timestamp": time.time(), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0"), **texts,
                       "global_step": str(step), "checkpoint_path": ""}) + "\n"


def _path() -> str:
    named = os.environ.get("CLOUD_ML_HP_METRIC_FILE")
    return named or (_OF_JOBS if "CLOUD_ML_JOB_ID" in os.environ else _ELSEWHERE)


def _append(path: str, lines: bytes) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "ab", buffering=0) as file:
        file.write(lines)  # at once: other processes may add lines
        size = file.tell()
    if size > _BYTES_MAX and path != _ELSEWHERE:
        with open(path, "rb") as file:
            file.seek(-_BYTES_MAX // 2, os.SEEK_END)
            newest = file.read().partition(b"\n")[2]
        with open(path + ".new", "wb") as file:
            file.write(newest)
        os.replace(path + ".new", path)
