"""The case `retention`: how long a sweep of many finished jobs takes, and how long others wait meanwhile."""

import contextlib
import os
import sqlite3
import subprocess
import threading
import time

SWEPT = int(os.environ.get("BENCH_SWEPT", "100000"))
LINES = b"x" * 2_000  # of a short job's log: one chunk


def add_logs(data):
    """A chunk for each job, beside the records that fill_history has written."""
    with contextlib.closing(sqlite3.connect(data / "trainyard.db")) as records:
        jobs = records.execute("SELECT uid, job_id, end_time FROM jobs").fetchall()
    with contextlib.closing(sqlite3.connect(data / "logs.db")) as logs, logs:
        logs.executemany("INSERT OR IGNORE INTO jobs VALUES(?, 'bench', ?, 1, ?, ?)", ((uid, job, end, len(LINES)) for uid, job, end in jobs))
        logs.executemany("INSERT INTO sources VALUES(?, ?, 'master', 'master-replica-0', '', '', 1)", ((10**9 + uid, uid) for uid, _, _ in jobs))
        logs.executemany("INSERT INTO chunks VALUES(NULL, ?, ?, 0, 1, 0, -1, ?, ?, ?, ?, 0, 0, 0)",
                         ((uid, 10**9 + uid, end, end, end, LINES) for uid, _, end in jobs))


class Client(threading.Thread):
    """Asks again and again; how long each answer took."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask, self.over, self.seconds = ask, threading.Event(), []
        self.start()

    def run(self):
        while not self.over.is_set():
            begin = time.perf_counter()
            self.ask(len(self.seconds))
            self.seconds.append(time.perf_counter() - begin)

    def end(self):
        self.over.set()
        self.join()
        return self.seconds


def clients(server, name):
    """One that creates jobs, which wait, and one that reads a page."""
    def create(number):
        assert server.create(f"{name}_{number}", pythonModule="a.b", packageUris=["gs://packages/probe.tar.gz"]).ok

    return Client(create), Client(lambda _: server.request("GET", "/v1/projects/bench/jobs?pageSize=20"))


def retention(bench):
    server = bench.server("retention", "--keep-jobs", "never", "--keep-logs", "never")
    bench.upload(server)
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    alone = clients(server, "alone")
    time.sleep(10)
    alone = [client.end() for client in alone]
    server.stop()
    subprocess.run([bench.tool("fill_history"), server.data, str(SWEPT)], check=True)
    add_logs(server.data)
    server.flags = ("--keep-jobs", "28d", "--keep-logs", "never")
    begin = time.perf_counter()
    server.start()
    beside = clients(server, "beside")
    with contextlib.closing(sqlite3.connect(server.data / "trainyard.db", timeout=60)) as records:
        while records.execute("SELECT EXISTS(SELECT 1 FROM jobs WHERE project = 'bench')").fetchone()[0]:
            time.sleep(0.2)
    took = time.perf_counter() - begin
    beside = [client.end() for client in beside]
    bench.stop(server)
    bench.row(f"a sweep of {SWEPT:,} finished jobs, each with a log", "10 min", f"{took:.1f} s", f"{SWEPT / took:,.0f} jobs a second", costs=took)
    for what, without, during in (("create", alone[0], beside[0]), ("list", alone[1], beside[1])):
        bench.row(f"the longest {what} beside it", "250 ms", f"{max(during) * 1e3:.0f} ms",
                  f"without: {max(without) * 1e3:.0f} ms; p99 {p99(during)} ms, without {p99(without)} ms", costs=max(during))


def p99(values):
    return f"{sorted(values)[int(len(values) * 0.99)] * 1e3:.1f}"
