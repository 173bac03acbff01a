"""The cases, by the name that ./dev bench takes. Each adds rows: what, budget, measured, compared with."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse

import peers
from access_cases import access
from console_cases import console
from floods import floods
from harness import TRAINER, fdatasync_ms, field, millis, quantile, seconds
from image_cases import image_pull
from import_cases import imports, trials
from kubernetes_cases import kubernetes, kubernetes_simulation
from retention_cases import retention
from slurm_cases import slurm, slurm_simulation
from tuning_cases import tuning, tuning_trials

HISTORY = int(os.environ.get("BENCH_HISTORY", "1000000"))


def start(bench, rounds=60):
    """Submit to first user instruction, one job after the other, over one connection."""
    server = bench.server("start")
    uri = bench.warm(server)
    python, answers = [], []
    for number in range(rounds):
        begin = time.time()
        answers.append(bench.create(server, f"python_{number}", uri))
        python.append(float(line_of(server, f"python_{number}", "FIRST ")[1]) - begin)
    bench.stop(server)
    server = bench.server("start-native")
    uri = bench.warm(server, native=True)
    native = []
    for number in range(rounds):
        begin = time.monotonic()
        answers.append(bench.create(server, f"native_{number}", uri))
        native.append(peers.started(" ".join(line_of(server, f"native_{number}", "started "))) - begin)
    bench.stop(server)

    interpreter = "/usr/bin/python3"
    alone = peers.interpreter_times(interpreter, rounds)
    spawned = peers.spawn_times(bench.native, rounds)
    beside_native, beside_python = f"bare posix_spawn {millis(spawned)}", f"`python3 -m` alone {millis(alone)}"
    with peers.slurm(bench.folder / "slurm") as slurm:
        if slurm:
            srun = slurm.srun_times([bench.native], rounds, time.monotonic, peers.started)
            sbatch = slurm.sbatch_times(bench.native, 10)
            beside_native += f"; `srun` {millis(srun)}; `sbatch` {millis(sbatch)}"
            srun = slurm.srun_times([interpreter, "-m", "probe.first"], rounds, time.time, lambda text: float(text.split()[1]))
            beside_python += f"; `srun` {millis(srun)}"
        else:
            beside_native += "; Slurm is not installed"
    bench.row("submit to first user instruction, native, warm", "10 ms (p99 50)", millis(native), beside_native)
    bench.row("the same for a Python module", f"interpreter + 20 = {quantile(alone, 0.5) * 1e3 + 20:.0f} ms", millis(python),
              beside_python)
    bench.row("submit to 200, durable", "", millis(answers), f"write and fdatasync of 4 KiB {fdatasync_ms(bench):.2f} ms")


def line_of(server, job_id, prefix):
    time.sleep(0.1)  # lets the job run undisturbed
    server.wait(job_id)
    return next(text for text in server.texts(job_id) if text.startswith(prefix)).split()


def creates(bench, count=20000):
    """Creates alone: the jobs stay in the queue."""
    server = bench.server("creates")
    uri = bench.warm(server, native=True)
    bench.occupy(server, uri)
    seen = bench.load(server, "POST", "/v1/projects/p/jobs", 64, count, bench.body("c", uri))
    bench.row("durable creates per second (64 connections)", "5,000 (p99 20 ms)",
              f"{seen['per_second']:,.0f}/s, p50 {seen['p50_ms']} ms, p99 {seen['p99_ms']} ms",
              f"write and fdatasync of 4 KiB {1e3 / fdatasync_ms(bench):,.0f}/s")
    bench.stop(server)


def takeover(bench, count=20000, rounds=5):
    """From the start of the program to its answer about a job, while so many jobs have not ended."""
    server = bench.server("takeover")
    uri = bench.warm(server, native=True)
    bench.occupy(server, uri)
    bench.load(server, "POST", "/v1/projects/p/jobs", 64, count, bench.body("c", uri))
    spent = []
    for _ in range(rounds):
        server.kill()
        begin = time.perf_counter()
        server.start()
        assert server.get(f"c_{count - 1}")["state"] == "QUEUED"
        spent.append(time.perf_counter() - begin)
    bench.stop(server)
    bench.row(f"serving again after kill -9, {count:,} unfinished jobs", "0.5 s", millis(spent),
              "bare start of the program " + program_start(bench), costs=quantile(spent, 0.5))


def program_start(bench):
    spent = []
    for _ in range(20):
        begin = time.perf_counter()
        subprocess.run([bench.program, "version"], stdout=subprocess.DEVNULL, check=True)
        spent.append(time.perf_counter() - begin)
    return millis(spent)


def jobs(bench, count=500):
    """Trivial jobs, from the first create to the last end. The clock of the last end is the server's own record."""
    server = bench.server("jobs")
    uri = bench.warm(server, native=True)
    begin = time.time()
    bench.load(server, "POST", "/v1/projects/p/jobs", 8, count, bench.body("t", uri))
    spent = bench.wait_all(server, "t", count) - begin
    bench.stop(server)
    beside = f"posix_spawn alone {peers.spawns_per_second(bench.native):,.0f}/s"
    with peers.slurm(bench.folder / "slurm") as slurm:
        beside += f"; `sbatch --array` {slurm.jobs_per_second(bench.native):.0f}/s" if slurm else "; Slurm is not installed"
    bench.row("trivial jobs completed per second, native, durable", "500/s", f"{count / spent:.0f}/s", beside)


