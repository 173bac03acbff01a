"""TRAINYARD_STORAGE_SERVER names a program that serves only the storage API (tests/support/storage_server.cc): then these
tests run against it instead of the whole server."""

import os
import pathlib
import shutil
import subprocess

import pytest

STORAGE_SERVER = os.environ.get("TRAINYARD_STORAGE_SERVER")


class StorageServer:
    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.start()

    def start(self):
        self.process = subprocess.Popen([STORAGE_SERVER, str(self.data)], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), line
        self.url = line.split()[-1]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0
        self.process.stdout.close()


if STORAGE_SERVER:

    @pytest.fixture
    def server(tmp_path):
        started = StorageServer(tmp_path / "data")
        yield started
        started.stop()


@pytest.fixture
def gcloud(server, tmp_path):
    """Runs the real gcloud against the server; SKIPPED where there is none."""
    program = shutil.which("gcloud")
    if not program:
        pytest.skip("SKIPPED: no gcloud on PATH")
    environment = {
        **os.environ,
        "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": server.url + "/storage/v1/",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_PROJECT": "p",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
    }

    def run(*words, check=True, **properties):
        extra = {f"CLOUDSDK_STORAGE_{name.upper()}": str(value) for name, value in properties.items()}
        done = subprocess.run([program, *map(str, words)], capture_output=True, env={**environment, **extra}, timeout=300)
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    return run
