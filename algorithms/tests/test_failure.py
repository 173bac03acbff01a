import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trainyard_algorithms import failure


def test_first_sigterm_asks_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure, "_told_to_stop", False)
    before = signal.getsignal(signal.SIGTERM)
    try:
        failure.listen()
        assert not failure.stopping()
        os.kill(os.getpid(), signal.SIGTERM)
        assert failure.stopping()
    finally:
        signal.signal(signal.SIGTERM, before)


def test_stopped_ends_by_the_signal_and_leaves_no_file(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from trainyard_algorithms import arguments, failure, paths
arguments.table = lambda name: {"arguments": []}
def main(args):
    (paths.made() / "file").write_text("text")
    os.kill(os.getpid(), signal.SIGTERM)
    failure.leave_if_told()
sys.argv = ["x", "--job-dir=y"]
failure.run("some", main)
"""
    package = Path(failure.__file__).parent.parent
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=package, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, b"")
    assert os.listdir(tmp_path) == []


def test_who_was_told_to_stop_is_not_done(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from trainyard_algorithms import arguments, failure
arguments.table = lambda name: {"arguments": []}
sys.argv = ["x", "--job-dir=y"]
failure.run("some", lambda args: os.kill(os.getpid(), signal.SIGTERM))
"""
    package = Path(failure.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=package, capture_output=True)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, b"")


def test_second_sigterm_ends_at_once() -> None:
    kill = "os.kill(os.getpid(), signal.SIGTERM)"
    code = (
        f"import os, signal; from trainyard_algorithms import failure; failure.listen(); {kill}; "
        f"print(failure.stopping(), flush=True); {kill}; print('not reached')"
    )
    package = Path(failure.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=package, capture_output=True, text=True)
    assert done.stdout == "True\n"
    assert done.returncode == -signal.SIGTERM
