"""What goes wrong around a server that nobody kills: a full disk, no inodes, few descriptors or processes, a dead disk, a held lock."""

import contextlib
import os
import pathlib
import resource
import sqlite3
import time

DATABASES = ("trainyard.db", "logs.db", "objects.db", "studies.db", "access.db", "metrics.db")
PIDS = pathlib.Path("/sys/fs/cgroup/pids")
SPARE_DESCRIPTORS, SPARE_PROCESSES = 3, 1
LOCKED_S = (0.5, 2, 4, 8)  # SQLite's patience, as the server sets it, is less than the longest


class Fault:
    """Begins while clients act, and ends after a while. `reads`, `deletes`: what has to go on meanwhile. `starts`: whether a server that is
    killed meanwhile has to start. `ends_all`: nothing of the installation can live on when it ends."""

    name = ""
    reads, deletes, starts, ends_all = False, False, False, False

    def __init__(self, world):
        self.world = world

    def begin(self):
        raise NotImplementedError

    def again(self):
        """While it lasts, now and then."""

    def end(self):
        raise NotImplementedError


class FullDisk(Fault):
    name, reads, deletes, starts = "ENOSPC", True, True, True

    def begin(self):
        self.world.disk.fill()

    def again(self):
        if self.world.random.random() < 0.7:
            self.world.disk.fill()

    def end(self):
        self.world.disk.empty()


class AlmostFullDisk(FullDisk):
    """Some writes fit and some do not."""

    name = "ENOSPC for some"

    def begin(self):
        self.world.disk.fill(leave=self.world.random.choice((4096, 20_000, 100_000)))

    def again(self):
        pass


class NoInodes(FullDisk):
    name = "no inodes"

    def begin(self):
        self.world.disk.fill_inodes()

    def again(self):
        self.world.disk.fill_inodes()


class DeadDisk(Fault):
    name, ends_all = "EIO", True

    def begin(self):
        self.world.disk.die()

    def end(self):
        self.world.disk.revive()


class ReadOnlyDisk(Fault):
    name, reads, ends_all = "read-only", True, True

    def begin(self):
        self.world.disk.go_read_only()

    def end(self):
        self.world.disk.repair()


class FewDescriptors(Fault):
    name = "EMFILE"

    def begin(self):
        self.pid = self.world.victim.process.pid
        self.before = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
        few = len(os.listdir(f"/proc/{self.pid}/fd")) + self.world.random.randrange(SPARE_DESCRIPTORS)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (few, self.before[1]))

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, self.before)


class FewProcesses(Fault):
    """What the server starts from then on is in a group that may have hardly more processes."""

    name = "EAGAIN"

    def begin(self):
        self.group = PIDS / f"chaos-{self.world.folder.name}-{self.world.seed}"
        self.group.mkdir(exist_ok=True)
        (self.group / "cgroup.procs").write_text(str(self.world.victim.process.pid))
        threads = int((self.group / "pids.current").read_text())
        (self.group / "pids.max").write_text(str(threads + self.world.random.randrange(SPARE_PROCESSES + 1)))

    def end(self):
        (self.group / "pids.max").write_text("max")
        for pid in (self.group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (PIDS / "cgroup.procs").write_text(pid)
        with contextlib.suppress(OSError):
            self.group.rmdir()


class HeldLock(Fault):
    """Another process holds a database's lock for writing."""

    name, reads = "a held lock", True

    def begin(self):
        name = self.world.random.choice(DATABASES)
        self.world.log(f"the lock of {name} is held")
        self.connection = sqlite3.connect(self.world.data / name, timeout=5, isolation_level=None)
        self.connection.execute("BEGIN IMMEDIATE")
        time.sleep(self.world.random.choice(LOCKED_S))

    def end(self):
        self.connection.execute("ROLLBACK")
        self.connection.close()


def faults_here():
    """Those that this machine lets happen."""
    found: list[type[Fault]] = [FullDisk, FullDisk, AlmostFullDisk, NoInodes, DeadDisk, ReadOnlyDisk, FewDescriptors, HeldLock]
    return [*found, FewProcesses] if PIDS.is_dir() else found
