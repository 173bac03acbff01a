"""Jobs on a real Slurm beside what Slurm does alone, in the same run; and the engine with a Slurm that is simulated."""

import datetime
import os
import random
import re
import statistics
import time

from cluster_parts import MODULE, GangStarts, Watch, simulated, table_of, with_and_without
from harness import TRAINER, millis

NODES = 4
SCHEDULER_PERIOD_S = 1  # bf_interval of the tests' clusters: batch jobs begin in its passes
SUBMITTED = re.compile(r"^\[(\S+)\] _slurm_rpc_submit_batch_job: JobId=(\d+) ", re.MULTILINE)
STARTED = re.compile(r"^\[(\S+)\] sched.*(?:Started|Allocate) JobId=(\d+) ", re.MULTILINE)
# What one replica of MACHINE_TYPE is to Slurm: the same is asked for with and without us.
REPLICA = ("--ntasks-per-node=1", "--cpus-per-task=4", "--mem-per-cpu=3840")


def slurm(bench, rounds=20, count=1000, turns=3, watched_s=30):
    """Submission to the first instruction of one replica and of the last of four, and what our questions cost the controller."""
    from slurm_cluster import SlurmCluster  # harness.Bench made it known
    log = bench.folder / "slurmctld.log"  # with milliseconds, which its standard error has not
    with SlurmCluster(NODES, cpus=16, memory=64000, isolate="pid",  # room for a gang while the one before ends
                      settings={"SlurmctldLogFile": log}) as cluster:
        os.environ.update(cluster.env())
        server = bench.server("slurm", "--engine", "slurm", "--slurm-option=--ntasks-per-node=1",
                              "--node-dir", str(cluster.folder / "trainyard"), "--node-cache", str(cluster.folder / "cache"))
        uri = bench.warm(server)
        starts(Steps(bench, cluster, server, uri, 1), log, rounds)
        starts(Steps(bench, cluster, server, uri, NODES), log, rounds)
        questions(bench, cluster, server, uri, count, turns, watched_s)
        bench.stop(server)
        cluster.run("scancel", "--user=root")


class Steps(GangStarts):
    """The same program by the same interpreter in the same step."""

    def __init__(self, bench, cluster, server, uri, replicas):
        super().__init__(bench, server, uri, replicas)
        self.cluster = cluster
        python = next((cluster.folder / "cache").glob("environments/layers/*/bin/python"))
        self.program = f"{python} -m {MODULE}"

    def words(self):
        return (f"--ntasks={self.replicas}", *REPLICA, "--chdir", str(TRAINER))

    def sbatch(self):
        out = self.cluster.folder / "sbatch.out"
        begin = time.time()
        self.cluster.run("sbatch", "--wait", *self.words(), "-o", str(out), "--wrap", f"srun {self.program}")
        return self.last_first(out.read_text().splitlines()) - begin

    def srun(self):
        begin = time.time()
        said = self.cluster.run("srun", *self.words(), *self.program.split())
        return self.last_first(said.stdout.splitlines()) - begin


def starts(steps, log, rounds):
    """Through us, by sbatch and by srun, in turns.

    A job of sbatch waits for the scheduler's next pass, ours like any: up to a second of luck in each. So what counts is without it.
    """
    ways = {"ours": steps.ours, "sbatch": steps.sbatch, "srun": steps.srun}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    own: dict[str, list[float]] = {"ours": [], "sbatch": []}
    for number in range(rounds):
        for name in ways if number % 2 == 0 else reversed(ways):
            time.sleep(random.uniform(0, SCHEDULER_PERIOD_S))  # else each way meets the scheduler's clock always at the same place
            spent[name].append(ways[name]())
            if name in own:
                own[name].append(spent[name][-1] - waited_for_a_pass(log))
    more = [1e3 * (ours - alone) for ours, alone in zip(own["ours"], own["sbatch"])]
    first, median, third = statistics.quantiles(more, n=4)
    steps.bench.row(f"submit to user code on Slurm, {steps.which()}, {rounds} rounds; without the wait for the scheduler's pass",
                    "`sbatch` of the same step + 50 ms",
                    f"{millis(own['ours'])}: {median:+.0f} ms in a round (quartiles {first:+.0f} to {third:+.0f})",
                    f"`sbatch` {millis(own['sbatch'])}; with that wait {millis(spent['ours'])}, `sbatch` {millis(spent['sbatch'])}, "
                    f"`srun`, which does not wait so, {millis(spent['srun'])}",
                    costs=statistics.median(own["ours"]))


