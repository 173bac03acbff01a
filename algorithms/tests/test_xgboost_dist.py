"""Distributed XGBoost, by real processes on loopback addresses."""

import asyncio
import json
import os
import signal
import sys
import unittest.mock
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xgboost as xgb
from replicas import ARGS, SECONDS_MAX, Job, config, data, run, write_csv
from trainyard_algorithms import arguments, paths
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.xgb import (
    checkpoints,
    cluster,
    libsvm,
    master,
    messages,
    numeric_csv,
    parameters,
    shares,
)
from trainyard_algorithms.xgb.process import Member


def by_hand(target: np.ndarray, features: np.ndarray, rounds: int = 12) -> xgb.Booster:
    params = {"objective": "binary:logistic", "max_depth": 4, "base_score": 0.5, "tree_method": "hist"}
    return xgb.train(params, xgb.DMatrix(features.astype(np.float32), target), rounds)


def auc(booster: xgb.Booster, target: np.ndarray, features: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(target, booster.predict(xgb.DMatrix(features.astype(np.float32)))))


def test_the_model_is_that_of_one_replica(tmp_path: Path, jobs: list[Job]) -> None:
    """Columns with fewer values than bins: the bins are the same, and the sums differ by rounding alone."""
    target, features = data(3000, 1, few_values=True)
    for part in range(3):  # three files for two replicas
        write_csv(tmp_path / f"train-{part}.csv", target[part::3], features[part::3])
    seen, unseen = data(800, 2, few_values=True)
    write_csv(tmp_path / "validation.csv", seen, unseen)
    paths = [
        f"--training_data_path={tmp_path}/train-*.csv",
        f"--validation_data_path={tmp_path}/validation.csv",
    ]
    logs = run(jobs, tmp_path, [*ARGS, *paths], workers=1)
    assert "2 replicas train" in logs[0]
    assert "2000 of the 3000 training rows" in logs[0]
    assert "INFO [" in logs[0], "what XGBoost prints has a level too"
    assert all(line.startswith("INFO ") for line in "".join(logs).splitlines())
    model = xgb.Booster(model_file=tmp_path / "job/model/model.bst")
    alone = by_hand(target, features)
    matrix = xgb.DMatrix(unseen.astype(np.float32))
    assert np.abs(model.predict(matrix) - alone.predict(matrix)).max() < 1e-5
    assert xgb.Booster(model_file=tmp_path / "job/model/model.json").num_boosted_rounds() == 12
    labels = (tmp_path / "job/model/deployment_config.yaml").read_text()
    accuracy = 100 * np.mean((model.predict(matrix) > 0.5) == seen)
    assert f'accuracy: "{accuracy:.4f}"' in labels
    assert 'global_step: "12"' in labels


def test_a_killed_worker_starts_again_and_the_training_goes_on(tmp_path: Path, jobs: list[Job]) -> None:
    target, features = data(6000, 3)
    write_csv(tmp_path / "train.csv", target, features)  # one file: rows are dealt
    seen, unseen = data(2000, 4)
    write_csv(tmp_path / "validation.csv", seen, unseen)
    paths = [
        f"--training_data_path={tmp_path}/train.csv",
        f"--validation_data_path={tmp_path}/validation.csv",
    ]
    args = [*ARGS, "--num_boost_round=120", "--eta=0.1", "--subsample=0.8", "--model_saving_period=5", *paths]
    job = Job(tmp_path, args, 2)
    jobs.append(job)
    master, first, second = (job.start(rank) for rank in range(3))
    assert master.stderr is not None
    lines = []
    for line in master.stderr:
        lines.append(line)
        if "Step 20," in line:
            second.send_signal(signal.SIGKILL)
            again = job.start(2)
    log = "".join(lines)
    assert master.wait(30) == 0, log
    assert first.wait(30) == 0
    assert again.wait(30) == 0
    assert "worker 1 is lost" in log
    gone_on = int(log.split("Going on after round ")[1].split(",")[0])
    assert 15 <= gone_on < 120
    steps = [int(line.split("Step ")[1].split(",")[0]) for line in log.splitlines() if "Step " in line]
    assert steps == list(range(1, 121))
    model = xgb.Booster(model_file=tmp_path / "job/model/model.bst")
    assert model.num_boosted_rounds() == 120
    params = {
        "objective": "binary:logistic",
        "max_depth": 4,
        "base_score": 0.5,
        "tree_method": "hist",
        "eta": 0.1,
        "subsample": 0.8,
    }
    alone = xgb.train(params, xgb.DMatrix(features.astype(np.float32), target), 120)
    assert abs(auc(model, seen, unseen) - auc(alone, seen, unseen)) < 0.005
    assert not list((tmp_path / "job/checkpoints").glob("round-*")), "a finished training leaves none"


