"""What goes by its age, what an administrator deletes, and what free space decides."""

import contextlib
import json
import os
import pty
import sqlite3
import subprocess

import pytest

from trainyard_server import PROGRAM, wait_for

MIB = 1 << 20
DAY_NS = 86_400 * 10**9


def execute(server, database, statement, *values):
    """In a database of the server, which may run."""
    with contextlib.closing(sqlite3.connect(server.data / database, timeout=30)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def ids(server):
    jobs = server.request("GET", "/v1/projects/p/jobs", params={"pageSize": 100}).json().get("jobs", [])
    return {job["jobId"] for job in jobs}


def drain(server, on):
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": on}).ok


def submit(server, uri, job_id, *args):
    server.submit(job_id, packageUris=[uri], pythonModule="probe.task", args=["print", "begun", *args])


def make_ended(server, *job_ids):
    """Jobs that end before they begin: nothing is started while the server drains."""
    for job_id in job_ids:
        server.submit(job_id, pythonModule="a.b", packageUris=["gs://packages/probe.tar.gz"])
    for job_id in job_ids:
        server.cancel(job_id)
    for job_id in job_ids:
        server.wait(job_id)


def command(server, *words):
    """As the server's own account types it."""
    environment = {**os.environ, "TRAINYARD_DATA": str(server.data)}
    environment.pop("TRAINYARD_SERVER", None)
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, env=environment)


def on_a_terminal(server, typed, *words):
    """The same by a person, who has typed that already."""
    person, terminal = pty.openpty()
    os.write(person, typed.encode())
    environment = {**os.environ, "TRAINYARD_DATA": str(server.data)}
    environment.pop("TRAINYARD_SERVER", None)
    done = subprocess.run([PROGRAM, *words], stdin=terminal, capture_output=True, text=True, timeout=60, env=environment)
    os.close(person)
    os.close(terminal)
    return done


def restart(server, *flags):
    server.stop()
    server.flags = flags
    server.start()


def wait_until_swept(server, gone):
    wait_for(lambda: True if not gone & ids(server) else None, lambda: f"{ids(server)} {server.stderr()[-3000:]}")
    wait_for(lambda: True if execute(server, "trainyard.db", "SELECT sum(pending) FROM removed_jobs")[0][0] == 0 else None, server.stderr)


def test_what_is_old_goes_and_the_rest_stays(make_server, upload):
    server = make_server()
    uri = upload(server, "probe")
    submit(server, uri, "runs", "forever")
    server.wait_for_text("runs", "begun")
    drain(server, True)
    server.submit("waits", pythonModule="a.b", packageUris=[uri])
    make_ended(server, "old_a", "old_b", "young", "quiet")
    assert server.log_entries("old_a") and server.log_entries("quiet")
    build = server.data / "environments/layers" / f"left-by-{os.getpid()}"
    build.mkdir(parents=True)
    os.utime(build, (1_000_000, 1_000_000))
    server.stop()
    aged = "SELECT uid FROM jobs WHERE job_id IN ('old_a', 'old_b')"
    uids = [row[0] for row in execute(server, "trainyard.db", aged)]
    execute(server, "trainyard.db", f"UPDATE jobs SET end_time = end_time - ? WHERE uid IN ({aged})", 91 * DAY_NS)
    execute(server, "logs.db", "UPDATE jobs SET last_time = last_time - ? WHERE job_id IN ('quiet', 'runs')", 31 * DAY_NS)

    server.start()  # with the default policy
    wait_until_swept(server, {"old_a", "old_b"})
    wait_for(lambda: None if server.log_entries("quiet") else True, server.stderr)
    wait_for(lambda: None if build.exists() else True, server.stderr)
    said = wait_for(lambda: next((line for line in server.stderr().splitlines() if "removed 2 jobs" in line), None), server.stderr)
    assert "that ended more than 90 days ago (" in said and "of logs), 1 log whose jobs wrote last more than 30 days ago (" in said, said
    assert ids(server) == {"runs", "waits", "young", "quiet"}
    assert server.log_entries("young") and "begun" in server.texts("runs")
    assert server.get("runs")["state"] == "RUNNING" and server.get("waits")["state"] == "QUEUED"
    assert server.get("quiet")["state"] == "CANCELLED"
    for database, table, column in (("trainyard.db", "jobs", "uid"), ("trainyard.db", "events", "uid"), ("logs.db", "jobs", "job_uid"),
                                    ("logs.db", "chunks", "job_uid"), ("metrics.db", "samples", "job_uid")):
        assert not execute(server, database, f"SELECT 1 FROM {table} WHERE {column} IN ({uids[0]}, {uids[1]})"), table
    again = server.create("old_a", pythonModule="a.b", packageUris=[uri])
    assert again.status_code == 409, again.text  # the id stays taken
    server.cancel("runs")
    server.cancel("waits")


