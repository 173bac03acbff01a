"""Attempts whose files, supervisors or logs are not as they should be: at most one of a replica lives, nothing waits for ever, no line is lost."""

import os
import shutil
import signal
import sqlite3
import time

import pytest

from trainyard_server import processes_with, wait_for


def start(server, upload, job_id):
    """A job whose program can be told by its arguments from all others of this machine; and that program's pids."""
    marker = f"7{time.time_ns() % 10**9}"
    server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", marker, "print", "started", "forever"])
    server.wait_for_text(job_id, "started")
    return marker


def programs(marker):
    return {pid for pid, command in processes_with(marker) if "-m probe.task" in command}


def supervisor_of(server):
    lock = next((server.data / "attempts").glob("*/lock"))
    return int(lock.read_text()), lock.parent


def waiting(server, job_id):
    return server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}").json().get("waiting", {}).get("reason", "")


def remove_directory(folder):
    shutil.rmtree(folder)


def replace_by_a_file(folder):
    shutil.rmtree(folder)
    folder.write_text("a file")


def copy_lock(folder):
    shutil.copy(folder / "lock", folder / "copy")
    (folder / "copy").rename(folder / "lock")


@pytest.mark.parametrize("damage", [remove_directory, replace_by_a_file, copy_lock])
def test_an_attempt_that_lives_without_its_files_is_not_started_again_and_ends_with_its_job(make_server, upload, damage):
    server = make_server("--stop-grace", "0")
    marker = start(server, upload, "bare")
    before = programs(marker)
    assert before
    supervisor, folder = supervisor_of(server)
    os.kill(supervisor, signal.SIGSTOP)  # it does not see what happens, and does not connect
    server.kill()
    damage(folder)
    server.start()
    server.cancel("bare")
    assert server.wait("bare")["state"] == "CANCELLED"
    assert not programs(marker) and not processes_with(str(folder))
    assert server.texts("bare").count("started") == 1


def test_a_lost_secret_ends_attempts_and_their_jobs_go_on(server, upload):
    marker = start(server, upload, "secret")
    before = programs(marker)
    server.kill()
    (server.data / "run/secret").unlink()
    server.start()
    wait_for(lambda: server.texts("secret").count("started") == 2 or None, lambda: f"{server.texts('secret')} {server.stderr()[-2000:]}")
    assert before and not before & programs(marker)
    assert any("with another secret" in text for text in server.texts("secret"))
    server.cancel("secret")
    assert server.wait("secret")["state"] == "CANCELLED"


def test_a_cancel_ends_a_job_whose_supervisor_does_nothing(make_server, upload):
    server = make_server("--stop-grace", "0")
    marker = start(server, upload, "stopped")
    os.kill(supervisor_of(server)[0], signal.SIGSTOP)
    server.cancel("stopped")
    assert server.wait("stopped")["state"] == "CANCELLED"
    assert not programs(marker)


def test_a_cancel_ends_a_job_whose_supervisor_cannot_connect(make_server, upload):
    server = make_server("--stop-grace", "0")
    (server.data / "run/attach.sock").unlink()
    server.submit("alone", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"])
    wait_for(lambda: processes_with(f"{server.data}/attempts/") or None, lambda: server.stderr()[-2000:])
    server.cancel("alone")
    assert server.wait("alone")["state"] == "CANCELLED"
    assert not processes_with(f"{server.data}/attempts/")


def test_a_moment_without_a_log_store_makes_no_hole(server, upload):
    """A chunk is refused while those behind it have been read already: they came together, after a moment in which nothing could be stored."""
    ticks, lines = 400, 3000
    server.submit("whole", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["tick", str(ticks), "count", str(lines)])
    server.wait_for_text("whole", "tick 0000003")
    spool = next((server.data / "attempts").glob("*/spool"))
    holder = sqlite3.connect(server.data / "logs.db", isolation_level=None, timeout=60)

    def stored():
        return holder.execute("SELECT coalesce(sum(next_line), 0) FROM sources").fetchone()[0]
    while "are not stored yet" not in server.stderr():
        holder.execute("BEGIN IMMEDIATE")
        before = (stored(), sum(file.stat().st_size for file in spool.iterdir()))
        wait_for(lambda: sum(file.stat().st_size for file in spool.iterdir()) > before[1] + 5000 or None, lambda: f"{before}")
        holder.execute("ROLLBACK")
        wait_for(lambda: stored() > before[0] or None, lambda: f"{before}")
        holder.execute("BEGIN IMMEDIATE")
        wait_for(lambda: True if "are not stored yet" in server.stderr() else None, server.stderr)
        holder.execute("ROLLBACK")
    holder.close()
    assert server.wait("whole")["state"] == "SUCCEEDED"
    texts = server.texts("whole", "master-replica-0")
    assert [t for t in texts if t.startswith(("tick ", "line "))] == [f"tick {n:07d}" for n in range(ticks)] + [f"line {n:07d}" for n in range(lines)]
    assert not [t for t in texts if "not in this log" in t]


def test_no_restart_begins_below_the_mark_of_the_disk(make_server, upload):
    server = make_server()
    marker = start(server, upload, "full")
    server.kill()
    server.flags = ("--queue-below-free", "100TiB")
    server.start()
    os.kill(supervisor_of(server)[0], signal.SIGKILL)
    wait_for(lambda: "the disk is nearly full" in waiting(server, "full") or None, lambda: f"{server.get('full')} {server.stderr()[-2000:]}")
    assert not programs(marker) and server.texts("full").count("started") == 1
    server.wait_for_entry("full", lambda entry: "A replica waits to be started" in entry["jsonPayload"]["message"])
    server.kill()
    server.flags = ()
    server.start()
    wait_for(lambda: server.texts("full").count("started") == 2 or None, lambda: f"{server.texts('full')} {server.stderr()[-2000:]}")
    server.cancel("full")
    assert server.wait("full")["state"] == "CANCELLED"


def test_what_a_killed_supervisor_had_not_read_is_said(server, upload):
    start(server, upload, "unread")
    os.kill(supervisor_of(server)[0], signal.SIGKILL)
    server.wait_for_entry("unread", lambda entry: "up to 256 KiB" in entry["jsonPayload"]["message"]
                          and entry["resource"]["labels"]["task_name"] == "master-replica-0")
    server.cancel("unread")
    assert server.wait("unread")["state"] == "CANCELLED"