def test_the_replicas_read_libsvm_and_rank_by_query(tmp_path: Path, jobs: list[Job]) -> None:
    rng = np.random.default_rng(5)
    lines = []
    for query in range(60):
        for _ in range(10):
            value = rng.normal(size=3)
            lines.append(f"{int(value[0] > 0)} qid:{query} 0:{value[0]:.4f} 2:{value[2]:.4f}\n")
    (tmp_path / "train.txt").write_text("".join(lines))
    args = ["--objective=rank:ndcg", "--num_boost_round=4", "--data_type=libsvm", "--eval_log_period=3"]
    logs = run(jobs, tmp_path, [*args, f"--training_data_path={tmp_path}/train.txt"], workers=1)
    assert "300 of the 600 training rows" in logs[0]
    assert [line.split(",")[0] for line in logs[0].splitlines() if "Step" in line] == [
        "INFO Step 3",
        "INFO Step 4",
    ]
    assert xgb.Booster(model_file=tmp_path / "job/model/model.bst").num_features() == 3


def test_fewer_rows_than_replicas_and_a_master_that_starts_again(tmp_path: Path, jobs: list[Job]) -> None:
    (tmp_path / "train.csv").write_text("0,1\n1,2\n")
    args = ["--objective=multi:softmax", "--num_boost_round=3", f"--training_data_path={tmp_path}/train.csv"]
    job = Job(tmp_path, args, 2)
    jobs.append(job)
    killed = job.start(0)
    assert killed.stderr is not None
    assert "the metrics are those of the training data." in killed.stderr.readline()
    assert "Waiting for worker 0, worker 1." in killed.stderr.readline()
    worker = job.start(1)
    assert "Worker 0 is here." in killed.stderr.readline()
    killed.terminate()
    assert killed.wait(10) == -signal.SIGTERM
    assert "there is none" in killed.stderr.read()
    master, other = job.start(0), job.start(2)
    logs = [process.communicate(timeout=SECONDS_MAX)[1] for process in (master, worker, other)]
    assert [process.returncode for process in (master, worker, other)] == [0, 0, 0], "\n".join(logs)
    assert "The master is lost" in logs[1]
    assert "0 of the 2 training rows" in logs[2]
    assert "merror" in (tmp_path / "job/model/deployment_config.yaml").read_text()
    again = job.start(0)  # the workers are gone
    log = again.communicate(timeout=SECONDS_MAX)[1]
    assert again.returncode == 0, log
    assert "It was done by then." in log
    assert "Waiting for" not in log


def led(folder: Path, arguments: dict[str, object], done: list[str]) -> master.Master:
    job = master.Job(
        arguments=arguments,
        checkpoints=folder,
        output=folder,
        tag="",
        gpu=False,
        report=lambda rounds, found: done.append(f"{rounds}: {found['rmse']:.6g}"),
        publish=lambda: None,
        finish=lambda: done.append("finish"),
        keep=lambda rounds, path, found: done.append(f"keep {rounds}"),
    )
    return master.Master(cluster.Cluster(rank=0, size=3, host="127.0.0.1", port=0), job)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"hello": 1}, "Worker 0 has other arguments than the master."),
        ({"hello": 1, "arguments": {"eta": 1}}, "Worker 0 has other arguments than the master."),
        ({"hello": 3, "arguments": {}}, ""),
        ({"hello": 1, "arguments": {}, "blob": 5}, ""),
        ({"hello": 1, "arguments": {}, "blob": [5]}, ""),
        ({"hello": 1, "arguments": {"eta": "9" * messages.LINE_BYTES_MAX}}, ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_a_stranger_is_refused_and_the_job_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: object, told: str
) -> None:
    async def talk() -> str:
        here = led(tmp_path, {}, [])
        server = await asyncio.start_server(here._accept, "127.0.0.1", 0, limit=messages.LINE_BYTES_MAX)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(json.dumps(line).encode() + b"\n")
        async with asyncio.timeout(5):
            try:
                heard = await reader.read()
            except ConnectionError:  # of what it sent, not all was read
                heard = b""
        writer.close()
        server.close()
        assert here._events.empty()
        return json.loads(heard)["end"] if heard else ""

    assert asyncio.run(talk()) == told
    assert "A connection from ('127.0.0.1', " in caplog.text


def test_the_model_is_written_before_the_workers_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    here = led(tmp_path, {}, done)

    async def nothing() -> object:
        return unittest.mock.Mock()

    async def end(text: str) -> None:
        done.append(f"end {text}")

    for name, what in (("_listen", nothing), ("_gather", nothing), ("_train", nothing), ("_end", end)):
        monkeypatch.setattr(here, name, what)
    before = signal.getsignal(signal.SIGTERM)
    asyncio.run(here.run())
    signal.signal(signal.SIGTERM, before)
    assert done == ["finish", "end "]


