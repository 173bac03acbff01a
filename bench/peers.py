"""What the figures are compared with: the same programs started without a service, and by Slurm."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

from harness import ROOT, TRAINER

SLURM_CPUS = 64  # it starts as many jobs as there are free CPUs once a second: not to be what limits it


def started(text):
    """Seconds of the monotonic clock that the native program printed."""
    return int(text.split()[1]) / 1e9


def spawn_times(program, rounds):
    """Bare posix_spawn to the program's first instruction."""
    spent = []
    for _ in range(rounds):
        ours, theirs = os.pipe()
        begin = time.monotonic()
        pid = os.posix_spawn(program, [str(program)], {}, file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 1)])
        os.close(theirs)
        os.waitpid(pid, 0)
        spent.append(started(os.read(ours, 100).decode()) - begin)
        os.close(ours)
    return spent


def spawns_per_second(program, rounds=500):
    """posix_spawn and wait, one after the other."""
    begin = time.perf_counter()
    for _ in range(rounds):
        pid = os.posix_spawn(program, [str(program)], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        os.waitpid(pid, 0)
    return rounds / (time.perf_counter() - begin)


def interpreter_times(python, rounds):
    """`python -m` to the module's first instruction."""
    spent = []
    for _ in range(rounds):
        begin = time.time()
        printed = subprocess.run([python, "-m", "probe.first"], cwd=TRAINER, check=True, capture_output=True, text=True).stdout
        spent.append(float(printed.split()[1]) - begin)
    return spent


@contextlib.contextmanager
def slurm(folder):
    """A throwaway Slurm of one node; yields how to run its commands, or None if it is not installed."""
    if not shutil.which("slurmctld", path="/usr/sbin:/usr/bin:" + os.environ["PATH"]):
        yield None
        return
    folder = pathlib.Path(folder)
    tool = str(ROOT / "tools/slurm-cluster.sh")
    subprocess.run([tool, "start", folder, "--nodes", "1", "--cpus", str(SLURM_CPUS), "--gpus", "0"], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        yield Slurm(folder)
    finally:
        subprocess.run([tool, "stop", folder, "--purge"], capture_output=True)


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def command(self, *words):
        return subprocess.run([str(word) for word in words], cwd=TRAINER, env=self.environment, check=True,
                              capture_output=True, text=True).stdout

    def srun_times(self, command, rounds, clock, when):
        spent = []
        for _ in range(rounds):
            begin = clock()
            spent.append(when(self.command("srun", *command)) - begin)
        return spent

    def sbatch_times(self, program, rounds):
        spent = []
        for number in range(rounds):
            out = self.folder / f"sbatch{number}"
            begin = time.monotonic()
            self.command("sbatch", "--wait", "-o", out, "--wrap", program)
            spent.append(started(out.read_text()) - begin)
        return spent

    def jobs_per_second(self, program, count=200):
        done = self.folder / "log/jobcomp.txt"
        before = len(done.read_text().splitlines()) if done.exists() else 0
        begin = time.perf_counter()
        self.command("sbatch", f"--array=0-{count - 1}", "-o", "/dev/null", "--wrap", program)
        while len(done.read_text().splitlines()) < before + count:
            time.sleep(0.02)
            assert time.perf_counter() - begin < 120, "Slurm does not finish its jobs"
        return count / (time.perf_counter() - begin)
