"""Worlds in which an installation runs another way: another account, a keeper, logins, networks of their own, strict capacity, an upgrade,
a wrong clock."""

import os
import pathlib
import shutil
import subprocess
import time

from server_of_account import become
from store_clients import BUCKET
from test_keeper import Keeper
from trainyard_server import ROOT
from world import World

USER = 64_001  # an account without a name


class Strict(World):
    """Jobs get the CPUs of their machine type and wait for them."""

    gangs, tuning_jobs = False, False  # more than this machine may have at once

    def flags(self):
        return [*super().flags(), "--capacity", "strict"]

    def training_input(self, lines, seconds, status):
        return super().training_input(lines, seconds, status) | {"scaleTier": "CUSTOM", "masterType": "n1-highmem-2"}


class Isolated(World):
    """Each job has a network of its own."""

    def flags(self):
        return [*super().flags(), "--network", "isolated"]


class Authenticated(World):
    """Who asks shows a token."""

    def flags(self):
        return [*super().flags(), "--auth", "on"]

    def make_buckets(self):
        for name in ("packages", BUCKET):
            made = self.victim.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": name})
            assert made.ok, made.text


class OrdinaryUser(World):
    """Server, data and jobs are an ordinary account's."""

    @classmethod
    def missing(cls, options):
        return "" if shutil.which("setpriv") else "there is no setpriv"

    def prepare(self):
        own = self.folder / "trainyard"
        shutil.copy2(self.options.program, self.folder / "program")
        os.chmod(self.folder / "program", 0o755)
        own.write_text(f"#!/bin/sh\nexec {' '.join(become(USER, 'env', f'HOME={self.folder}', str(self.folder / 'program')))} \"$@\"\n")
        own.chmod(0o755)
        self.victim.program = own
        # Its reports of sanitizers go there; environments of others are not its own to build in.
        os.chown(self.folder, USER, USER)
        environments = pathlib.Path(self.options.environments).with_name("environments-of-user")
        environments.mkdir(exist_ok=True)
        self.victim.environments = environments
        self.victim.furnish()
        self.hand_over()
        super().prepare()

    def hand_over(self):
        (self.data / "environments/runtimes.d").mkdir(parents=True, exist_ok=True)
        for top in (self.data, pathlib.Path(self.victim.environments)):
            for path in [top, *top.rglob("*")]:
                os.chown(path, USER, USER, follow_symlinks=False)


class WithKeeper(World):
    """A keeper starts the supervisors. When it is killed, another one is started, as systemd does."""

    victims = ("supervisor", "init", "program", "keeper")

    def prepare(self):
        self.keeper = Keeper(self.folder)
        self.victim.flags = (*self.victim.flags, "--keeper", str(self.keeper.socket))
        super().prepare()

    def killed(self, role):
        if role == "keeper":
            self.keeper.process.wait()
            self.keeper.start()

    def close(self):
        super().close()
        self.keeper.kill()


class Upgraded(World):
    """Begins with the program of before; in the first round, while jobs run, the new one takes over."""

    @classmethod
    def missing(cls, options):
        return "" if options.before else "no program of before was named (--before)"

    def prepare(self):
        self.victim.program = self.options.before
        super().prepare()

    def lives(self):
        at = self.random.randrange(1, self.options.lives)
        for life in range(self.options.lives):
            if self.round == 1 and life == at:
                self.log("from here on the new program")
                self.count("upgrades")
                self.victim.program = self.options.program
                self.tail.begin_again()  # what the program of before showed is not judged
            self.killer.life()


CLOCK = ROOT / "tests/e2e/shifted_clock.c"
DAY_S = 86_400
AT_WORK_S = 1.5  # for what a server does by itself after its start
JUMPS_S = (100 * DAY_S, 4000 * DAY_S, 3600, -3600, -100 * DAY_S, -4000 * DAY_S)


class WrongClock(World):
    """The server's clock, and nobody else's, is wrong for some starts. The machine's is left alone: a library stands before clock_gettime."""

    @classmethod
    def missing(cls, options):
        return "" if shutil.which("cc") else "there is no C compiler"

    def prepare(self):
        library = self.folder / "clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK)], check=True)
        wrapper = self.folder / "trainyard"
        wrapper.write_text(f'#!/bin/sh\nLD_PRELOAD={library} CLOCK_SHIFT_S=$(cat {self.folder}/offset) exec {self.options.program} "$@"\n')
        wrapper.chmod(0o755)
        self.victim.program = wrapper
        self.victim.environments = self.folder / "environments"  # what is old may be removed, and others' is not ours
        shutil.copytree(self.options.environments, self.victim.environments, symlinks=True)
        self.set_clock(0)
        super().prepare()

    def set_clock(self, offset):
        (self.folder / "offset").write_text(str(offset))

    def settle(self):
        """Between two comparisons that find the same, jobs have ended and the clock is wrong. Nothing is asked meanwhile: a list shows what
        was made in the last 90 days."""
        self.start()
        present = self.verifier.registers()
        ended = self.verifier.await_jobs(present)
        for _ in range(3):
            offset = self.random.choice(JUMPS_S)
            self.log(f"the clock is wrong by {offset} s")
            self.count(f"clock jumps of {offset // DAY_S} days" if abs(offset) >= DAY_S else f"clock jumps of {offset} s")
            self.killer.kill_server()
            self.set_clock(offset)
            self.start()
            time.sleep(AT_WORK_S)
        self.killer.kill_server()
        self.set_clock(0)
        self.start()
        if self.verifier.registers() != sorted(ended):
            self.violation("clock", f"of {sorted(ended)} there are {self.verifier.registers()}")
        self.killer.kill_server()
        super().settle()
