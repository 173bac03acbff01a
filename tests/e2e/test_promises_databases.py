"""Damaged and lost databases: what can be made anew is, and no server takes lost jobs for none."""

import contextlib
import sqlite3
import subprocess

import pytest

from trainyard_server import PROGRAM, Server, wait_for


@pytest.fixture
def server(tmp_path):
    served = Server(tmp_path / "data")
    assert served.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    yield served
    served.stop()


def submit(server, job_id):
    server.submit(job_id, pythonModule="a.b", packageUris=["gs://packages/probe.tar.gz"])


def submit_all(server, *job_ids):
    assert server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).ok
    server.upload("packages", "probe.tar.gz", b"x")
    for job_id in job_ids:
        submit(server, job_id)
        server.cancel(job_id)
        server.wait(job_id)
        assert server.log_entries(job_id)


def serve(server):
    return subprocess.run([PROGRAM, "serve", "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)


def recover(server):
    done = subprocess.run([PROGRAM, "admin", "recover", "--data", server.data], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stderr


def uids(server):
    with contextlib.closing(sqlite3.connect(server.data / "trainyard.db")) as connection:
        return [row[0] for row in connection.execute("SELECT uid FROM jobs ORDER BY uid")]


def ids(server):
    return {job["jobId"] for job in server.request("GET", "/v1/projects/p/jobs").json().get("jobs", [])}


def remove(server, name):
    for file in server.data.glob(name + "*"):
        file.unlink()


def spoil(server, name, page=0):
    with open(server.data / name, "r+b") as file:
        file.seek(page * 4096)
        file.write(b"x" * 4096)


def test_figures_and_logs_are_put_aside_and_made_anew(server):
    submit_all(server, "old")
    server.stop()
    for name in ("logs.db", "metrics.db"):
        spoil(server, name)
    server.start()
    for name in ("logs.db", "metrics.db"):
        assert len(list(server.data.glob(name + ".damaged-*"))) == 1
        assert f"{name} is damaged (" in server.stderr() and "made anew" in server.stderr()
    assert server.get("old")["state"] == "CANCELLED" and server.log_entries("old") == []
    submit(server, "new")
    wait_for(lambda: server.log_entries("new") or None, server.stderr)


def test_logs_without_their_rows_are_put_aside_too(server):
    submit_all(server, "old")
    server.stop()
    size = (server.data / "logs.db").stat().st_size
    with open(server.data / "logs.db", "r+b") as file:  # all but the page that has the schema
        file.seek(16 << 10)
        file.write(b"x" * (size - (16 << 10)))
    server.start()
    assert len(list(server.data.glob("logs.db.damaged-*"))) == 1
    submit(server, "new")
    wait_for(lambda: server.log_entries("new") or None, server.stderr)


def test_a_missing_database_of_jobs_is_not_made_anew_in_silence(server):
    submit_all(server, "one", "two")
    last = uids(server)[-1]
    server.kill()
    remove(server, "trainyard.db")
    refused = serve(server)
    assert refused.returncode == 1
    for said in ("trainyard.db is missing", f"jobs up to number {last} (p/two)", f"trainyard admin recover --data {server.data}"):
        assert said in refused.stderr, refused.stderr
    assert not (server.data / "trainyard.db").exists()
    recover(server)
    server.start()
    assert ids(server) == set()
    submit(server, "three")
    assert uids(server)[-1] > last
    server.stop()
    server.start()  # the word was taken, and nothing is missing any more
    assert ids(server) == {"three"}


def test_a_log_of_writes_that_was_cut_loses_no_job_in_silence(server):
    submit_all(server, "one")
    server.stop()  # all of it is in the database
    server.start()
    submit(server, "two")
    server.cancel("two")
    server.wait("two")
    last = uids(server)[-1]
    server.kill()
    log = server.data / "trainyard.db-wal"
    with open(log, "r+b") as file:
        file.truncate(0)
    backup = server.data / "backups/monday"
    refused = serve(server)
    assert refused.returncode == 1
    assert "has lost jobs: it ends with number" in refused.stderr and f"jobs up to number {last} (p/two)" in refused.stderr, refused.stderr
    assert not backup.exists() and "restore the last backup" in refused.stderr
    recover(server)
    server.start()
    assert ids(server) == {"one"} and "as the operator decided" in server.stderr()
    submit(server, "two")
    assert uids(server)[-1] > last


def test_what_can_be_read_of_a_damaged_database_is_taken_over(server, tmp_path):
    submit_all(server, *(f"job_{number}" for number in range(12)))
    assert server.trainyard("admin", "backup", server.data / "backups/monday", "--data", server.data).returncode == 0
    known = ids(server)
    server.stop()
    before = (server.data / "trainyard.db").read_bytes()
    spoil(server, "trainyard.db", len(before) // 4096 // 2)
    assert "trainyard.db is damaged" in recover(server)
    aside, = server.data.glob("trainyard.db.damaged-*")
    assert aside.stat().st_size == len(before)
    server.start()
    assert ids(server) <= known
    server.stop()

    spoil(server, "trainyard.db")  # without its first page nothing can be read
    refused = serve(server)
    for said in ("trainyard.db is damaged (", "backups/monday", "trainyard admin recover"):
        assert said in refused.stderr, refused.stderr
    again = subprocess.run([PROGRAM, "admin", "recover", "--data", server.data], capture_output=True, text=True, timeout=60)
    assert again.returncode == 1 and "backups/monday" in again.stderr, again.stderr


@pytest.mark.parametrize("name", ["objects.db", "access.db", "studies.db"])
def test_others_are_refused_with_what_to_do(server, name):
    server.stop()
    spoil(server, name)
    refused = serve(server)
    assert refused.returncode == 1
    assert f"{name} is damaged (" in refused.stderr and f"trainyard admin recover --data {server.data}" in refused.stderr, refused.stderr


def test_nobody_recovers_what_a_server_has(server):
    done = subprocess.run([PROGRAM, "admin", "recover", "--data", server.data], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "stop it first" in done.stderr


def test_damage_that_a_reader_meets_is_said_once(server):
    """An index is damaged: the file opens, and lines are stored, but whoever lists them gets an error."""
    submit_all(server, "old")
    with sqlite3.connect(server.data / "logs.db") as database:
        page_bytes = database.execute("PRAGMA page_size").fetchone()[0]
        root, = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunks_by_job'").fetchone()
    database.close()
    server.stop()
    with open(server.data / "logs.db", "r+b") as file:
        file.seek((root - 1) * page_bytes)
        file.write(b"x" * page_bytes)
    server.start()
    for _ in range(2):
        server.request("POST", "/v2/entries:list", json={"resourceNames": ["projects/p"], "filter": 'resource.labels.job_id="old"'})
    assert server.stderr().count("logs.db is damaged (") == 1 and "Restart the server" in server.stderr()
    server.stop()
    server.start()
    assert len(list(server.data.glob("logs.db.damaged-*"))) == 1
