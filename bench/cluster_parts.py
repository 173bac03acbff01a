"""What the cases of clusters share: gangs that say when they began, what a cluster's controller does with our server and without it, and what the
programs with simulated clusters print."""

import os
import pathlib
import re
import subprocess
import time

MODULE = "probe.lingers"
MACHINE_TYPE = "n1-standard-4"


class GangStarts:
    """Gangs of one size. Each way to start one says how long its last replica took to begin."""

    def __init__(self, bench, server, uri, replicas):
        self.bench, self.server, self.uri, self.replicas = bench, server, uri, replicas
        self.number = 0
        self.ours()  # makes the environment

    def ours(self):
        self.number += 1
        name = f"gang_{self.replicas}_{self.number}"
        workers = {"workerType": MACHINE_TYPE, "workerCount": str(self.replicas - 1)} if self.replicas > 1 else {}
        begin = time.time()
        self.bench.create(self.server, name, self.uri, scaleTier="CUSTOM", masterType=MACHINE_TYPE, pythonModule=MODULE, **workers)
        assert self.server.wait(name)["state"] == "SUCCEEDED", self.server.texts(name)
        return self.last_first(self.server.texts(name)) - begin

    def last_first(self, lines):
        begun = [float(line.split()[1]) for line in lines if line.startswith("FIRST ")]
        assert len(begun) == self.replicas, lines
        return max(begun)

    def which(self):
        return "one replica" if self.replicas == 1 else f"the last of {self.replicas} replicas, a node each"


def cpu_seconds(process):
    """CPU time that the process has used."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watch:
    """What a controller did in windows of the same kind.

    @param process  the controller's
    @param requests  returns what it counts, by the type of request: how many, and the milliseconds that they took
    """

    def __init__(self, process, requests):
        self.process, self.count = process, requests
        self.shares, self.requests, self.minutes = [], {}, 0.0

    def window(self, seconds):
        requests, used, begin = self.count(), cpu_seconds(self.process), time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - begin
        self.shares.append(100 * (cpu_seconds(self.process) - used) / passed)
        self.minutes += passed / 60
        for name, (number, spent) in self.count().items():
            before, sum_before = requests.get(name, (0, 0)), self.requests.get(name, (0, 0))
            self.requests[name] = (sum_before[0] + number - before[0], sum_before[1] + spent - before[1])

    def a_minute(self, name):
        number, spent = self.requests.get(name, (0, 0))
        return number / self.minutes, spent / self.minutes


def with_and_without(server, watch, seconds, turns, wait_for_calls):
    """The watches of windows with the server, which runs, and without it, in turns. It does not run afterwards.

    @param watch  makes a watch
    @param wait_for_calls  called with the counts before the server was started again; waits until it has asked what it asks at first
    """
    ours, alone = watch(), watch()
    for turn in range(turns):
        if turn > 0:
            before = ours.count()
            server.start()
            wait_for_calls(before)
        ours.window(seconds)
        server.stop()
        alone.window(seconds)
    return ours, alone


def table_of(title, ours, alone):
    """The requests of both in a minute, each type in a line."""
    lines = [f"{title:40} {'with us':>8} {'ms':>8} {'without':>8} {'ms':>8}"]
    for name in sorted({*ours.requests, *alone.requests}):
        if ours.a_minute(name)[0] + alone.a_minute(name)[0] > 0:
            lines.append(f"{name:40} " + " ".join(f"{number:8.1f} {spent:8.2f}" for number, spent in (ours.a_minute(name), alone.a_minute(name))))
    return "\n".join(lines)


def simulated(bench, program, gangs, nodes):
    """(the figures that the program prints, by their names; all that it prints)"""
    done = subprocess.run([bench.tool(program), bench.folder, str(gangs), str(nodes)], check=True, capture_output=True, text=True)
    return {name.strip(): float(value) for name, value in re.findall(r"^(.{72}) +([0-9.]+) ", done.stdout, re.MULTILINE)}, done.stdout.rstrip()
