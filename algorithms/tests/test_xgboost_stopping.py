"""Distributed XGBoost that is told to stop, by real processes."""

import os
import signal
from pathlib import Path

import pytest
import xgboost as xgb
from replicas import ARGS, SECONDS_MAX, Job, data, write_csv


def begun(jobs: list[Job], folder: Path, rounds: int) -> tuple[Job, list[str]]:
    """A job of three replicas in which some rounds are done, and the master's log until then."""
    target, features = data(500, 6)
    write_csv(folder / "train.csv", target, features)
    args = [*ARGS, f"--num_boost_round={rounds}", f"--training_data_path={folder}/train.csv"]
    job = Job(folder, [*args, "--model_saving_period=1000000"], 2)
    jobs.append(job)
    lines: list[str] = []
    master, _, _ = (job.start(rank) for rank in range(3))
    assert master.stderr is not None
    for line in master.stderr:
        lines.append(line)
        if "Step 7," in line:
            break
    return job, lines


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_job_that_is_told_to_stop_has_the_model_of_its_rounds(
    tmp_path: Path, jobs: list[Job], order: tuple[int, ...]
) -> None:
    job, lines = begun(jobs, tmp_path, 1_000_000)
    for rank in order:  # as the service does: to the process group
        os.killpg(job.replicas[rank].pid, signal.SIGTERM)
    logs = [process.communicate(timeout=SECONDS_MAX)[1] for process in job.replicas]
    assert [process.returncode for process in job.replicas] == [-signal.SIGTERM] * 3, "\n".join(logs)
    steps = [line for line in "".join([*lines, logs[0]]).splitlines() if "Step " in line]
    model = xgb.Booster(model_file=tmp_path / "job/model/model.bst")
    assert steps[-1].startswith(f"INFO Step {model.num_boosted_rounds()},")
    labels = (tmp_path / "job/model/deployment_config.yaml").read_text()
    assert "auc:" in labels
    assert f'global_step: "{model.num_boosted_rounds()}"' in labels
    assert os.listdir(tmp_path / "temporary") == []


def test_a_worker_that_is_told_to_stop_leaves_and_the_training_goes_on(
    tmp_path: Path, jobs: list[Job]
) -> None:
    """As under maintenance."""
    job, lines = begun(jobs, tmp_path, 100)
    master, first, second = job.replicas
    os.killpg(second.pid, signal.SIGTERM)
    assert second.wait(30) == -signal.SIGTERM
    again = job.start(2)
    logs = [process.communicate(timeout=SECONDS_MAX)[1] for process in (master, first, again)]
    assert [each.returncode for each in (master, first, again)] == [0, 0, 0], "\n".join(logs)
    log = "".join([*lines, logs[0]])
    left = int(log.split("The replicas left after round ")[1].split(".")[0])
    assert f"Going on after round {left}," in log
    steps = [int(line.split("Step ")[1].split(",")[0]) for line in log.splitlines() if "Step " in line]
    assert steps == list(range(1, 101))


def test_a_master_that_is_told_to_stop_is_waited_for(tmp_path: Path, jobs: list[Job]) -> None:
    job, _ = begun(jobs, tmp_path, 100)
    killed, first, second = job.replicas
    os.killpg(killed.pid, signal.SIGTERM)
    assert killed.wait(30) == -signal.SIGTERM
    rounds = xgb.Booster(model_file=tmp_path / "job/model/model.bst").num_boosted_rounds()
    again = job.start(0)
    logs = [process.communicate(timeout=SECONDS_MAX)[1] for process in (again, first, second)]
    assert [each.returncode for each in (again, first, second)] == [0, 0, 0], "\n".join(logs)
    assert f"Going on after round {rounds}," in logs[0]
    assert xgb.Booster(model_file=tmp_path / "job/model/model.bst").num_boosted_rounds() == 100
