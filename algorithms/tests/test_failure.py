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
