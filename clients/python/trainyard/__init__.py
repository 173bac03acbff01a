"""Runs training programs on a Trainyard server.

    import trainyard
    job = trainyard.connect().run("train.py", args=["--epochs=3"])
    job.wait()
"""

from trainyard._client import Client, connect
from trainyard._errors import Error, JobFailed, Unreachable
from trainyard._job import Job
from trainyard._log import log
from trainyard._logs import LogLine
from trainyard._table import Table

__all__ = ["Client", "Error", "Job", "JobFailed", "LogLine", "Table", "Unreachable", "connect", "log"]