def test_a_round_that_takes_too_long_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last checkpoint counts, and its metrics are the last that a tuner hears."""
    monkeypatch.setattr(master, "stopping", lambda: True)
    monkeypatch.setattr(master, "LEAVE_SECONDS", 0.01)
    done: list[str] = []
    here = led(tmp_path, {"eval_log_period": 1}, done)
    booster = xgb.train({}, xgb.DMatrix(np.eye(4), [0, 1, 0, 1]), 5)
    checkpoints.save(booster, tmp_path, 5)
    own = unittest.mock.Mock()

    async def follow() -> None:
        for rounds in (5, 6):
            here._of_own({"round": rounds, "metrics": {"rmse": 1 / rounds}})
        here._events.put_nowait(master.Event(0, {}))
        await here._follow(own)

    with pytest.raises(messages.Lost, match="takes too long"):
        asyncio.run(follow())
    own.stop.assert_called()
    here._keep()
    assert done == ["5: 0.2", "6: 0.166667", "6: 0.2", "keep 5"]


def test_a_silent_peer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "SILENT_SECONDS_MAX", 0.05)

    async def talk(beats: float) -> str:
        monkeypatch.setattr(messages, "BEAT_SECONDS", beats)
        peers: list[messages.Connection] = []
        here = messages.Connection

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peers.append(here(reader, writer))

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        connection = here(*await asyncio.open_connection(*server.sockets[0].getsockname()))
        try:
            async with asyncio.timeout(0.3):
                await connection.receive()
        except messages.Lost as error:
            return str(error)
        except TimeoutError:
            return "alive"
        finally:
            for each in (connection, *peers):
                each.close()
            server.close()
        return ""

    assert asyncio.run(talk(0.01)) == "alive"
    assert "nothing was heard" in asyncio.run(talk(10))


def test_bad_data_of_one_replica_end_all_with_its_text(tmp_path: Path, jobs: list[Job]) -> None:
    (tmp_path / "train-0.csv").write_text("1,2\n0,3\n")
    (tmp_path / "train-1.csv").write_text("1,2\n0,three\n")
    job = Job(tmp_path, [*ARGS, f"--training_data_path={tmp_path}/train-*.csv"], 1)
    jobs.append(job)
    for process in [job.start(0), job.start(1)]:
        log = process.communicate(timeout=SECONDS_MAX)[1]
        assert process.returncode == 1
        assert log.splitlines()[-1] == f"{tmp_path}/train-1.csv, row 2, column 2: 'three' is not a number."
        assert "Traceback" not in log


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{}", "needs a master and at least one worker"),
        ("nonsense", "not of the form"),
        ('{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}', "at least one worker"),
        ('{"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}}', "no parameter servers"),
        (
            '{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": "evaluator", "index": 0}}',
            "evaluator",
        ),
        (
            '{"cluster": {"chief": ["a:x"], "worker": ["b:1"]}, "task": {"type": "chief", "index": 0}}',
            "not of the form",
        ),
    ],
)
def test_clusters_that_cannot_train(text: str, part: str) -> None:
    with pytest.raises(UserError, match=part):
        cluster.parse({"TF_CONFIG": text})


@pytest.mark.parametrize("master", ["chief", "master"])
def test_ranks(master: str) -> None:
    found = cluster.parse({"TF_CONFIG": config("worker", 1, 2222, 2, master)})
    assert found == cluster.Cluster(rank=2, size=3, host="127.0.0.2", port=2222)
    assert cluster.parse({"TF_CONFIG": config(master, 0, 2222, 2, master)}).rank == 0


def test_files_are_dealt_whole_and_few_files_by_rows(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.csv" for name in "abcde"]
    assert [shares.dealt(paths, rank, 2)[0] for rank in range(2)] == [paths[0::2], paths[1::2]]
    assert shares.dealt(paths[:2], 1, 3) == (paths[:2], numeric_csv.Deal(1, 3))
    for path in paths[:2]:
        path.write_text("".join(f"{row},{row}\n" for row in range(5)))
    found = []
    for rank in range(3):
        mine, deal = shares.dealt(paths[:2], rank, 3)
        found.append([int(each) for _, target in numeric_csv.chunks(mine, 2, deal) for each in target])
    assert found == [[0, 3, 1, 4], [1, 4, 2], [2, 0, 3]]


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
def test_a_replica_copies_the_files_that_are_dealt_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    copied: list[str] = []

    def local(name: str) -> Path:
        copied.append(Path(name).name)
        return Path(name)

    monkeypatch.setattr(shares, "local", local)
    for number in range(5):
        (tmp_path / f"{number}").write_text("1,2\n" if kind == "csv" else "1 0:2\n")
    given = [f"--training_data_path={tmp_path}/?", "--objective=reg:linear", "--job-dir=x"]
    args = arguments.parse("xgboost_dist", [*given, f"--data_type={kind}"])
    shares.read(args, parameters.settings(args, "xgboost_dist"), 1, 3)
    assert set(copied) == {"1", "4"}


def test_a_child_copies_into_its_parents_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed, so it removes nothing, and the next one finds what is there."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho "{{\\"folder\\": \\"${paths.TEMPORARY}\\"}}"\n')
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))

    async def said() -> dict[str, object]:
        member = await Member.start({})
        try:
            return await member.receive()
        finally:
            await member.kill()

    assert asyncio.run(said()) == {"folder": str(paths.temporary())}


def test_a_child_has_the_log_that_its_parent_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that the supervisor opened: TRAINYARD_LOG_FD."""
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho line > "/proc/self/fd/$LOG"\n')
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    (tmp_path / "log").touch()

    async def run() -> None:
        member = await Member.start({})
        await member.receive()
        await member.kill()

    with (tmp_path / "log").open("w") as log:
        os.set_inheritable(log.fileno(), True)
        monkeypatch.setenv("LOG", str(log.fileno()))
        asyncio.run(run())
    assert (tmp_path / "log").read_text() == "line\n"


