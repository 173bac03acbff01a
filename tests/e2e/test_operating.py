"""Operating a server: draining, readiness, backups under load, restore elsewhere, what a machine lacks."""

import json
import os
import pathlib
import signal
import subprocess
import threading

import pytest
import requests

from trainyard_server import PROGRAM, Server, end_supervisors, wait_for

LONG = bool(os.environ.get("TRAINYARD_LONG"))


def admin(server, *words, data=None):
    return subprocess.run([PROGRAM, "admin", *words, "--data", str(data or server.data)], capture_output=True, text=True, timeout=120,
                          env={name: value for name, value in os.environ.items() if name != "TRAINYARD_SERVER"})


def status(server):
    shown = admin(server, "status", "--format=json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def is_running(job):
    return job["state"] == "RUNNING"


def waiting_reason(server, job_id):
    shown = server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}").json()
    return shown.get("waiting", {}).get("reason", "")


def test_draining_starts_nothing_new_and_outlives_the_server(make_server, submit_sleeper):
    server = make_server()
    submit_sleeper(server, "runs")
    server.wait("runs", is_running)
    said = admin(server, "drain")
    assert said.returncode == 0 and "new jobs wait" in said.stderr, said
    submit_sleeper(server, "waits")
    wait_for(lambda: "draining" in waiting_reason(server, "waits") or None, lambda: waiting_reason(server, "waits"))
    reason = waiting_reason(server, "waits")
    assert "trainyard admin drain --off" in reason and "turned it on" in reason
    assert [job["jobId"] for job in status(server)["running"]] == ["runs"]
    assert server.get("runs")["state"] == "RUNNING"

    server.kill()
    server.start()
    assert status(server)["drain"]["on"]
    assert server.get("waits")["state"] == "QUEUED"
    server.wait("runs", is_running)

    waiter = subprocess.Popen([PROGRAM, "admin", "drain", "--wait", "--data", str(server.data)], stderr=subprocess.PIPE, text=True)
    lines = [waiter.stderr.readline() for _ in range(2)]
    assert "Waiting: 1 job is running: runs" in lines[1], lines
    server.cancel("runs")
    assert waiter.wait(60) == 0
    assert "No job is running any more." in waiter.stderr.read()
    assert server.get("waits")["state"] == "QUEUED"

    assert admin(server, "drain", "--off").returncode == 0
    server.wait("waits", is_running)
    server.cancel("waits")
    server.wait("waits")


@pytest.fixture
def submit_sleeper(upload):
    uploaded = {}

    def submit(server, job_id):
        if server.data not in uploaded:
            uploaded[server.data] = upload(server, "probe")
        server.submit(job_id, packageUris=[uploaded[server.data]], pythonModule="probe.task", args=["print", "begun", "forever"])

    return submit


def test_readiness_and_figures_have_a_listener_of_their_own(make_server):
    server = make_server("--metrics-listen", "127.0.0.1:0")
    for url in (server.url, server.presence["metrics_url"]):
        assert requests.get(url + "/healthz", timeout=10).text == "ok\n"
        ready = requests.get(url + "/readyz", timeout=10)
        assert ready.status_code == 200, ready.text
        assert {check["name"] for check in ready.json()["checks"]} == {"recovery", "disk", "store", "loop", "drain"}
    metrics = requests.get(server.presence["metrics_url"] + "/metrics", timeout=10).text
    assert "trainyard_jobs" in metrics and "job=" not in metrics and "trainyard_replica" not in metrics
    assert requests.get(server.presence["metrics_url"] + "/v1/projects/p/jobs", timeout=10).status_code == 404
    admin(server, "drain")
    drained = requests.get(server.url + "/readyz", timeout=10)
    wait_for(lambda: "jobs are accepted and wait" in requests.get(server.url + "/readyz", timeout=10).text or None, lambda: drained.text)
    for path in ("/readyz", "/trainyard/v1/admin/status"):
        assert requests.get(server.replica_url + path, timeout=10).status_code == 403


def test_reload_says_what_it_read(server):
    said = admin(server, "reload")
    assert said.returncode == 0, said.stderr
    assert "Reloaded" in said.stderr or "no files to reload" in said.stderr


