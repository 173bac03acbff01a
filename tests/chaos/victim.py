"""The server under test, which is killed and started again while others talk to it."""

import pathlib
import signal
import subprocess
import threading

import requests

from trainyard_server import WITHOUT_PYENV, Server

EXIT_DEADLINE_S = 60


class Victim(Server):
    """Unlike its base it is not started when it is made. Started, killed and stopped by the main thread; asked by all."""

    environment = WITHOUT_PYENV

    def __init__(self, data, log_path, *flags, environments, program=None):
        self.data, self.log_path, self.flags, self.program = pathlib.Path(data), pathlib.Path(log_path), flags, program
        self.environments = environments
        self.preexec, self.listen, self.process, self.url, self.token = None, "127.0.0.1:0", None, "", ""
        self.up = threading.Event()
        self.starts = 0

    def furnish(self):
        """What the data directory needs before the first start."""
        self.data.mkdir(parents=True, exist_ok=True)
        if not (self.data / "environments").is_symlink():
            (self.data / "environments").symlink_to(self.environments)

    def launch(self):
        self.starts += 1
        super().launch()

    def greet(self):
        super().greet()
        self.up.set()

    def signal(self, number):
        """How it ended before by itself, if it did; None: the signal has met it alive."""
        self.up.clear()
        status = self.process.poll()
        if status is None:
            self.process.send_signal(number)
        return status

    def kill(self):
        status = self.signal(signal.SIGKILL)
        self._reap()
        return status

    def stop(self):
        """As a shutdown does. None: it did not end in time and was killed."""
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(EXIT_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        self._reap()
        return self.process.returncode

    def credentials(self):
        return {"Authorization": "Bearer " + self.token} if self.token else {}

    def pid(self):
        return self.process.pid if self.process and self.process.poll() is None else None


def ask(victim, session, method, path, **options):
    """The answer; None where the server died, or was not there, with the question open."""
    try:
        return victim.request(method, path, session=session, **options)
    except (requests.RequestException, OSError):
        return None
