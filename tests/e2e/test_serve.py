"""The server as a process: where it listens, who may have its folder, how it starts and stops, what a full disk does."""

import contextlib
import os
import signal
import subprocess

import pytest
import requests

from trainyard_server import PROGRAM, wait_for


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_it_refuses_to_listen_beyond_loopback(tmp_path, address):
    run = subprocess.run([PROGRAM, "serve", "--data", tmp_path / "data", "--listen", address], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "authentication" in run.stderr and "listening" not in run.stdout


def test_one_server_at_a_time_has_a_data_directory(server):
    run = subprocess.run([PROGRAM, "serve", "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and server.url in run.stderr


def test_it_stops_on_sigterm_and_is_found_under_the_same_address_again(server):
    url = server.url
    server.stop()
    assert server.process.returncode == 0, server.stderr()
    server.start()
    assert server.url == url


def test_it_is_told_twice_to_stop(make_server):
    """As timeout(1) does: the second signal comes while what the server was made of is taken down."""
    server = make_server()
    server.process.terminate()
    wait_for(lambda: "stopping on" in server.stderr() or None, server.stderr)
    server.process.send_signal(signal.SIGTERM)
    server.stop()
    assert server.process.returncode == 0 and "check failed" not in server.stderr(), server.stderr()


def test_health_and_discovery(server):
    assert server.request("GET", "/healthz").text.strip() == "ok"
    for path in ("/$discovery/rest?version=v1", "/discovery/v1/apis/ml/v1/rest"):
        document = server.request("GET", path).json()
        assert document["name"] == "ml" and document["rootUrl"] == server.url + "/" and document["servicePath"] == ""
    assert server.request("GET", "/discovery/v1/apis/storage/v1/rest").json()["name"] == "storage"


def test_the_tls_port_shows_a_certificate_that_its_ca_vouches_for(server):
    answer = requests.get(server.presence["tls_url"] + "/healthz", verify=server.presence["ca_file"], timeout=30)
    assert answer.text.strip() == "ok"


# These are about what happens where nothing keeps jobs from filling the disk.
WITHOUT_MARKS = ("--queue-below-free", "0", "--refuse-below-free", "0")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a tmpfs: " + mounted.stderr.decode().strip())
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged_and_says_why(make_server, upload, small_disk):
    server = make_server(*WITHOUT_MARKS, data=small_disk / "data")
    uri = upload(server, "probe")
    body = {"packageUris": [uri], "pythonModule": "probe.task", "args": ["forever", "x" * 20000]}
    free = os.statvfs(small_disk)
    with open(small_disk / "ballast", "wb") as ballast:
        ballast.write(b"\0" * (free.f_bavail * free.f_frsize - (4 << 20)))
    accepted, refused = [], None
    for number in range(2000):
        response = server.create(f"full_{number}", **body)
        if response.status_code != 200:
            refused = response
            break
        accepted.append(f"full_{number}")
    assert refused is not None and accepted
    assert "No space left" in refused.json()["error"]["message"], refused.text
    upload_refused = server.request("POST", "/upload/storage/v1/b/packages/o", params={"uploadType": "media", "name": "big"},
                                    data=b"y" * (8 << 20))
    assert upload_refused.status_code >= 400 and "space" in upload_refused.text.lower()
    server.kill()
    (small_disk / "ballast").unlink()
    server.start()
    for job_id in accepted:
        assert server.get(job_id)["jobId"] == job_id
    assert server.request("GET", f"/v1/projects/p/jobs/full_{len(accepted)}").status_code == 404
    assert server.create("after", packageUris=[uri], pythonModule="probe.task").status_code == 200
    for job_id in accepted:
        server.cancel(job_id)


def test_logs_that_a_full_disk_held_back_are_complete_in_the_end(make_server, upload, small_disk):
    server = make_server(*WITHOUT_MARKS, data=small_disk / "data")
    uri = upload(server, "probe")
    server.submit("warm", packageUris=[uri], pythonModule="probe.task")
    server.wait("warm")
    server.submit("lines", packageUris=[uri], pythonModule="probe.task", args=["print", "go", "tick", "300", "count", "2000"])
    server.wait_for_text("lines", "go")
    ballast = small_disk / "ballast"
    with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    wait_for(lambda: True if "space" in server.stderr().lower() else None, server.stderr)
    ballast.unlink()
    job = server.wait("lines")
    assert job["state"] == "SUCCEEDED", job
    texts = server.texts("lines", "master-replica-0")
    assert [t for t in texts if t.startswith(("tick ", "line "))] == \
        [f"tick {n:07d}" for n in range(300)] + [f"line {n:07d}" for n in range(2000)]