def test_a_replica_holds_its_own_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1,2,3,4\n" * 3000)
    owners = {}
    for block in numeric_csv.chunks([path], 4, numeric_csv.Deal(1, 3)):
        for each in block:
            while isinstance(each.base, np.ndarray):
                each = each.base
            owners[id(each)] = each
    assert sum(each.nbytes for each in owners.values()) == 1000 * 4 * 4


def test_little_data_are_read_once_and_much_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("1,2\n0,3\n")
    readings = []

    def start() -> Iterator[numeric_csv.Chunk]:
        readings.append(1)
        return numeric_csv.chunks([path], 2)

    for held, times in ((1 << 20, 1), (4, 3)):
        monkeypatch.setattr(numeric_csv, "HELD_BYTES", held)
        readings.clear()
        again = numeric_csv.looked_at(start, lambda features, target: None)
        assert [list(target) for _ in range(2) for _, target in again()] == [[1, 0], [1, 0]]
        assert len(readings) == times


def test_queries_are_dealt_whole(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:7 0:1\n0 qid:7 0:2\n1 qid:9 1:3\n1 qid:4 0:4 # note\n")
    rows = [libsvm.load([path], numeric_csv.Deal(rank, 2)) for rank in range(2)]
    assert [each.features.toarray().tolist() for each in rows] == [[[1, 0], [2, 0], [4, 0]], [[0, 3]]]
    assert rows[0].groups is not None
    assert rows[0].groups.tolist() == [0, 0, 2]


def test_bad_libsvm_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 0:1\n0 one:2\n")
    with pytest.raises(UserError, match="data.txt, row 2: 'one:2' is no INDEX:VALUE"):
        libsvm.load([path])


def test_checkpoints_are_kept_few_and_belong_to_a_training(tmp_path: Path) -> None:
    assert not checkpoints.begin(tmp_path, {"job": "a"})
    booster = xgb.train({}, xgb.DMatrix(np.eye(4), [0, 1, 0, 1]), 1)
    for rounds in (5, 10, 15):
        checkpoints.save(booster, tmp_path, rounds)
    assert checkpoints.latest(tmp_path) == (15, tmp_path / "round-000000015.ubj")
    assert len(list(tmp_path.glob("round-*"))) == checkpoints.KEPT
    assert checkpoints.begin(tmp_path, {"job": "a"})
    checkpoints.finish(tmp_path)
    checkpoints.clear_models(tmp_path)
    assert checkpoints.begin(tmp_path, {"job": "a"})
    assert checkpoints.finished(tmp_path)
    assert not checkpoints.begin(tmp_path, {"job": "b"})
    assert not checkpoints.finished(tmp_path)
    assert checkpoints.latest(tmp_path) is None


def test_both_algorithms_take_the_same_parameters() -> None:
    """All but what one replica alone can do."""
    tables = [
        {each["name"]: each for each in arguments.table(name)["arguments"]}
        for name in ("boosted_trees", "xgboost_dist")
    ]
    shared = set(tables[0]) & set(tables[1])
    own = {"preprocess", "test_data_path", "validation_split", "test_split", "early_stopping_rounds"}
    assert set(tables[0]) - shared == own
    for name in shared - {"training_data_path", "validation_data_path"}:
        assert {**tables[0][name], "help": ""} == {**tables[1][name], "help": ""}
