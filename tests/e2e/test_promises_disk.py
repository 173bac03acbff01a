"""A full, read-only or failing disk: what runs goes on, what makes room works, and a line says what to do."""

import subprocess

import pytest

from small_disk import MIB, small_disk  # noqa: F401
from trainyard_server import PROGRAM, Server, wait_for

MARKS = ("--refuse-below-free", "64MiB", "--queue-below-free", "100MiB")


def serve(disk, beside):
    data = disk.folder / "data"
    data.mkdir()
    (data / "server.log").symlink_to(beside / "server.log")
    (beside / "environments").mkdir()
    server = Server(data, *MARKS, environments=beside / "environments")
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    return server


@pytest.fixture
def server(small_disk, tmp_path):  # noqa: F811
    served = serve(small_disk, tmp_path)
    assert served.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).ok
    for name in ("probe.tar.gz", "other"):
        served.upload("packages", name, b"x")
    yield served
    served.stop()


def submit(server, job_id):
    return server.create(job_id, pythonModule="a.b", packageUris=["gs://packages/probe.tar.gz"])


def make_ended(server, job_id):
    assert submit(server, job_id).ok
    server.cancel(job_id)
    server.wait(job_id)


def reserve_bytes(server):
    reserve = server.data / "run/reserve"
    return reserve.stat().st_blocks * 512 if reserve.exists() else 0


def assert_makes_room(server, disk):
    """On a disk without a free byte."""
    disk.fill()
    assert server.request("DELETE", "/trainyard/v1/projects/p/jobs/old").ok
    disk.fill()
    assert server.request("DELETE", "/storage/v1/b/packages/o/other").status_code == 204
    disk.fill()
    server.cancel("waits")
    assert server.wait("waits")["state"] == "CANCELLED"


def test_a_server_that_died_on_a_full_disk_starts_and_goes_on_by_itself(server, small_disk):  # noqa: F811
    make_ended(server, "old")
    assert submit(server, "waits").ok
    server.kill()
    small_disk.fill()

    server.start()
    assert server.presence["pid"] == server.process.pid
    small_disk.fill()
    assert server.get("old")["state"] == "CANCELLED"
    assert server.request("GET", "/storage/v1/b/packages/o/probe.tar.gz", params={"alt": "media"}).content == b"x"
    wait_for(lambda: True if server.request("GET", "/readyz").status_code == 503 else None, server.stderr)
    rows = {row["name"]: row["detail"] for row in server.request("GET", "/readyz").json()["checks"]}
    assert "Remove objects, environments, images or old jobs" in rows["disk"], rows
    assert "Remove objects, environments, images or old jobs" in server.stderr()
    refused = submit(server, "late")
    assert refused.status_code == 429, refused.text
    stored = server.request("POST", "/upload/storage/v1/b/packages/o", params={"uploadType": "media", "name": "big"}, data=b"x")
    assert stored.status_code == 507, stored.text
    for answer in (refused, stored, server.request("GET", "/trainyard/v1/projects/p/jobs/waits")):
        assert str(small_disk.folder) not in answer.text  # where the server keeps its files is nobody's business
    assert_makes_room(server, small_disk)

    small_disk.make_room()
    wait_for(lambda: True if server.request("GET", "/readyz").status_code == 200 else None, server.stderr)
    wait_for(lambda: True if reserve_bytes(server) >= 16 * MIB else None, server.stderr)
    assert submit(server, "after").ok
    assert server.request("GET", "/v1/projects/p/jobs/old").status_code == 404


def test_without_a_mark_the_database_itself_says_that_the_disk_is_full(server, small_disk):  # noqa: F811
    server.stop()
    server.flags = ("--refuse-below-free", "0", "--queue-below-free", "0")
    server.start()
    make_ended(server, "old")
    assert submit(server, "waits").ok
    small_disk.fill()
    names = iter(range(10_000))
    refused = wait_for(lambda: next((one for one in [submit(server, f"job_{next(names)}")] if not one.ok), None), server.stderr)
    assert refused.status_code == 429 and "trainyard.db: No space left on device" in refused.text, refused.text
    assert str(small_disk.folder) not in refused.text
    assert reserve_bytes(server) >= 16 * MIB  # a new job is not what it is for
    assert_makes_room(server, small_disk)


def test_a_disk_that_takes_no_writes_any_more_can_be_read(server, small_disk):  # noqa: F811
    make_ended(server, "old")
    small_disk.remount("abort")  # as ext4 does after an error
    refused = wait_for(lambda: (lambda answer: None if answer.ok else answer)(submit(server, "late")), server.stderr)
    assert refused.status_code == 503 and "trainyard.db: disk I/O error" in refused.text, refused.text
    assert str(small_disk.folder) not in refused.text
    assert server.get("old")["state"] == "CANCELLED" and server.log_entries("old")
    assert server.request("GET", "/storage/v1/b/packages/o/probe.tar.gz", params={"alt": "media"}).content == b"x"
    wait_for(lambda: True if server.request("GET", "/readyz").status_code == 503 else None, server.stderr)
    server.kill()
    refusal = subprocess.run([PROGRAM, "serve", "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
    assert refusal.returncode == 1 and "mount it for writing, then start the server again" in refusal.stderr, refusal.stderr


def test_a_start_on_a_full_disk_without_a_reserve_says_what_to_do(server, small_disk):  # noqa: F811
    server.stop()
    (server.data / "run/reserve").unlink(missing_ok=True)
    small_disk.fill()
    refusal = subprocess.run([PROGRAM, "serve", "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
    assert refusal.returncode == 1 and "make some megabytes free on it" in refusal.stderr, refusal.stderr
    small_disk.make_room()
    server.start()
    assert server.request("GET", "/readyz").ok
