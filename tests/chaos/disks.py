"""A disk of a world's own: a file system in an image, which can lose its power, fill up, and die.

A power cut is a copy of the image in one moment, by reflink: what has reached the disk by then, and nothing of what the kernel still holds
back. For that the image lies on an XFS, in a sparse file on a tmpfs: no disk of the machine is waited for. Where there is no mkfs.xfs, a
cut is the file system's own shutdown without a flush of its journal. Mounts are of the world's own namespace; loop devices go with them.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import uuid

FICLONE = 0x40049409  # linux/fs.h
SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN
SHUTDOWN_WITHOUT_LOG = 2
IMAGE_MIB = {"ext4": 192, "xfs": 320}  # what mkfs.xfs makes at least is 300
STORE_MIB = 4096  # sparse
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# What makes it hard: nothing reaches the disk by itself for a minute, and a rename does not bring its file with it.
EXT4_OPTIONS = ("commit=60", "commit=60,noauto_da_alloc", "commit=60,noauto_da_alloc,data=writeback")


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def is_installed(tool):
    return shutil.which(tool, path="/usr/sbin:/sbin:" + os.environ.get("PATH", "")) is not None


def knows(kind):
    return kind in pathlib.Path("/proc/filesystems").read_text().split()


def file_system_missing(kind):
    """Why there is none of that kind here; empty: there is."""
    if not knows(kind):
        return f"the kernel has no {kind}"
    return "" if is_installed(f"mkfs.{kind}") else f"there is no mkfs.{kind}"


class Disk:
    def __init__(self, folder, where, kind, random, inodes=0):
        """`where`: the directory at which it is mounted. `inodes`: so many that it soon has none left; 0: enough."""
        self.folder, self.where, self.kind = pathlib.Path(folder), pathlib.Path(where), kind
        self.store = self.folder / "store"
        self.options = random.choice(EXT4_OPTIONS) if kind == "ext4" else "nouuid"
        self.ballast = self.where / "ballast"
        for path in (self.folder / "memory", self.store, self.where):
            path.mkdir(exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "size=2g,mode=700", "chaos", self.folder / "memory")
        self.can_copy = knows("xfs") and is_installed("mkfs.xfs")
        if self.can_copy:
            outer = self.folder / "memory/store.xfs"
            with open(outer, "wb") as file:
                file.truncate(STORE_MIB << 20)
            run("mkfs.xfs", "-q", "-m", "reflink=1", outer)
            run("mount", "-o", "loop", outer, self.store)
        else:
            run("mount", "--bind", self.folder / "memory", self.store)
        self.image = self.store / "disk.img"
        with open(self.image, "wb") as file:
            file.truncate(IMAGE_MIB[kind] << 20)
        if kind == "ext4":
            run("mkfs.ext4", "-q", "-F", *(["-N", inodes] if inodes else []), self.image)
        else:
            run("mkfs.xfs", "-q", self.image)
        self.boot = self.folder / "boot_id"
        self.new_boot()
        run("mount", "--bind", self.boot, BOOT_ID)
        self.mount()

    def mount(self, options=""):
        run("mount", "-o", f"loop,{self.options}{options}", self.image, self.where)
        self.where.chmod(0o755)

    def unmount(self):
        run("umount", self.where)

    def new_boot(self):
        """From now on the machine's start has another id: what an earlier one noted of its processes is of the past."""
        self.boot.write_text(str(uuid.uuid4()) + "\n")

    def sync(self):
        descriptor = os.open(self.where, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            subprocess.run(["sync", "-f", str(self.where)], check=True)
        finally:
            os.close(descriptor)

    # A power cut: first the copy, while everything runs; then, when nothing runs any more, the disk is what the copy was.

    def copy(self):
        with open(self.image, "rb") as source, open(self.store / "cut.img", "wb") as target:
            fcntl.ioctl(target.fileno(), FICLONE, source.fileno())

    def come_back(self, copied):
        self.unmount()
        if copied:
            os.replace(self.store / "cut.img", self.image)
        self.new_boot()
        self.mount()

    # The same disk again and again

    def keep(self):
        """What is on it now is what go_back() brings back. Nothing of the installation may live."""
        self.unmount()
        run("cp", "--reflink=auto", "--sparse=always", self.image, self.store / "kept.img")
        self.mount()

    def go_back(self):
        self.unmount()
        run("cp", "--reflink=auto", "--sparse=always", self.store / "kept.img", self.image)
        self.new_boot()
        self.mount()

    # A full disk

    def fill(self, leave=0):
        """All that is free but for so many bytes."""
        descriptor = os.open(self.ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            free = os.statvfs(self.where)
            most = max(free.f_bavail * free.f_frsize - leave, 0)
            for step in (most, 1 << 20, 1 << 16, 4096):
                while step:
                    try:
                        os.posix_fallocate(descriptor, os.fstat(descriptor).st_size, step)
                    except OSError:
                        break
                    if leave:
                        return
        finally:
            os.close(descriptor)

    def fill_inodes(self):
        folder = self.where / "ballast.d"
        folder.mkdir(exist_ok=True)
        number = len(os.listdir(folder))
        try:
            while True:
                os.close(os.open(folder / str(number), os.O_CREAT | os.O_WRONLY))
                number += 1
        except OSError:
            pass

    def empty(self):
        """Gives back what was filled."""
        self.ballast.unlink(missing_ok=True)
        folder = self.where / "ballast.d"
        if folder.exists():
            for name in os.listdir(folder):
                os.unlink(folder / name)

    # A dying disk

    def die(self):
        """From now on everything that has to reach the disk, or come from it, is an error (EIO)."""
        descriptor = os.open(self.where, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, SHUTDOWN_WITHOUT_LOG.to_bytes(4, "little"))
        finally:
            os.close(descriptor)

    def revive(self):
        self.unmount()
        self.mount()
        self.empty()

    def go_read_only(self):
        """As the kernel does with an ext4 on which it finds an error."""
        device = run("findmnt", "-n", "-o", "SOURCE", "--target", self.where).strip()
        run("mount", "-o", "remount,errors=remount-ro", self.where)
        pathlib.Path(f"/sys/fs/ext4/{pathlib.Path(device).name}/trigger_fs_error").write_text("1")

    def repair(self):
        self.unmount()
        if self.kind == "ext4":
            subprocess.run(["e2fsck", "-p", str(self.image)], capture_output=True)
        self.mount()
        self.empty()
