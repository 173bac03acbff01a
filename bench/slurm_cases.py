"""Jobs on a real Slurm beside what Slurm does alone, in the same run."""

import os
import pathlib
import time

from harness import PYTHON, TRAINER, millis, quantile

REPLICAS = 4
GANG = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": str(REPLICAS - 1)}


def slurm(bench, rounds=20):
    """Submission to the first instruction of the last of four replicas, and what our questions cost the controller."""
    from slurm_cluster import SlurmCluster  # harness.Bench made it known
    with SlurmCluster(REPLICAS, cpus=16, memory=64000, isolate="pid") as cluster:  # room for a gang while the one before ends
        os.environ.update(cluster.env())
        server = bench.server("slurm", "--engine", "slurm", "--node-dir", str(cluster.folder / "trainyard"),
                              "--node-cache", str(cluster.folder / "cache"))
        uri = bench.warm(server)
        gang(bench, server, uri, "warm_gang")
        ours, batch, direct = [], [], []
        for number in range(rounds):
            ours.append(gang(bench, server, uri, f"gang_{number}"))
            batch.append(sbatch(cluster, number))
            direct.append(srun(cluster))
        more = 1e3 * (quantile(ours, 0.5) - quantile(batch, 0.5))
        bench.row("submit to user code on 4 nodes of Slurm", f"`sbatch` + 50 ms = {1e3 * quantile(batch, 0.5) + 50:.0f} ms", millis(ours),
                  f"`sbatch` of the same step {millis(batch)} ({more:+.0f} ms); `srun` {millis(direct)}")
        questions(bench, cluster, server, uri)
        bench.stop(server)
        cluster.run("scancel", "--user=root")


def last_first(lines, count=REPLICAS):
    """When the last of so many began."""
    begun = [float(line.split()[1]) for line in lines if line.startswith("FIRST ")]
    assert len(begun) == count, lines
    return max(begun)


def gang(bench, server, uri, name):
    begin = time.time()
    bench.create(server, name, uri, **GANG)
    assert server.wait(name)["state"] == "SUCCEEDED", server.texts(name)
    # Behind the barrier all begin together; when the master has ended, the others are stopped.
    return last_first(server.texts(name, "master-replica-0"), 1) - begin


def sbatch(cluster, number):
    out = cluster.folder / f"sbatch{number}"
    begin = time.time()
    cluster.run("sbatch", "--wait", f"--ntasks={REPLICAS}", "--ntasks-per-node=1", "-o", str(out), "--chdir", str(TRAINER),
                "--wrap", f"srun python3 -m {PYTHON['pythonModule']}")
    return last_first(out.read_text().splitlines()) - begin


def srun(cluster):
    begin = time.time()
    said = cluster.run("srun", f"--ntasks={REPLICAS}", "--ntasks-per-node=1", "--chdir", str(TRAINER), "python3", "-m", PYTHON["pythonModule"])
    return last_first(said.stdout.splitlines()) - begin


def controller_seconds(cluster):
    fields = pathlib.Path(f"/proc/{cluster.processes['slurmctld'].pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def questions(bench, cluster, server, uri, count=1000, watched_s=60):
    """What is spent in the controller while so many of our jobs wait, with the server and without it."""
    cluster.set_partition("DOWN")
    for number in range(count):
        bench.create(server, f"queued_{number}", uri)
    bench.e2e.wait_for(lambda: True if len([job for job in cluster.jobs() if job["state"] == "PENDING"]) == count else None,
                       lambda: f"{len(cluster.jobs())} jobs")
    shares = []
    for running in (True, False):
        if not running:
            server.stop()
        before = controller_seconds(cluster)
        time.sleep(watched_s)
        shares.append((controller_seconds(cluster) - before) / watched_s)
    bench.row(f"our questions to slurmctld, {count:,} jobs queued", "5 % of a CPU", f"{100 * (shares[0] - shares[1]):.2f} %",
              f"without us it uses {100 * shares[1]:.2f} %")
