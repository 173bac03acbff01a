"""A full disk at the start of a replica delays it, and takes nothing of its isolation."""

import os
import subprocess

import pytest

from trainyard_server import wait_for

PAGE_BYTES = 4096
PLENTY = "size=64m,nr_inodes=4096"


class SmallDisk:
    """A tmpfs as the directory of attempts: the server's own files have room."""

    def __init__(self, folder):
        self.folder = folder

    def leave(self, inodes=None, pages=None):
        disk = os.statvfs(self.folder)
        used = disk.f_blocks - disk.f_bfree, disk.f_files - disk.f_ffree
        self._remount(f"size={(used[0] + pages) * PAGE_BYTES},nr_inodes=4096" if pages is not None
                      else f"size=64m,nr_inodes={used[1] + inodes}")

    def make_room(self):
        self._remount(PLENTY)

    def _remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "data/attempts"
    folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", PLENTY, "tmpfs", folder], capture_output=True).returncode != 0:
        pytest.skip("a small disk needs root")
    yield SmallDisk(folder)
    subprocess.run(["umount", "-l", folder], check=True)


def has_met_the_disk(server, disk):
    """An attempt has something to say and cannot, or cannot be started at all, or has ended."""
    logs = list(disk.folder.glob("*/supervisor.log"))
    return (any(b"No space left" in log.read_bytes() for log in logs) or any(disk.folder.glob("*/spool/*.log"))
            or "cannot be started" in server.stderr())


@pytest.mark.parametrize("short_of", ["inodes", "pages"])
def test_whatever_file_the_disk_refuses_the_program_starts_isolated_or_later(make_server, upload, disk, short_of):
    server = make_server(data=disk.folder.parent)
    uri = upload(server, "probe")
    secret = server.data / "run/secret"
    assert secret.exists()
    look = f"test -e {secret} && echo sees the secret || echo sees nothing"
    server.submit("warm", packageUris=[uri], pythonModule="probe.task", args=["shell", look])
    assert server.wait("warm")["state"] == "SUCCEEDED"
    assert "sees nothing" in server.texts("warm")
    # A replica's directory, lock, manifest, spool and log come first, then what its program needs.
    for left in range(8, 12) if short_of == "inodes" else range(2, 5):
        job = f"left_{left}"
        wait_for(lambda: not list(disk.folder.iterdir()) or None, lambda: f"attempts stay: {list(disk.folder.iterdir())}")
        disk.leave(**{short_of: left})
        server.submit(job, packageUris=[uri], pythonModule="probe.task", args=["shell", look])
        wait_for(lambda: has_met_the_disk(server, disk) or "endTime" in server.get(job) or None, lambda: f"{job}: {server.stderr()[-3000:]}")
        disk.make_room()
        ended = server.wait(job)
        assert ended["state"] == "SUCCEEDED", (job, ended, server.texts(job))
        texts = server.texts(job)
        assert "sees nothing" in texts and "sees the secret" not in texts, (job, texts)
        assert not any("is restarted" in text for text in texts), (job, texts)
