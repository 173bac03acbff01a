"""The console in a real browser, beside TensorBoard's and MLflow's pages on the same data where they do the same. Those come from PyPI into
build/pages (a gigabyte: ./dev bench console installs them); without them the rows say so."""

import contextlib
import math
import os
import pathlib
import socket
import sqlite3
import subprocess
import time
import uuid

from console_pages import WATCH, Browser, frames, heap, painted_at
from harness import ROOT, field

JOBS = 1_000_000
LINES = 10_000_000
MLFLOW_RUNS = 20_000
CURVES = 200
POINTS = 10_000
TAIL_S = int(os.environ.get("BENCH_TAIL_S", "120"))  # an hour: 3600
PAGES = 20
ROW = ".job-row:not(.head)"
LOG_ROW = ".log-row:not([hidden]) .log-text"
PEERS = ROOT / "build/pages/bin"


def console(bench):
    browser = Browser()
    try:
        history(bench, browser)
        curves(bench, browser)
        tail(bench, browser)
    finally:
        browser.close()


@contextlib.contextmanager
def peer(bench, name, *words):
    """The URL of a peer's page; None where it is not installed."""
    if not (PEERS / name).exists():
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = open(bench.folder / f"{name}.log", "ab")
    process = subprocess.Popen([PEERS / name, *words, "--port", str(port), "--host", "127.0.0.1"], stdout=log, stderr=log)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()
        log.close()


def history(bench, browser):
    """Lists and logs that are long."""
    server = bench.server("console")
    server.kill()
    subprocess.run([bench.tool("fill_history"), server.data, str(JOBS), str(LINES)], check=True)
    server.start()
    url = f"{server.url}/ui/p/bench/jobs"
    painted, there, count, sent = browser.first(url, ROW)
    page = browser.page()
    page.goto(url)
    page.locator(ROW).first.wait_for()
    page.reload()
    warm = painted_at(page)
    bench.row("console, first paint, cold", "200 ms", f"{painted:.0f} ms (warm {warm:.0f}); {count} requests, {sent / 1024:.0f} KiB",
              other_list(bench, browser))
    bench.row(f"list of {JOBS:,} jobs, first rows", "300 ms", f"{there:.0f} ms", "as above", costs=there)
    scroll_list(bench, page)
    log = f"{url}/history_{JOBS - 1}/logs"
    _, there, _, _ = browser.first(log, LOG_ROW, rounds=3)
    bench.row(f"log of {LINES:,} lines, first lines", "300 ms", f"{there:.0f} ms", "nothing that does it", costs=there)
    scroll_log(bench, browser, log)
    idle_pages(bench, browser, server, url)
    bench.stop(server)


def other_list(bench, browser):
    database = bench.folder / "mlflow.db"
    if not (PEERS / "mlflow").exists():
        return "no MLflow in build/pages"
    make_mlflow(database)
    with peer(bench, "mlflow", "server", "--backend-store-uri", f"sqlite:///{database}", "--workers", "1") as url:
        painted, there, count, sent = browser.first(f"{url}/#/experiments/1/runs", '.ag-row a[href*="/runs/"]', rounds=3)
    return f"MLflow with {MLFLOW_RUNS:,} runs: paint {painted:.0f} ms, rows {there:.0f} ms; {count} requests, {sent / 2**20:.1f} MiB"


def scroll_list(bench, page):
    page.mouse.move(600, 500)
    page.evaluate(WATCH)
    for _ in range(300):
        page.mouse.wheel(0, 240)
        page.wait_for_timeout(8)
    bench.row("scrolling that list by 2,000 rows", "no task over 50 ms", frames(page), "")
    page.context.close()


def scroll_log(bench, browser, url):
    page = browser.page()
    page.goto(url)
    page.locator(LOG_ROW).first.wait_for()
    page.mouse.move(600, 500)
    page.evaluate(WATCH)
    for _ in range(300):
        page.mouse.wheel(0, 240)
        page.wait_for_timeout(8)
    page.evaluate("""() => new Promise(done => {
        const bar = document.querySelector('.log-scroller');
        let step = 0;
        const move = () => {
            bar.scrollTop = Math.abs(Math.sin(step / 40)) * 7_999_000;
            step += 1;
            step < 600 ? requestAnimationFrame(move) : done();
        };
        move();
    })""")
    bench.row("scrolling that log: wheel, then its bar to and fro", "p99 17 ms, no task over 50 ms", frames(page),
              f"heap {heap(page) / 1e6:.1f} MB")
    page.context.close()


def idle_pages(bench, browser, server, url):
    """What pages that only watch cost the server."""
    status = f"/proc/{server.process.pid}/status"
    before = field(status, "VmRSS")
    pages = []
    context = browser.browser.new_context()
    for _ in range(PAGES):
        page = context.new_page()
        page.goto(url)
        page.locator(ROW).first.wait_for()
        pages.append(page)
    time.sleep(3)
    more, begin = field(status, "VmRSS") - before, cpu_seconds(server.process.pid)
    time.sleep(10)
    spent = (cpu_seconds(server.process.pid) - begin) / 10
    bench.row(f"{PAGES} pages of one browser that watch: the server", "32 KB a browser, CPU 0",
              f"{more / 1024:.0f} KiB more (lists that were read, too), {spent * 100:.1f} % of a CPU", "", costs=more)
    context.close()


