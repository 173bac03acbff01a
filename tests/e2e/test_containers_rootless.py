"""Containers of a server without root: a user of its own, with further ids where the machine gives it some."""

import os
import pathlib
import shutil
import tarfile
import tempfile

import pytest

from container_engines import leftovers, oci, run_job, shell, submit_image
from container_images import tar_of
from server_of_account import ServerOfAccount
from trainyard_server import end_supervisors, processes_with, wait_for

USER = 64321  # nobody's
FURTHER_IDS = f"{USER}:6000000:65536\n"


@pytest.fixture(scope="module")
def server(registry, images):
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    if not shutil.which("newuidmap") or not shutil.which("setpriv"):
        pytest.skip("no newuidmap or setpriv on PATH (./dev setup installs them)")
    way = oci()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-rootless-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / "ids").write_text(FURTHER_IDS)
        # newuidmap wants to know its user's name.
        (folder / "passwd").write_text(pathlib.Path("/etc/passwd").read_text() + f"ty-rootless:x:{USER}:{USER}::/:/bin/sh\n")
        # /etc/subuid of this server alone says that the user has further ids.
        mounts = {"/etc/passwd": folder / "passwd", "/etc/subuid": folder / "ids", "/etc/subgid": folder / "ids"}
        server = ServerOfAccount(folder, USER, *way.flags, "--stop-grace", "2", mounts=mounts)
        server.way = way
        yield server
        wait_for(lambda: True if not leftovers(server) else None, lambda: str(leftovers(server)))
        server.stop()
        end_supervisors(server.data)


def test_it_runs_as_that_user(server):
    assert all(os.stat(f"/proc/{pid}").st_uid == USER for pid, command in processes_with(f"--data {server.data}"))


def test_busybox(server, images, registry):
    run_job(server, "hello", registry.push(images["busybox"]), master=shell("id -u; touch /made && echo wrote; exit 0"))
    texts = server.texts("hello", "master-replica-0")
    assert "0" in texts and "wrote" in texts, texts


def test_a_user_of_the_image(server, images, registry):
    run_job(server, "app", registry.push(images["user"]))
    texts = server.texts("app", "master-replica-0")
    assert "id: 1234:1235" in texts and "pwd: /home/app/new" in texts, texts


def test_buckets(server, images, registry):
    run_job(server, "trainer", registry.push(images["trainer"]), jobDir="gs://out/trainer")
    model = server.data / "buckets/out/trainer/model.txt"
    assert model.read_text() == "trained\n" and model.stat().st_uid == USER


def test_forty_layers(server, images, registry):
    run_job(server, "layers", registry.push(images["layers40"]))
    assert "38" in server.texts("layers", "master-replica-0")


def test_an_image_whose_root_is_read_only(server, images, registry):
    root = tarfile.TarInfo()
    root.type, root.mode = tarfile.DIRTYPE, 0o555
    image = images.derive("busybox", "closed-root", layers=[tar_of({".": root, "/note": "it came"})])
    run_job(server, "closed", registry.push(image), master=shell("cat /note"))
    assert "it came" in server.texts("closed", "master-replica-0")


def test_cancel(server, images, registry):
    submit_image(server, "stubborn", registry.push(images["stubborn"]))
    server.wait_for_text("stubborn", "started")
    server.cancel("stubborn")
    assert server.wait("stubborn")["state"] == "CANCELLED"


def test_failures(server, images, registry):
    job = run_job(server, "no_program", registry.push(images["no-program"]), "FAILED")
    assert "/nothing/here" in job["errorMessage"], job
    job = run_job(server, "one", registry.push(images["busybox"]), "FAILED", master=shell("exit 1"))
    assert "status of 1" in job["errorMessage"], job
