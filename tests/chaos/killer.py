"""Kills the server, its keeper, supervisors, their sandboxes' first processes and programs, as a seeded plan says."""

import os
import signal
import time
from pathlib import Path

EARLY_S = 0.06  # a start that is killed before it has done much
WARM_UP_S = 0.7  # about what recovery takes with sanitizers
ROLES = {"trainyard-repl": "supervisor", "trainyard-init": "init", "trainyard-keep": "keeper", "trainyard-agen": "agent",
         "trainyard-start": "starter"}


def processes():
    """(pid, role) of what runs in this PID namespace, which has nothing but one world."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name = (entry / "comm").read_text().strip()
            if name in ROLES:
                yield int(entry.name), ROLES[name]
            elif name.startswith("python") and b"witness.task" in (entry / "cmdline").read_bytes():
                yield int(entry.name), "program"
        except OSError:
            continue


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


class Killer:
    """Lives of the server, one after the other. What happens in each is drawn before it begins: a seed repeats the plan, not the timing."""

    LIVES = (("run", 10), ("early", 3), ("recovery", 4), ("stop", 1), ("terminate", 1))

    def __init__(self, world, random, victims):
        self.world, self.victim, self.random, self.victims = world, world.victim, random, victims

    def life(self):
        """One life of the server, which is dead at its end."""
        kinds, weights = zip(*self.LIVES)
        kind = self.random.choices(kinds, weights)[0]
        self.world.log(f"life: {kind}")
        getattr(self, kind)()

    def run(self):
        """Serves for a moment, in which others are killed."""
        plan = sorted((self.random.random(), self.role(), self.random.choice((1, 1, 1, 99))) for _ in range(self.random.choice((0, 1, 1, 2, 3))))
        length, at = self.random.uniform(0.05, 1.0), 0.0
        self.world.start()
        for moment, role, most in plan:
            time.sleep((moment - at) * length)
            at = moment
            if self.victims:
                self.kill_some(role, most)
            else:
                self.tell_supervisors()
        time.sleep((1 - at) * length)
        if self.random.random() < 0.15:  # the whole machine's processes at once
            self.kill_some("supervisor" if self.victims else "", 99)
        self.kill_server()

    def early(self):
        """A burst of starts that are killed at once."""
        for _ in range(self.random.choice((1, 2, 4))):
            self.victim.launch()
            time.sleep(self.random.uniform(0, EARLY_S))
            self.kill_server()

    def recovery(self):
        self.victim.launch()
        moment = self.random.uniform(EARLY_S, WARM_UP_S)
        if self.random.random() < 0.4:
            time.sleep(moment / 2)
            self.kill_some(self.role(), self.random.choice((1, 99)))
            moment /= 2
        time.sleep(moment)
        self.kill_server()

    def stop(self):
        """Held up while others go on, then let go, then killed."""
        self.world.start()
        held = [(self.victim.process.pid, "server"), *self.some("supervisor", 2), *self.some("init", 1)]
        for pid, role in held:
            if send(pid, signal.SIGSTOP):
                self.world.count(f"SIGSTOP of {role}")
        time.sleep(self.random.uniform(0.1, 0.6))
        for pid, _ in held:
            send(pid, signal.SIGCONT)
        time.sleep(self.random.uniform(0, 0.3))
        self.kill_server()

    def terminate(self):
        """As a shutdown of the machine does: everybody is told, and what does not end in time is killed."""
        self.world.start()
        time.sleep(self.random.uniform(0.05, 0.5))
        self.tell_supervisors()
        self.world.count("SIGTERM of server")
        status = self.victim.stop()
        if status != 0:
            self.world.violation("end", f"told to end, the server ended with {status}")

    def role(self):
        """Who is killed next; in a gentle round nobody but the server is."""
        return self.random.choice(self.victims or ("",))

    def tell_supervisors(self):
        for pid, role in list(processes()):
            if role == "supervisor" and send(pid, signal.SIGTERM):
                self.world.count("SIGTERM of supervisor")

    def some(self, role, most):
        found = [each for each in processes() if each[1] == role]
        self.random.shuffle(found)
        return found[:most]

    def kill_some(self, role, most):
        for pid, _ in self.some(role, most):
            if send(pid, signal.SIGKILL):
                self.world.count(f"SIGKILL of {role}")
                self.world.killed(role)

    def kill_server(self):
        status = self.victim.kill()
        if status is None:
            self.world.count("SIGKILL of server")
        else:
            self.world.died(status)