def test_a_killed_sweep_is_finished_by_the_next_server(make_server, upload):
    server = make_server()
    uri = upload(server, "probe")
    submit(server, uri, "runs", "forever")
    server.wait_for_text("runs", "begun")
    drain(server, True)
    ended = [f"job_{number}" for number in range(40)]
    make_ended(server, *ended)
    # Many events, each slow to remove, so that the kill meets a sweep that is not through on the fastest disk.
    execute(server, "trainyard.db", "INSERT INTO events SELECT j.uid, 1000 + n.value, e.event FROM jobs j, json_each(?) n, events e "
                                    "WHERE e.uid = j.uid AND e.seq = 1 AND j.end_time IS NOT NULL", json.dumps(list(range(1000))))
    execute(server, "trainyard.db", "CREATE TRIGGER slow AFTER DELETE ON events BEGIN SELECT count(*) FROM (WITH RECURSIVE n(i) AS "
                                    "(SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n); END")
    restart(server, "--keep-jobs", "1s")
    wait_for(lambda: True if execute(server, "trainyard.db", "SELECT 1 FROM removed_jobs LIMIT 1") else None, server.stderr)
    server.kill()
    left = execute(server, "trainyard.db", "SELECT count(*) FROM events")[0][0]
    execute(server, "trainyard.db", "DROP TRIGGER slow")
    assert left > 1000, "the sweep was through before the kill"

    server.start()
    wait_until_swept(server, set(ended))
    assert ids(server) == {"runs"}
    assert not execute(server, "trainyard.db", "SELECT uid FROM events EXCEPT SELECT uid FROM jobs")
    assert len(execute(server, "trainyard.db", "SELECT 1 FROM jobs")) == 1
    wait_for(lambda: True if len(execute(server, "logs.db", "SELECT 1 FROM jobs")) == 1 else None, server.stderr)
    assert server.get("runs")["state"] == "RUNNING" and "begun" in server.texts("runs")
    server.cancel("runs")
    assert server.wait("runs")["state"] == "CANCELLED"