def logs(bench, count=1_000_000):
    """One replica prints a million lines: from create to endTime, when all of them can be read."""
    for name, native in (("native", True), ("Python", False)):
        server = bench.server(f"logs-{name}")
        uri = bench.warm(server, native)
        words = {"args": ["lines", str(count)]} if native else {"pythonModule": "probe.task", "args": ["count", str(count)]}
        begin = time.time()
        bench.create(server, "lines", uri, **words)
        job = server.wait("lines")
        assert job["state"] == "SUCCEEDED", job
        spent = seconds(job["endTime"]) - begin
        bench.stop(server)
        command = [bench.native, "-m", "x", "lines", str(count)] if native else \
            [sys.executable, "-m", "probe.task", "count", str(count)]
        begin = time.perf_counter()
        with open(bench.folder / "raw", "wb") as raw:
            subprocess.run(command, cwd=TRAINER, check=True, stdout=raw)
            os.fdatasync(raw.fileno())
        raw_spent = time.perf_counter() - begin
        bench.row(f"log lines per second, one {name} replica, stamped, indexed, durable", "1,000,000/s",
                  f"{count / spent:,.0f}/s", f"the same program into a file, synced {count / raw_spent:,.0f}/s")


def tail(bench, count=200, idle=1000):
    """The time of a line from the program's print to a client of entries:tail: alone, with a thousand tails that wait for other jobs,
    and with a thousand that want the same lines; compared with a client that calls entries:list every 5 ms."""
    server = bench.server("tail")
    uri = bench.warm(server)
    alone = ticks(bench, server, uri, "alone", count, tail_of)
    asked = ticks(bench, server, uri, "asked", count, ask_for)
    before = field(f"/proc/{server.process.pid}/status", "VmRSS")
    waiting = [open_tail(server, f"other_{number}") for number in range(idle)]
    each = (field(f"/proc/{server.process.pid}/status", "VmRSS") - before) / idle
    crowd = ticks(bench, server, uri, "crowd", count, tail_of)
    close_all(waiting)
    same = [open_tail(server, "same") for _ in range(idle)]
    shared = ticks(bench, server, uri, "same", count, tail_of)
    close_all(same)
    bench.stop(server)
    bench.row("a line's way to a reader (print to entries:tail)", "p99 50 ms", millis(alone),
              f"asking entries:list every 5 ms {millis(asked)}", costs=quantile(alone, 0.5))
    bench.row(f"the same beside {idle:,} tails of other jobs", "p99 50 ms", millis(crowd), f"each takes {each / 1024:.0f} KiB",
              costs=quantile(crowd, 0.5))
    bench.row(f"the same beside {idle:,} tails of this job", "50 ms", millis(shared), "they are served in rounds",
              costs=quantile(shared, 0.5))


def ticks(bench, server, uri, job_id, count, follow):
    """Starts a job that prints the time; the seconds until each print arrived here."""
    bench.create(server, job_id, uri, pythonModule="probe.ticks", args=[str(count)])
    seen = {}
    for now, message in follow(server, job_id):
        words = message.split()
        if words[:1] == ["TICK"]:
            seen.setdefault(words[1], now - float(words[2]))
            if len(seen) == count:
                return list(seen.values())


def open_tail(server, job_id):
    query = urllib.parse.urlencode({"resourceNames": "projects/p",
                                    "filter": f'resource.labels.job_id="{job_id}" AND timestamp>="1970-01-01T00:00:00Z"'})
    connection = socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
    connection.sendall(f"GET /v2/entries:tail?{query} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())  # 1.0: no chunks around the events
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)  # and no byte of the events
    assert b" 200 " in head, head
    return connection


def tail_of(server, job_id):
    with open_tail(server, job_id).makefile("rb") as stream:
        for line in stream:
            if line.startswith(b"data: "):
                now = time.time()
                for entry in json.loads(line[6:])["entries"]:
                    yield now, entry["jsonPayload"]["message"]


def ask_for(server, job_id):
    body = {"resourceNames": ["projects/p"], "orderBy": "timestamp desc", "pageSize": 5,
            "filter": f'resource.type="ml_job" AND resource.labels.job_id="{job_id}"'}
    while True:
        page = server.session.post(server.url + "/v2/entries:list", json=body).json()
        now = time.time()
        for entry in page.get("entries", []):
            yield now, entry["jsonPayload"]["message"]
        time.sleep(0.005)


def close_all(connections):
    for connection in connections:
        connection.close()


