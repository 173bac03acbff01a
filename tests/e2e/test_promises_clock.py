"""A wrong clock at one start: nothing is removed by it and no job ends by it, until an operator says that it is right."""

import os
import pathlib
import shutil
import subprocess

import pytest

from trainyard_server import PROGRAM, Server, wait_for

DAY_S = 86_400


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("clock") / "shifted_clock.so"
    source = pathlib.Path(__file__).with_name("shifted_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


@pytest.fixture
def server(tmp_path):
    served = Server(tmp_path / "data")
    assert served.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    assert served.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).ok
    served.upload("packages", "probe.tar.gz", b"x")
    yield served
    served.stop()


def start_at(server, shim, days):
    os.environ.update({"LD_PRELOAD": str(shim), "CLOCK_SHIFT_S": str(days * DAY_S)})
    try:
        server.start()
    finally:
        for name in ("LD_PRELOAD", "CLOCK_SHIFT_S"):
            del os.environ[name]


def submit(server, job_id, **more):
    server.submit(job_id, pythonModule="a.b", packageUris=["gs://packages/probe.tar.gz"], **more)


def make_ended(server, *job_ids):
    for job_id in job_ids:
        submit(server, job_id)
        server.cancel(job_id)
        server.wait(job_id)


def ids(server):
    """Those that are kept: a list shows the last 90 days only."""
    return {job_id for job_id in ("a", "b", "waits") if server.request("GET", f"/v1/projects/p/jobs/{job_id}").ok}


def begin_upload(server):
    begun = server.request("POST", "/upload/storage/v1/b/packages/o", params={"uploadType": "resumable", "name": "big"})
    assert begun.ok, begun.text
    return "/upload/" + begun.headers["Location"].split("/upload/", 1)[1]


def test_a_clock_that_is_100_days_ahead_removes_nothing_and_ends_nothing(server, shim):
    make_ended(server, "a", "b")
    submit(server, "waits", scheduling={"maxWaitTime": "3600s"})
    upload = begin_upload(server)
    server.kill()
    start_at(server, shim, 100)
    said = wait_for(lambda: next((line for line in server.stderr().splitlines() if "would be too old to keep" in line), None), server.stderr)
    assert "which went forward by 100 days, 2 of 2 jobs" in said
    assert f"trainyard admin retention --confirm --data {server.data}" in said
    assert ids(server) == {"a", "b", "waits"} and server.log_entries("a")
    assert server.get("waits")["state"] == "QUEUED"
    assert server.request("PUT", upload, headers={"Content-Range": "bytes */*"}).status_code == 308
    rows = {row["name"]: row for row in server.request("GET", "/readyz").json()["checks"]}
    assert rows["clock"]["ok"] and "went forward by 100 days" in rows["clock"]["detail"]

    server.kill()
    server.start()  # with the right clock
    assert "clock" not in {row["name"] for row in server.request("GET", "/readyz").json()["checks"]}
    assert ids(server) == {"a", "b", "waits"} and server.get("waits")["state"] == "QUEUED"


def test_by_the_operators_word_old_things_go(server, shim):
    make_ended(server, "a", "b")
    server.kill()
    start_at(server, shim, 100)
    wait_for(lambda: True if "would be too old to keep" in server.stderr() else None, server.stderr)
    confirmed = subprocess.run([PROGRAM, "admin", "retention", "--confirm", "--data", server.data], capture_output=True, text=True, timeout=60)
    assert confirmed.returncode == 0, confirmed.stderr
    wait_for(lambda: True if "confirmed the machine's clock" in server.stderr() else None, server.stderr)
    server.kill()
    start_at(server, shim, 100)  # a sweep is at each start
    wait_for(lambda: True if not ids(server) else None, server.stderr)
