"""A real server of the built program with a warm environment, and programs that print when they began."""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import requests

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINER = ROOT / "tests/trainers/probe"
PYTHON = {"pythonModule": "probe.first"}  # prints FIRST and the time, its first instruction


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def millis(values):
    return f"{quantile(values, 0.5) * 1e3:.1f} ms (p99 {quantile(values, 0.99) * 1e3:.1f})"


def field(path, key):
    """Bytes of a "Key:   N kB" line."""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def fdatasync_ms(bench, rounds=300):
    with open(bench.folder / "sync", "wb", buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(rounds):
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
        return (time.perf_counter() - begin) / rounds * 1e3


def machine(load):
    """Where and when figures were taken; `load`: the machine's a minute before."""
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{os.cpu_count()} CPUs, Linux {kernel}, {time.strftime('%Y-%m-%d')}, load before it {load:.2f}"


class Lacks(Exception):
    """What a case needs is not there."""


class Row(NamedTuple):
    what: str
    budget: str
    seen: str
    beside: str
    costs: float | None = None  # the figure, less is better: what two programs are compared by


class Bench:
    def __init__(self, build, beside=None):
        """`beside`: another trainyard to compare with, for the cases that can run both in turn."""
        self.build = pathlib.Path(build).resolve()
        self.program = self.build / "trainyard"  # that is measured
        self.beside = beside and pathlib.Path(beside).resolve()
        os.environ["TRAINYARD_PROGRAM"] = str(self.build / "trainyard")
        sys.path.insert(0, str(ROOT / "tests/e2e"))
        import trainyard_server
        self.e2e = trainyard_server
        # Not /tmp, which may be in memory: what is measured is durable.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-bench-", dir=os.environ.get("BENCH_DIR", self.build)))
        self.native = self.build / "bench/replica_bench_program"
        self.rows = []
        self.notes = []
        self.servers = []
        self.native_servers = set()

    def row(self, what, budget, seen, beside, costs=None):
        self.rows.append(Row(what, budget, seen, beside, costs))
        print(f"{what}: {seen}   [budget {budget}; beside it: {beside}]", flush=True)

    def note(self, text):
        self.notes.append(text)
        print(text, flush=True)

    def close(self):
        for server in list(self.servers):
            self.stop(server)
        shutil.rmtree(self.folder, ignore_errors=True)

    def programs(self):
        """The programs by name: this one, and the other one if there is one."""
        return {"this": self.build / "trainyard", **({"other": self.beside} if self.beside else {})}

    def rows_of(self, program, case):
        """Runs the case with another program; its rows, which are not ours."""
        ours = self.program, self.rows, self.notes, self.folder
        self.program, self.rows, self.notes, self.folder = program, [], [], pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        try:
            case(self)
            return self.rows
        finally:
            for server in list(self.servers):
                self.stop(server)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.program, self.rows, self.notes, self.folder = ours

    def tool(self, name):
        """A program of the benchmarks that is built from the same code as the program that is measured."""
        path = self.program.parent / "bench" / name
        if not path.exists():
            raise Lacks(f"{path} is not there")
        return path

    def server(self, name, *flags, program=None, environments=None):
        server = self.e2e.Server(self.folder / name, *flags, program=program or self.program, environments=environments)
        server.session = requests.Session()  # one connection, as clients have
        self.servers.append(server)
        return server

    def stop(self, server):
        """Also ends whatever its jobs still run."""
        self.servers.remove(server)
        self.native_servers.discard(server)
        server.stop()
        for pid, _ in self.e2e.processes_with(f"{server.data}/attempts/"):
            self.e2e.kill(pid)
        shutil.rmtree(server.data, ignore_errors=True)

    def upload(self, server):
        dist = self.folder / "probe/dist"
        if not dist.exists():
            shutil.copytree(TRAINER, dist.parent)
            subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=dist.parent, check=True, capture_output=True)
        return server.upload("packages", "probe.tar.gz", next(dist.glob("*.tar.gz")).read_bytes())

    def warm(self, server, native=False):
        """Uploads the trainer and runs it once, so that its environment is built. A package job runs Python; with `native`
        the environment's interpreter is then replaced by a small static program, which prints `started NANOSECONDS` as soon
        as it is in main. All else is the path of every job."""
        uri = self.upload(server)
        server.submit("warm", packageUris=[uri], **PYTHON)
        assert server.wait("warm")["state"] == "SUCCEEDED", server.texts("warm")
        if native:
            for python in (server.data / "environments/layers").glob("*/bin/python"):
                python.unlink()
                shutil.copy(self.native, python)
            self.native_servers.add(server)
        return uri

    def create(self, server, job_id, uri=None, **training_input):
        """Seconds until the answer."""
        body = self.job(job_id, uri, **training_input)
        begin = time.perf_counter()
        response = server.session.post(server.url + "/v1/projects/p/jobs", json=body)
        assert response.ok, response.text
        return time.perf_counter() - begin

    def job(self, job_id, uri=None, **training_input):
        """The body of a create; with `uri` of the probe's package."""
        package = {"packageUris": [uri], **PYTHON} if uri else {}
        if self.native_servers:  # a warm interpreter would be a fork of the Python that was replaced
            package["env"] = [{"name": "TRAINYARD_WARM", "value": "0"}]
        return {"jobId": job_id, "trainingInput": {"region": "us-central1", **package, **training_input}}

    def occupy(self, server, uri, **training_input):
        """A gang that takes all slots of the machine and waits: later jobs stay in the queue."""
        workers = 4 * (os.cpu_count() or 1)
        program = {"pythonModule": "probe.first", "args": ["wait"], **training_input}
        server.submit("blocker", packageUris=[uri], scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4",
                      workerCount=str(workers), **program)
        server.wait("blocker", lambda job: job["state"] == "RUNNING")

    def load(self, server, method, path, connections, count, body="", token=""):
        port = server.url.rsplit(":", 1)[1]
        done = subprocess.run([self.build / "bench/http_load", port, method, path, str(connections), str(count), body, token],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-1000:]
        return json.loads(done.stdout)

    def body(self, prefix, uri, **training_input):
        return json.dumps(self.job(prefix + "_{n}", uri, **training_input))

    def wait_all(self, server, prefix, count):
        """Waits until the jobs PREFIX_0... have ended; the last end, as the server recorded it."""
        ends = []
        for number in reversed(range(count)):
            job = server.wait(f"{prefix}_{number}")
            assert job["state"] == "SUCCEEDED", (job, server.texts(job["jobId"])[-5:])
            ends.append(job["endTime"])
        return seconds(max(ends))


def seconds(timestamp):
    """Unix time of an RFC 3339 timestamp with up to 9 digits."""
    import calendar
    whole, _, part = timestamp.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (part or "0"))