def memory(bench):
    """A supervisor whose program waits."""
    server = bench.server("memory")
    uri = bench.warm(server, native=True)
    bench.create(server, "waiting", uri, args=["wait"])
    server.wait("waiting", lambda job: job["state"] == "RUNNING")
    time.sleep(1.5)  # a second after the start it gives back the pages that only a start needs
    pid = next(pid for pid, words in bench.e2e.processes_with(f"{server.data}/attempts/") if " replica " in words
               and "trainyard-init" not in pathlib.Path(f"/proc/{pid}/comm").read_text())
    resident, anonymous = field(f"/proc/{pid}/status", "VmRSS"), field(f"/proc/{pid}/status", "RssAnon")
    shown = f"{resident / 2**20:.1f} MB, of it {anonymous / 2**20:.1f} MB its own (the rest is the program, shared)"
    of_server = field(f"/proc/{server.process.pid}/status", "VmRSS")
    bench.stop(server)
    bench.row("supervisor, resident", "8 MB", shown, "", costs=resident)
    bench.row("of it its own", "0.5 MB", f"{anonymous / 2**20:.1f} MB", "", costs=anonymous)
    bench.row("server with one job, resident", "24 MB", f"{of_server / 2**20:.0f} MB", "", costs=of_server)


def history(bench, rounds=2000):
    """A long history: it lies on disk, and neither the start nor a page gets slower."""
    server = bench.server("history")
    uri = bench.warm(server)
    bench.create(server, "runs", uri, pythonModule="probe.task", args=["forever"])
    server.wait("runs", lambda job: job["state"] == "RUNNING")
    server.kill()
    # Only prepares: at the normal priority, whatever ours is.
    subprocess.run(["chrt", "-o", "0", "nice", "-n", "10", bench.tool("fill_history"), server.data, str(HISTORY)], check=True)
    size = (server.data / "trainyard.db").stat().st_size / 2**20
    starts = []
    for _ in range(5):
        begin = time.perf_counter()
        server.start()
        starts.append(time.perf_counter() - begin)
        server.kill()
    server.start()
    jobs_path = "/v1/projects/bench/jobs?pageSize=20"
    pages = {"one in 100 (state=FAILED)": "&filter=state%3DFAILED", "all": "",
             "one in 1,000 (a label)": "&filter=labels.team%3Dteam-7"}
    figures = {name: bench.load(server, "GET", jobs_path + query, 2, rounds if not query else rounds // 10)
               for name, query in pages.items()}
    resident = field(f"/proc/{server.process.pid}/status", "VmRSS") / 2**20
    assert server.get("runs")["state"] == "RUNNING" and len(starts_of(server)) == 1, server.texts("runs")
    bench.stop(server)
    bench.row(f"{HISTORY:,} finished jobs: resident after the pages below", "256 MB", f"{resident:.0f} MB", f"{size:,.0f} MB on disk",
              costs=resident)
    bench.row("a page of 20 of them, filtered", "p99 10 ms",
              "; ".join(f"{name}: p50 {page['p50_ms']} ms, p99 {page['p99_ms']} ms" for name, page in figures.items()),
              "two clients at once", costs=figures["all"]["p50_ms"])
    bench.row(f"serving again after kill -9, {HISTORY:,} jobs, one running (not restarted)", "1 s", millis(starts),
              "bare start of the program " + program_start(bench), costs=quantile(starts, 0.5))


def starts_of(server):
    return [text for text in server.texts("runs") if text.startswith("Running command")]


def container_start(bench, attempts=100):
    """A cached image: the supervisor's start to the first instruction in the container, compared with the bare runtime."""
    for name in ("crun", "runc"):
        runtime = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
        if not runtime or os.geteuid() != 0:
            print(f"container_start: {name} is not installed, or we are not root")
            continue
        done = subprocess.run([bench.tool("replica_bench"), bench.native, str(attempts), runtime], cwd=bench.folder,
                              check=True, capture_output=True, text=True)
        bare, ours = re.findall(r"median +([0-9.]+) ms +p99 +([0-9.]+) ms", done.stdout)
        bench.row(f"container by {name}, warm image, to its first instruction", f"3x bare = {3 * float(bare[0]):.0f} ms",
                  f"p50 {ours[0]} ms, p99 {ours[1]} ms", f"bare `{name} run`: p50 {bare[0]} ms, p99 {bare[1]} ms")


def parts(bench):
    """Single parts, without the rest of the service; their output is kept as it is."""
    for command in (["store_bench", bench.folder], ["logs_bench", bench.folder], ["log_lines_bench", bench.folder],
                    ["replica_bench", bench.native], ["doors_bench"], ["queue_bench"]):
        done = subprocess.run([bench.tool(command[0]), *command[1:]], cwd=bench.folder, check=True,
                              capture_output=True, text=True)
        bench.note(f"{command[0]}:\n{done.stdout.rstrip()}")


ALL = (start, imports, container_start, image_pull, creates, takeover, access, jobs, trials, logs, tail, memory, history, retention,
       tuning, tuning_trials, slurm, slurm_simulation, kubernetes, kubernetes_simulation, floods, console, parts)
CASES = {case.__name__: case for case in ALL}