def waited_for_a_pass(log):
    """Seconds from when slurmctld had the newest job to when it began to start it, by its own log."""
    text = log.read_text()
    submitted, job = SUBMITTED.findall(text)[-1]
    [started] = [when for when, number in STARTED.findall(text) if number == job]
    return (datetime.datetime.fromisoformat(started) - datetime.datetime.fromisoformat(submitted)).total_seconds()


def requests_of(cluster):
    """What sdiag counts, by the type of request: how many, and the milliseconds that they took."""
    lines = re.findall(r"^\s*((?:REQUEST|MESSAGE)_\w+)\s*\(\s*\d+\)\s+count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)",
                       cluster.run("sdiag").stdout, re.MULTILINE)
    return {name: (int(number), int(spent) / 1e3) for name, number, spent in lines}


def questions(bench, cluster, server, uri, count, turns, watched_s):
    """What is spent in the controller while so many of our jobs wait, with the server and without it, in turns."""
    cluster.set_partition("DOWN")
    for number in range(count):
        bench.create(server, f"queued_{number}", uri)
    bench.e2e.wait_for(lambda: True if len([job for job in cluster.jobs() if job["state"] == "PENDING"]) == count else None,
                       lambda: f"{len(cluster.jobs())} jobs")

    def wait_for_lists(before):
        lists = before["REQUEST_JOB_INFO"][0]
        bench.e2e.wait_for(lambda: True if requests_of(cluster)["REQUEST_JOB_INFO"][0] >= lists + 2 else None,
                           lambda: "the server asks for no list")
    ours, alone = with_and_without(server, lambda: Watch(cluster.processes["slurmctld"], lambda: requests_of(cluster)), watched_s, turns,
                                   wait_for_lists)
    added = [with_us - without for with_us, without in zip(ours.shares, alone.shares)]
    asked, took_ms = ours.a_minute("REQUEST_JOB_INFO")
    bench.row(f"our questions to slurmctld, {count:,} jobs queued", "5 % of a CPU",
              f"{statistics.median(added):.2f} % (in {turns} turns {min(added):.2f} to {max(added):.2f}); "
              f"{asked:.0f} lists a minute, {took_ms:.0f} ms by its sdiag",
              f"without us it uses {statistics.median(alone.shares):.2f} %", costs=statistics.median(ours.shares))
    bench.note(table_of("requests to slurmctld a minute", ours, alone))


def slurm_simulation(bench, gangs=100_000, nodes=10_000):
    """The engine's allocator between a simulated Slurm and simulated agents, on a simulated clock; all else is real."""
    seen, printed = simulated(bench, "slurm_simulation_bench", gangs, nodes)
    with_jobs = f"{gangs:,} jobs queued, {nodes:,} simulated nodes"
    bench.row(f"{with_jobs}: the longest turn of the loop", "50 ms", f"{seen['the longest turn of the loop']:.1f} ms",
              f"a list of them printed and read, off the loop: {seen['CPU of printing and reading a list, off the loop']:.0f} ms; "
              f"read alone {seen['floor: a list of that many jobs is read']:.0f} ms",
              costs=seen["the longest turn of the loop"])
    bench.row(f"{with_jobs}: reservations, submissions, gangs that got room, a second", "",
              ", ".join(f"{seen[name]:,.0f}" for name in ("reservations per second of CPU, each asked what it waits for",
                                                          "submissions per second, durable", "gangs that had room, per second")),
              f"decisions alone {seen['gangs alone: decisions per second']:,.0f}/s; write and fdatasync of 4 KiB "
              f"{seen['floor: write and fdatasync of 4 KiB']:,.0f}/s; sbatch takes some 300/s",
              costs=1 / seen["reservations per second of CPU, each asked what it waits for"])
    bench.row(f"{with_jobs}: memory of a queued job", "", f"{seen['memory of a queued job, the simulated cluster left out']:,.0f} bytes",
              f"of it the decisions' own {seen['gangs alone: memory of a gang']:,.0f}; resident more in all "
              f"{seen['resident more than at first, the simulated cluster left out']:,.0f} MiB",
              costs=seen["memory of a queued job, the simulated cluster left out"])
    bench.note(f"slurm_simulation_bench:\n{printed}")