class Load:
    """Creates jobs, uploads objects, and lets people in and out until it is told to stop; knows what was answered."""

    def __init__(self, server, package):
        self.package = package
        self.server, self.jobs, self.objects, self.failed, self.ends = server, [], {}, [], threading.Event()
        self.tokens, self.revoked = {}, {}  # text -> principal
        self.threads = [threading.Thread(target=each) for each in (self.create, self.upload, self.let_in)]
        for thread in self.threads:
            thread.start()

    def create(self):
        number = 0
        while not self.ends.is_set():
            answer = self.server.create(f"load_{number}", packageUris=[self.package], pythonModule="probe.task", args=["print", "x"])
            (self.jobs if answer.ok else self.failed).append(f"load_{number}" if answer.ok else answer.text)
            number += 1

    def upload(self):
        number = 0
        while not self.ends.is_set():
            # Every other one is replaced again and again, while the backup is made, too.
            name, content = f"replaced/{number % 50}" if number % 2 else f"once/{number}", f"content {number}".encode()
            answer = self.server.request("POST", "/upload/storage/v1/b/load/o", params={"uploadType": "multipart"}, headers={
                "Content-Type": "multipart/related; boundary=b"}, data=b"--b\r\nContent-Type: application/json\r\n\r\n" + json.dumps(
                    {"name": name, "contentType": "text/x-load", "metadata": {"number": str(number)}}).encode()
                + b"\r\n--b\r\nContent-Type: text/x-load\r\n\r\n" + content + b"\r\n--b--")
            if answer.ok:
                self.objects[name] = number
            else:
                self.failed.append(answer.text)
            number += 1

    def let_in(self):
        number = 0
        while not self.ends.is_set():
            principal = f"user:person{number}@example.com"
            made = self.server.request("POST", "/trainyard/v1/tokens", json={"principal": principal, "roles": ["roles/ml.viewer"], "projects": ["p"]})
            if not made.ok:
                self.failed.append(made.text)
            elif number % 2:
                self.tokens[made.json()["text"]] = principal
            else:
                self.server.request("DELETE", "/trainyard/v1/tokens/" + made.json()["token"]["id"]).raise_for_status()
                self.revoked[made.json()["text"]] = principal
            number += 1

    def has_begun(self):
        return len(self.jobs) > (2000 if LONG else 30) and len(self.objects) >= 30 and min(len(self.tokens), len(self.revoked)) >= 5

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def audit_lines(data):
    return {line for file in (data / "audit").glob("*.jsonl") for line in file.read_text().splitlines()}


def test_a_backup_under_load_has_all_that_was_answered_before(make_server, tmp_path, environments, packages):
    server = make_server("--auth", "on")
    assert server.request("POST", "/storage/v1/b", json={"name": "load"}, params={"project": "p"}).ok
    package = server.upload("load", "probe.tar.gz", packages["probe"].read_bytes())
    server.submit("ended", packageUris=[package], pythonModule="probe.task", args=["print", "said"])
    server.wait("ended")
    said = server.texts("ended")
    admin(server, "drain")  # so that jobs of the load need no time of this machine
    load = Load(server, package)
    try:
        wait_for(lambda: load.has_begun() or None, lambda: str(load.failed[:3]))
        jobs, objects, tokens, revoked = list(load.jobs), dict(load.objects), dict(load.tokens), dict(load.revoked)
        audited = audit_lines(server.data)
        made = admin(server, "backup", str(tmp_path / "backup"))
        assert made.returncode == 0, made.stderr
        assert "Not included" in made.stderr
    finally:
        load.stop()
    assert not load.failed, load.failed[:3]
    assert len(load.jobs) > len(jobs), "creates went on"
    manifest = json.loads((tmp_path / "backup/backup.json").read_text())
    assert int(manifest["unfinishedJobs"]) >= len(jobs)
    assert not (tmp_path / "backup/unfinished-backup").exists()

    again = admin(server, "backup", str(tmp_path / "backup"))
    assert again.returncode == 1 and "does not exist yet" in again.stderr

    restored = tmp_path / "restored"
    put_back = admin(server, "restore", str(tmp_path / "backup"), data=restored)
    assert put_back.returncode == 0, put_back.stderr
    assert "had not finished" in put_back.stderr
    refused = admin(server, "restore", str(tmp_path / "backup"), data=restored)
    assert refused.returncode == 1 and "does not exist yet" in refused.stderr
    server.stop()

    (restored / "environments").rename(tmp_path / "environments-restored")
    (restored / "drain.json").write_text('{"on": true}')  # the order is not in the backup
    assert audited <= audit_lines(restored)
    other = Server(restored, "--auth", "on", environments=environments)
    try:
        for job in jobs:
            assert other.get(job)["jobId"] == job
        assert other.texts("ended") == said and "said" in said
        for text, principal in tokens.items():
            shown = other.request("GET", "/trainyard/v1/whoami", token=text).json()
            assert (shown["principal"], shown["roles"]) == (principal, [{"project": "p", "roles": ["roles/ml.viewer"]}])
        for text in list(revoked)[:5]:  # further ones would be slowed down
            assert other.request("GET", "/trainyard/v1/whoami", token=text).status_code == 401
        for name, number in objects.items():
            path = f"/storage/v1/b/load/o/{name.replace('/', '%2F')}"
            shown = other.request("GET", path).json()
            content = other.request("GET", path, params={"alt": "media"}).text
            kept = int(content.removeprefix("content "))
            assert kept == number or (kept > number and name.startswith("replaced/")), (name, number, content)
            if name.startswith("once/") or "metadata" in shown:  # docs/operators.md: the record of what replaced one may be missing
                assert (shown["contentType"], shown["metadata"]) == ("text/x-load", {"number": str(kept)}), "the records hold for the copies"
    finally:
        other.stop()
        end_supervisors(restored)


