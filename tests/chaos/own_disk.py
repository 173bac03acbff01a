"""Worlds whose data directory is a file system of its own, which loses its power."""

import os
import signal
import subprocess
import time
from pathlib import Path

from disks import Disk, file_system_missing
from killer import send
from witness import read_notes
from world import World, remove_empty_groups


class OwnDisk(World):
    """On a file system of its own."""

    file_system = "ext4"
    inodes = 0  # as many as the file system makes by itself

    @classmethod
    def missing(cls, options):
        return file_system_missing(cls.file_system)

    def flags(self):
        return [*super().flags(), "--queue-below-free", "8MB", "--refuse-below-free", "4MB"]

    def prepare(self):
        self.data.mkdir(exist_ok=True)
        self.disk = Disk(self.folder, self.data, self.file_system, self.random, self.inodes)
        self.log(f"{self.file_system}, mounted with {self.disk.options}")
        super().prepare()
        self.disk.sync()

    def end_all(self):
        """Nothing of the installation lives any more, as after the machine's end."""
        if self.victim.pid():
            self.victim.kill()
        end_all_processes()
        remove_empty_groups(self.data)
        self.idle()

    def close(self):
        super().close()
        if self.violations:  # the disk goes with the world
            subprocess.run(["cp", "-a", self.data, self.folder / "kept"], capture_output=True)

    def attempts(self):
        return [attempt for key in self.ledger.keys("job") for replica in read_notes(self.notes, key[1]) for attempt in replica.attempts]

    def forgive(self, ended_before):
        """Who had not ended before may have lost what it wrote last; who had, if it has to begin anew."""
        self.last_cut = time.monotonic()
        self.forgiven |= {attempt.token for attempt in self.attempts()} - ended_before
        self.forgiven_if_repeated |= ended_before

    def ended(self):
        return {attempt.token for attempt in self.attempts() if attempt.ended is not None}


class PowerCuts(OwnDisk):
    """Rounds that end with a power cut. The first start after it is compared with what had been acknowledged before."""

    rounds = 16
    LIVES = 3  # before each cut, at most

    def lives(self):
        for _ in range(self.random.randrange(self.LIVES)):
            self.killer.life()
        self.start()
        time.sleep(self.random.uniform(0, 1.5))
        self.cut()

    def cut(self):
        """What is acknowledged after a copy has begun may be lost; what is asked for after a shutdown may not be acknowledged."""
        ended, moment = self.ended(), time.monotonic()
        copies = self.disk.can_copy and self.random.random() < 0.7
        if copies:
            self.disk.copy()
        else:
            self.disk.die()
        over = float("inf") if copies else time.monotonic()
        self.log(f"power cut by {'a copy' if copies else 'a shutdown'}, as of {moment:.3f}")
        self.count(f"power cut on {self.file_system}")
        self.end_all()
        self.ledger.lose_since(moment, over)
        self.forgive(ended)
        self.tail.begin_again()
        self.disk.come_back(copies)

    def settle(self):
        self.start()
        self.verifier.registers()  # at once, before anything else is written
        self.victim.stop()
        super().settle()


class PowerCutsXfs(PowerCuts):
    file_system = "xfs"


def end_all_processes():
    """All but the harness and the first process of the namespace."""
    while True:
        others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
        living = [pid for pid in others if not is_zombie(pid)]
        if not living:
            return
        for pid in living:
            send(pid, signal.SIGKILL)
        time.sleep(0.005)


def is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
