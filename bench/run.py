#!/usr/bin/env python3
"""Runs the benchmarks, each beside its floor or peer in the same run, and prints a table; --write puts it into docs/benchmarks.md.

usage: bench/run.py --build DIR [--write] [NAME...]      names: start creates jobs logs recovery
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))


def median_ms(values):
    return f"{statistics.median(values) * 1e3:.1f} ms (p99 {sorted(values)[int(len(values) * 0.99)] * 1e3:.1f})"


class Bench:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        os.environ["TRAINYARD_PROGRAM"] = str(self.build / "trainyard")
        import conftest
        self.conftest = conftest
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-bench-", dir=os.environ.get("BENCH_DIR")))
        self.rows = []

    def row(self, what, budget, seen, peer):
        self.rows.append((what, budget, seen, peer))
        print(f"{what}: {seen}   [budget {budget}; beside it: {peer}]", flush=True)

    def server(self, name, *flags):
        return self.conftest.Server(self.folder / name, *flags)

    def package(self, server):
        copy = self.folder / "probe"
        if not copy.exists():
            shutil.copytree(ROOT / "tests/trainers/probe", copy)
            subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=copy, check=True, capture_output=True)
        return server.upload("packages", "probe.tar.gz", next((copy / "dist").glob("*.tar.gz")).read_bytes())

    def load(self, server, method, path, connections, count, body=""):
        port = server.url.rsplit(":", 1)[1]
        printed = subprocess.run([self.build / "bench/http_load", port, method, path, str(connections), str(count), body],
                                 check=True, capture_output=True, text=True)
        return json.loads(printed.stdout)

    # Submit to first user instruction of a Python module, beside `python3 -m`, posix_spawn, srun and sbatch.

    def start(self, rounds=30):
        server = self.server("start")
        try:
            uri = self.package(server)
            job = {"packageUris": [uri], "pythonModule": "probe.first"}
            server.submit("warm", **job)
            server.wait("warm")
            spent = []
            for number in range(rounds):
                begin = time.time()
                server.submit(f"job_{number}", **job)
                server.wait(f"job_{number}")
                line = next(text for text in server.texts(f"job_{number}") if text.startswith("FIRST "))
                spent.append(float(line.split()[1]) - begin)
            python = next((server.data / "environments/runtimes").glob("*/bin/python"))
            alone = self.interpreter_start(python, rounds)
            self.row("submit to first user instruction, Python module, warm", "interpreter start + 20 ms", median_ms(spent),
                     f"`python3 -m` alone {median_ms(alone)}; bare posix_spawn of a native program {median_ms(self.spawn(rounds))}; "
                     + self.slurm(python, rounds))
        finally:
            server.stop()

    def interpreter_start(self, python, rounds):
        spent = []
        for _ in range(rounds):
            begin = time.time()
            printed = subprocess.run([python, "-m", "probe.first"], cwd=ROOT / "tests/trainers/probe", check=True,
                                     capture_output=True, text=True).stdout
            spent.append(float(printed.split()[1]) - begin)
        return spent

    def spawn(self, rounds):
        spent = []
        for _ in range(rounds):
            begin = time.perf_counter()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
            spent.append(time.perf_counter() - begin)
        return spent

    def slurm(self, python, rounds):
        if not shutil.which("slurmctld", path="/usr/sbin:/usr/bin:" + os.environ["PATH"]):
            return "Slurm is not installed"
        folder = self.folder / "slurm"
        tool = str(ROOT / "tools/slurm-cluster.sh")
        try:
            subprocess.run([tool, "start", folder, "--nodes", "1", "--cpus", "8", "--gpus", "0"], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            return f"Slurm did not start: {error.stderr.decode().strip()[-200:]}"
        try:
            printed = subprocess.run([tool, "env", folder], check=True, capture_output=True, text=True).stdout
            environment = {**os.environ, "SLURM_CONF": printed.split("SLURM_CONF=")[1].split()[0].strip("'\"")}
            module = [str(python), "-m", "probe.first"]
            cwd = ROOT / "tests/trainers/probe"
            srun, sbatch = [], []
            for number in range(rounds):
                begin = time.time()
                line = subprocess.run(["srun", *module], cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout
                srun.append(float(line.split()[1]) - begin)
            for number in range(min(rounds, 10)):
                out = self.folder / f"sbatch{number}"
                begin = time.time()
                subprocess.run(["sbatch", "--wait", "-o", out, "--wrap", " ".join(module)], cwd=cwd, env=environment, check=True,
                               capture_output=True)
                sbatch.append(float(out.read_text().split()[1]) - begin)
            return f"`srun` the same {median_ms(srun)}; `sbatch` {median_ms(sbatch)}"
        finally:
            subprocess.run([tool, "stop", folder, "--purge"], capture_output=True)

    # Durable creates per second, beside what the disk can do.

    def creates(self, count=10000):
        server = self.server("creates", "--capacity", "strict")
        try:
            uri = self.package(server)
            # A job that needs more than this machine ever waits behind it: creates alone are measured, not starts.
            server.submit("blocker", packageUris=[uri], pythonModule="probe.task", args=["forever"])
            body = json.dumps({"jobId": "c_{n}", "trainingInput": {"region": "us-central1", "packageUris": [uri],
                                                                  "pythonModule": "probe.task"}})
            seen = self.load(server, "POST", "/v1/projects/p/jobs", 64, count, body)
            self.row("durable creates per second (64 connections)", "5,000, p99 20 ms",
                     f"{seen['per_second']:.0f}/s, p50 {seen['p50_ms']} ms, p99 {seen['p99_ms']} ms",
                     f"one fdatasync alone on this disk {self.fdatasync_ms():.2f} ms")
        finally:
            server.stop()

    def fdatasync_ms(self, rounds=200):
        path = self.folder / "sync"
        with open(path, "wb", buffering=0) as file:
            begin = time.perf_counter()
            for _ in range(rounds):
                file.write(b"x" * 4096)
                os.fdatasync(file.fileno())
            return (time.perf_counter() - begin) / rounds * 1e3

    # Trivial jobs, from the first create to the last end.

    def jobs(self, count=200):
        server = self.server("jobs")
        try:
            uri = self.package(server)
            server.submit("warm", packageUris=[uri], pythonModule="probe.first")
            server.wait("warm")
            body = json.dumps({"jobId": "t_{n}", "trainingInput": {"region": "us-central1", "packageUris": [uri],
                                                                  "pythonModule": "probe.first"}})
            begin = time.time()
            self.load(server, "POST", "/v1/projects/p/jobs", 8, count, body)
            server.wait(f"t_{count - 1}")
            for number in range(count):
                server.wait(f"t_{number}")
            spent = time.time() - begin
            python = next((server.data / "environments/runtimes").glob("*/bin/python"))
            begin = time.time()
            running = [subprocess.Popen([python, "-m", "probe.first"], cwd=ROOT / "tests/trainers/probe", stdout=subprocess.DEVNULL)
                       for _ in range(100)]
            for process in running:
                process.wait()
            floor = 100 / (time.time() - begin)
            self.row("trivial jobs completed per second (a Python module each)", "500 (native)", f"{count / spent:.0f}/s",
                     f"the interpreter alone, as many at once {floor:.0f}/s")
        finally:
            server.stop()

    # One replica prints a million lines.

    def logs(self, count=1_000_000):
        server = self.server("logs")
        try:
            uri = self.package(server)
            server.submit("warm", packageUris=[uri], pythonModule="probe.first")
            server.wait("warm")
            begin = time.time()
            server.submit("lines", packageUris=[uri], pythonModule="probe.task", args=["count", str(count)])
            server.wait("lines")
            spent = time.time() - begin
            begin = time.time()
            subprocess.run([sys.executable, "-m", "probe.task", "count", str(count)], cwd=ROOT / "tests/trainers/probe", check=True,
                           stdout=open(self.folder / "raw", "wb"))
            raw = time.time() - begin
            self.row("log lines per second, one replica, from create to endTime", "1,000,000 (store alone: bench/logs_bench)",
                     f"{count / spent:,.0f}/s", f"the same program into a file {count / raw:,.0f}/s")
        finally:
            server.stop()

    # kill -9, then serving again.

    def recovery(self):
        server = self.server("recovery")
        try:
            uri = self.package(server)
            body = json.dumps({"jobId": "r_{n}", "trainingInput": {"region": "us-central1", "packageUris": [uri],
                                                                  "pythonModule": "probe.task", "args": ["forever"]}})
            self.load(server, "POST", "/v1/projects/p/jobs", 16, 1000, body)
            server.kill()
            begin = time.time()
            server.start()
            spent = time.time() - begin
            self.row("serving again after kill -9, 1,000 unfinished jobs", "1 s", f"{spent * 1e3:.0f} ms", "Slurm 1.1 s with 4,000 jobs")
        finally:
            server.stop()
            for pid, _ in self.conftest.processes_with(f"{server.data}/attempts/"):
                os.kill(pid, 9)


NAMES = ["start", "creates", "jobs", "logs", "recovery"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    bench = Bench(options.build)
    try:
        for name in options.names or NAMES:
            getattr(bench, name)()
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    lines = ["| what | budget | seen | beside it, in the same run |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in bench.rows]
    if options.write:
        machine = f"{os.cpu_count()} CPUs, Linux {platform.release()}, {time.strftime('%Y-%m-%d')}"
        text = (ROOT / "docs/benchmarks.md").read_text() if (ROOT / "docs/benchmarks.md").exists() else "# Benchmarks\n"
        head = text.split("<!-- run.py -->")[0].rstrip()
        (ROOT / "docs/benchmarks.md").write_text(f"{head}\n\n<!-- run.py -->\n`./dev bench --write` on {machine}:\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
