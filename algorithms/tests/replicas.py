"""The replicas of a distributed XGBoost job, by real processes on loopback addresses, and data for them."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).parents[1]
SECONDS_MAX = 90


def config(kind: str, index: int, port: int, workers: int = 2, master: str = "chief") -> str:
    addresses = [f"127.0.0.{3 + each}:{port}" for each in range(workers)]
    spec = {master: [f"127.0.0.2:{port}"], "worker": addresses}
    return json.dumps({"cluster": spec, "task": {"type": kind, "index": index}, "environment": "cloud"})


class Job:
    """The replicas of a job, as the service would start them."""

    def __init__(self, folder: Path, args: list[str], workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.2", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.args = [*args, f"--job-dir={folder / 'job'}"]
        self.workers = workers
        self.replicas: list[subprocess.Popen[str]] = []

    def start(self, rank: int) -> subprocess.Popen[str]:
        kind = "worker" if rank else "chief"
        temporary = self.folder / "temporary"  # of a replica that is killed something is left there
        temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "TF_CONFIG": config(kind, max(rank - 1, 0), self.port, self.workers),
            "CLOUD_ML_JOB_ID": "job",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(PACKAGE),
            "TMPDIR": str(temporary),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "trainyard_algorithms.xgboost_dist", *self.args],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.replicas.append(process)
        return process

    def end(self) -> None:
        for process in self.replicas:
            process.kill()
            process.communicate()


def write_csv(path: Path, target: np.ndarray, features: np.ndarray) -> None:
    np.savetxt(path, np.column_stack([target, features]), delimiter=",", fmt="%.6g")


def data(rows: int, seed: int, few_values: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 6))
    if few_values:
        features = np.round(features * 4) / 4
    target = (features[:, 0] + features[:, 1] * features[:, 2] + rng.normal(size=rows) * 0.3 > 0).astype(int)
    return target, features


ARGS = ["--objective=binary:logistic", "--num_boost_round=12", "--max_depth=4", "--eval_metric=auc,logloss"]


def run(jobs: list[Job], folder: Path, args: list[str], workers: int = 2) -> list[str]:
    """The replicas' logs; all have to end with status 0."""
    job = Job(folder, args, workers)
    jobs.append(job)
    processes = [job.start(rank) for rank in range(workers + 1)]
    logs = [process.communicate(timeout=SECONDS_MAX)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(logs)
    return logs