def test_a_backup_that_is_killed_is_marked_and_can_be_made_again(make_server, tmp_path):
    (tmp_path / "backups").mkdir(mode=0o700)  # not around the data directory: jobs see nothing of it
    server = make_server("--backup-dir", str(tmp_path / "backups"))  # a request over TCP may name no other
    for number in range(40):
        server.upload("load", f"o{number}", b"x" * 1000)
    server.upload("load", "large", os.urandom(8 << 20))
    folder = tmp_path / "backups/one"
    begun = server.request("POST", "/trainyard/v1/admin/backup", json={"directory": str(folder), "copyObjects": True})
    assert begun.ok, begun.text
    wait_for(lambda: (folder / "unfinished-backup").exists() or (folder / "backup.json").exists() or None, lambda: str(folder))
    server.kill()
    if (folder / "unfinished-backup").exists():  # else it was faster than the kill
        refused = admin(server, "restore", str(folder), data=tmp_path / "restored")
        assert refused.returncode == 1 and "unfinished backup" in refused.stderr
        assert not (tmp_path / "restored").exists()
        server.start()
        assert admin(server, "backup", str(folder)).returncode == 0
    put_back = admin(server, "restore", str(folder), data=tmp_path / "restored")
    assert put_back.returncode == 0, put_back.stderr


def test_a_restored_job_does_not_run_beside_the_old_one(make_server, tmp_path, environments, submit_sleeper):
    server = make_server()
    submit_sleeper(server, "runs")
    server.wait("runs", is_running)
    server.wait_for_text("runs", "begun")
    assert admin(server, "backup", str(tmp_path / "backup")).returncode == 0
    restored = tmp_path / "restored"
    assert admin(server, "restore", str(tmp_path / "backup"), data=restored).returncode == 0
    server.stop()  # its replica lives on
    (restored / "environments").rename(tmp_path / "environments-restored")
    other = Server(restored, environments=environments)
    try:
        assert "1 unfinished jobs" in other.stderr()
        assert not list((restored / "attempts").iterdir()), "nothing is started while the old one lives"
        assert other.get("runs")["state"] == "RUNNING"
        end_supervisors(server.data)
        wait_for(lambda: list((restored / "attempts").iterdir()) or None, other.stderr)
        attempts = [path.name for path in (restored / "attempts").iterdir()]
        assert len(attempts) == 1 and attempts[0].endswith("-2"), attempts
        other.wait("runs", is_running)
        other.cancel("runs")
        other.wait("runs")
    finally:
        other.stop()
        end_supervisors(restored)


def test_a_stopped_restore_is_no_data_directory(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "restore-unfinished").write_text("")
    refused = subprocess.run([PROGRAM, "serve", "--data", str(data), "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "is not complete" in refused.stderr


def test_doctor_with_and_without_a_server(make_server, tmp_path):
    alone = admin(None, "doctor", "--format=json", data=tmp_path / "nothing")
    report = json.loads(alone.stdout)
    assert alone.returncode == (0 if report.get("canRunJobs") else 1)
    rows = {row["what"]: row for row in report["rows"]}
    assert {"data directory", "port", "user namespaces", "cgroups", "lingering", "accelerators", "containers", "runtimes", "disk space",
            "file system", "disk writes", "clock", "certificate", "/gcs"} <= rows.keys()
    assert all(row["state"] == "OK" or row["next"] for row in rows.values())
    assert not (tmp_path / "nothing").exists(), "it leaves nothing behind"

    server = make_server()
    shown = admin(server, "doctor")
    assert "server: store" in shown.stdout and server.url in shown.stdout
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(30)
    assert "server: store" not in admin(server, "doctor").stdout


def test_an_older_store_is_copied_and_a_newer_one_refused(make_server, tmp_path):
    import sqlite3
    server = make_server()
    server.stop()
    store = pathlib.Path(server.data) / "trainyard.db"
    with sqlite3.connect(store) as database:
        known = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version={known + 1}")
    refused = subprocess.run([PROGRAM, "serve", "--data", str(server.data), "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                             timeout=60)
    assert refused.returncode == 1
    assert f"schema {known + 1}, this program knows {known}" in refused.stderr