def test_an_administrator_deletes_a_job_that_has_ended(make_server):
    server = make_server("--auth", "on")
    developer = server.token_for("user:dev@example.com", "roles/ml.developer", "roles/storage.objectAdmin")
    drain(server, True)
    assert server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).ok
    server.upload("packages", "probe.tar.gz", b"x")
    body = {"jobId": "mine", "trainingInput": {"region": "us-central1", "pythonModule": "a.b", "packageUris": ["gs://packages/probe.tar.gz"]}}
    assert server.request("POST", "/v1/projects/p/jobs", json=body, token=developer).ok
    path = "/trainyard/v1/projects/p/jobs/mine"

    early = server.request("DELETE", path)
    assert early.status_code == 400 and early.json()["error"]["status"] == "FAILED_PRECONDITION", early.text
    assert "has not ended" in early.json()["error"]["message"]
    server.cancel("mine")
    server.wait("mine")
    assert server.request("DELETE", path, token=developer).status_code == 403  # not even its creator
    assert server.get("mine")["state"] == "CANCELLED"

    kept = on_a_terminal(server, "n\n", "jobs", "delete", "mine", "--project", "p")
    assert kept.returncode == 1 and "Do you want to continue (Y/n)?" in kept.stderr and "Aborted by user." in kept.stderr, kept
    assert server.get("mine")["state"] == "CANCELLED"
    deleted = command(server, "jobs", "delete", "mine", "--project", "p")
    assert deleted.returncode == 0 and "Deleted the job [mine]" in deleted.stderr, deleted
    assert server.request("GET", "/v1/projects/p/jobs/mine").status_code == 404
    assert not server.log_entries("mine")
    assert server.request("DELETE", path).status_code == 404
    audit = command(server, "admin", "audit", "--project", "p", "--format=json")
    lines = [line for line in json.loads(audit.stdout) if line["protoPayload"]["methodName"] == "trainyard.v1.Jobs.Delete"]
    assert [line["protoPayload"].get("status", {}).get("code", 0) for line in lines] == [5, 0, 7, 3], audit.stdout  # 3: a 400, as HTTP has it
    assert all(line["protoPayload"]["resourceName"].endswith("projects/p/jobs/mine") for line in lines)


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a tmpfs: " + mounted.stderr.decode().strip())
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def leave_free(disk, megabytes):
    (disk / "ballast").unlink(missing_ok=True)
    free = os.statvfs(disk)
    with open(disk / "ballast", "wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, free.f_bavail * free.f_frsize - megabytes * MIB)


def test_jobs_wait_for_space_and_nothing_is_stored_without(make_server, upload, disk):
    server = make_server("--queue-below-free", "120MiB", "--refuse-below-free", "40MiB", data=disk / "data")
    uri = upload(server, "probe")
    submit(server, uri, "runs", "forever")
    server.wait_for_text("runs", "begun")

    def ready():
        return server.request("GET", "/readyz")

    def disk_row():
        return next(row for row in ready().json()["checks"] if row["name"] == "disk")

    leave_free(disk, 80)
    wait_for(lambda: True if "No job begins" in server.stderr() else None, server.stderr)
    submit(server, uri, "waits")
    waiting = wait_for(lambda: server.request("GET", "/trainyard/v1/projects/p/jobs/waits").json().get("waiting"), server.stderr)
    assert "No job begins while the disk is nearly full: the disk of" in waiting["reason"] and "less than 120.0 MiB" in waiting["reason"]
    assert "It goes on when 127.5 MiB are free" in waiting["unblock"]
    assert server.get("waits")["state"] == "QUEUED"
    assert ready().status_code == 200 and "less than 120.0 MiB" in disk_row()["detail"]

    leave_free(disk, 20)
    wait_for(lambda: True if ready().status_code == 503 else None, server.stderr)
    assert not disk_row().get("ok") and "less than 40.0 MiB" in disk_row()["detail"]
    refused = wait_for(lambda: (lambda answer: answer if answer.status_code != 200 else None)(
        server.create("late", packageUris=[uri], pythonModule="probe.task")), server.stderr)
    assert refused.status_code == 429 and refused.json()["error"]["status"] == "RESOURCE_EXHAUSTED", refused.text
    assert "less than 40.0 MiB (trainyard serve --refuse-below-free)" in refused.json()["error"]["message"]
    for kind in ("media", "resumable"):
        answer = server.request("POST", "/upload/storage/v1/b/packages/o", params={"uploadType": kind, "name": "big"},
                                data=b"x" * 100 if kind == "media" else b"")
        assert answer.status_code == 507, (kind, answer.text)
    assert server.get("runs")["state"] == "RUNNING"  # and can be read, cancelled, and cleaned up after
    assert server.request("DELETE", "/storage/v1/b/packages/o/probe.tar.gz").status_code == 204

    (disk / "ballast").unlink()
    upload(server, "probe")
    assert server.wait("waits")["state"] == "SUCCEEDED"
    wait_for(lambda: True if ready().status_code == 200 else None, lambda: ready().text)
    server.cancel("runs")
    server.wait("runs")
