"""TRAINYARD_STORAGE_SERVER names a program that serves only the storage API (tests/support/storage_server.cc): then these
tests run against it instead of the whole server."""

import os
import pathlib
import shutil
import subprocess

import pytest

from process_output import Output

STORAGE_SERVER = os.environ.get("TRAINYARD_STORAGE_SERVER")


class StorageServer:
    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.start()

    def start(self):
        self.process = subprocess.Popen([str(STORAGE_SERVER), str(self.data)], stdout=subprocess.PIPE, text=True)
        said = Output(self.process.stdout)
        line = said.line()
        assert line.startswith("listening on http://"), line
        self.url = line.split()[-1]
        word, self.tls_host, self.tls_port, self.ca_file = said.line().split()
        assert word == "tls"

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
    assert program is not None
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


def tls_of(server):
    """Host, port and CA file of a server's TLS listener."""
    if hasattr(server, "ca_file"):
        return server.tls_host, server.tls_port, server.ca_file
    host, port = server.presence["tls_url"].removeprefix("https://").split(":")
    return host, port, server.presence["ca_file"]


@pytest.fixture
def gsutil(server, tmp_path, runtime, environments):
    """Runs the real gsutil against the server: that of a runtime version, from PyPI. (gcloud's own passes over our settings.)"""
    version = runtime("2.15")
    program = next(environments.glob(f"runtimes/{version}-*/bin/gsutil"))
    host, port, ca_file = tls_of(server)
    boto = tmp_path / "boto"
    boto.write_text(f"""[Credentials]
gs_json_host = {host}
gs_json_port = {port}
[Boto]
ca_certificates_file = {ca_file}
num_retries = 1
[GSUtil]
state_dir = {tmp_path / "gsutil"}
resumable_threshold = 1048576
default_project_id = p
parallel_process_count = 1
prefer_api = json
software_update_check_period = 0
""")
    # Without a tty and credentials it is anonymous.
    environment = {**os.environ, "BOTO_CONFIG": str(boto), "BOTO_PATH": str(boto), "HOME": str(tmp_path),
                   "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), "GCE_METADATA_HOST": "127.0.0.1:1"}
    environment.pop("CLOUDSDK_WRAPPER", None)

    def run(*words, check=True, stdin=None):
        done = subprocess.run([program, *map(str, words)], capture_output=True, env=environment, input=stdin, timeout=300)
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    return run
