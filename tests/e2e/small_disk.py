"""A disk of its own for a data directory: an image with ext4, mounted as long as the test runs."""

import contextlib
import os
import subprocess

import pytest

MIB = 1 << 20


class SmallDisk:
    def __init__(self, folder, megabytes):
        self.folder = folder / "disk"
        self.image = folder / "disk.img"
        self.ballast = self.folder / "ballast"
        self.folder.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(megabytes * MIB)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-b", "4096", self.image], check=True)
        self.mount("loop")

    def mount(self, options):
        mounted = subprocess.run(["mount", "-o", options, self.image, self.folder], capture_output=True)
        if mounted.returncode:
            pytest.skip("cannot mount an image: " + mounted.stderr.decode().strip())

    def remount(self, options):
        subprocess.run(["mount", "-o", "remount," + options, self.folder], check=True)

    def unmount(self):
        subprocess.run(["umount", "-l", self.folder], check=True)

    def free(self):
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self):
        """To the last byte; again if something has become free."""
        with open(self.ballast, "ab") as ballast:
            for piece in (MIB, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        at = os.fstat(ballast.fileno()).st_size
                        os.posix_fallocate(ballast.fileno(), at, piece)

    def make_room(self):
        self.ballast.unlink()


@pytest.fixture
def small_disk(tmp_path):
    made = SmallDisk(tmp_path, 300)
    yield made
    made.unmount()
