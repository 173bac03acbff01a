"""A start after a kill: a lock that a child of the killed server still has is nobody's."""

import fcntl
import os
import subprocess
import threading

from trainyard_server import PROGRAM


def hold(data):
    """As a child between its fork and its exec does: the lock is that of the descriptor, whoever has it."""
    (data / "run").mkdir(parents=True, exist_ok=True)
    lock = os.open(data / "run/lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_a_lock_that_goes_in_a_moment_is_waited_for(make_server, tmp_path):
    data = tmp_path / "data"
    lock = hold(data)
    threading.Timer(0.5, os.close, [lock]).start()
    assert make_server(data=data).request("GET", "/readyz").status_code in (200, 503)


def test_one_that_stays_is_named(make_server, tmp_path):
    data = tmp_path / "data"
    server = make_server(data=data)
    former = server.process.pid
    server.kill()
    lock = hold(data)
    child = subprocess.Popen(["sleep", "600"], pass_fds=[lock])
    os.close(lock)
    try:
        refused = subprocess.run([PROGRAM, "serve", "--data", data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        assert refused.returncode == 1
        assert f"another server has the data directory {data}: process {child.pid} (sleep)" in refused.stderr, refused.stderr
        assert str(former) not in refused.stderr
    finally:
        child.kill()
        child.wait()
    server.start()