def cpu_seconds(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def curve_bytes(number):
    import event_files
    def loss(step):
        return math.exp(-3 * step / POINTS) + 0.002 * number + 0.05 * math.sin(0.7 * step + number)
    return event_files.event_file((step, event_files.scalar("loss", loss(step))) for step in range(POINTS))


def curves(bench, browser):
    server = bench.server("console-curves")
    folder = bench.folder / "tensorboard"
    for number in range(CURVES):
        content = curve_bytes(number)
        (folder / f"run_{number:03}").mkdir(parents=True)
        (folder / f"run_{number:03}/events.out.tfevents.1700000000.host").write_bytes(content)
        server.upload("models", f"curves/run_{number:03}/events.out.tfevents.1700000000.host", content)
    uri = bench.upload(server)
    server.submit("curves", packageUris=[uri], pythonModule="probe.first", jobDir="gs://models/curves")
    server.wait("curves")
    drawn = ".chart canvas"
    _, first, _, _ = browser.first(f"{server.url}/ui/p/p/jobs/curves/metrics", drawn, rounds=1)
    _, there, _, sent = browser.first(f"{server.url}/ui/p/p/jobs/curves/metrics", drawn, rounds=3)
    page = browser.page()
    page.goto(f"{server.url}/ui/p/p/jobs/curves/metrics")
    page.locator(drawn).first.wait_for()
    page.wait_for_timeout(2000)
    used = heap(page)
    with peer(bench, "tensorboard", "--logdir", folder) as url:
        other = "no TensorBoard in build/pages"
        if url:
            time.sleep(20)  # it reads the files once a while
            _, drawn_ms, _, bytes_sent = browser.first(f"{url}/#timeseries", "scalar-card line-chart canvas", rounds=3)
            other = f"TensorBoard, 1,000 points of each: {drawn_ms:.0f} ms, {bytes_sent / 2**20:.1f} MiB"
    bench.row(f"{CURVES} curves of {POINTS:,} points, drawn", "0.5 s, 2 MB, heap 30 MB",
              f"{there:.0f} ms (files not read yet: {first:.0f} ms), {sent / 2**20:.1f} MiB, heap {used / 1e6:.0f} MB", other, costs=there)
    bench.stop(server)


def tail(bench, browser):
    """The page of a chatty job, following."""
    server = bench.server("console-tail")
    uri = bench.upload(server)
    chat = f"i=0; while [ $i -lt {TAIL_S * 10} ]; do seq $i 99 $((i + 9900)); i=$((i + 1)); sleep 0.1; done"
    server.submit("chatty", packageUris=[uri], pythonModule="probe.task", args=["shell", chat])
    server.wait("chatty", lambda job: job["state"] == "RUNNING")
    page = browser.page()
    page.goto(f"{server.url}/ui/p/p/jobs/chatty/logs")
    page.locator(LOG_ROW).first.wait_for()
    page.evaluate(WATCH)
    begin = heap(page)
    page.wait_for_timeout(TAIL_S * 1000 - 5000)
    end = heap(page)
    bench.row(f"{TAIL_S} s of 1,000 lines/s, followed", "an hour: heap 20 MB", f"heap {begin / 1e6:.1f} MB, at the end {end / 1e6:.1f} MB",
              frames(page), costs=end)
    server.cancel("chatty")
    server.wait("chatty")
    bench.stop(server)


MLFLOW_FIRST = """
import sys
from mlflow.tracking import MlflowClient
client = MlflowClient("sqlite:///" + sys.argv[1])
run = client.create_run(client.create_experiment("bench"))
client.log_metric(run.info.run_id, "loss", 1.0, step=0)
client.log_param(run.info.run_id, "rate", "0.1")
client.set_terminated(run.info.run_id)
print(run.info.run_id)
"""


def make_mlflow(path):
    """One run by its own client, and copies of its rows."""
    done = subprocess.run([PEERS / "python", "-c", MLFLOW_FIRST, path], check=True, capture_output=True, text=True)
    run = done.stdout.split()[-1]
    with contextlib.closing(sqlite3.connect(path)) as database:
        def copy(table, new, **changes):
            names = [row[1] for row in database.execute(f"pragma table_info({table})")]
            for row in database.execute(f"select {','.join(names)} from {table} where run_uuid = ?", (run,)).fetchall():
                values = {**dict(zip(names, row)), "run_uuid": new, **changes}
                database.execute(f"insert into {table}({','.join(names)}) values({','.join('?' * len(names))})", [values[name] for name in names])
        for number in range(MLFLOW_RUNS - 1):
            new = uuid.uuid4().hex
            copy("runs", new, name=f"run_{number}")
            for table in ("params", "tags", "latest_metrics"):
                copy(table, new)
        database.commit()
