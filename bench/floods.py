"""How floods affect a client that is within all limits: honest_client.py with flood_attacks.py."""

import contextlib
import json
import resource
import subprocess
import sys

from flood_attacks import BUCKET, CHATTY_JOB, DEEP_BUCKET, FLOODS, HUGE_FILES
from harness import ROOT, field, quantile

SECONDS = 10
DESCRIPTORS = 1024  # what a login shell gives its programs
HUGE_BYTES = 12 << 30
DEEP_FOLDERS, DEEP_FILES = 400, 500
CHATTY_LINES = 1000  # per second
P99_MAX_MS = 50
KINDS = ("get", "create", "upload")


def floods(bench):
    """For each flood a server that was just started, with jobs that wait in its queue, and three clients that
    get a job, create jobs and upload a byte."""
    rows = [
        (
            "flood",
            "program",
            *(f"{kind} p50, p99, max ms" for kind in KINDS),
            "refused",
            "server MB",
            "of the flood",
        )
    ]
    worst = {}
    grounds = {name: Ground(bench, name, program) for name, program in bench.programs().items()}
    for flood, (title, _) in {"none": ("none", None), **FLOODS}.items():
        for name, ground in grounds.items():
            seen = ground.endure(flood)
            rows.append(
                (
                    title,
                    name,
                    *(timing(seen[kind]["times"]) for kind in KINDS),
                    str(sum(seen[kind]["refused"] for kind in KINDS)),
                    f"{seen['memory'] / 2**20:.0f}",
                    fate(seen["flood"]),
                )
            )
            print(" | ".join(rows[-1]), flush=True)
            worst.setdefault(name, []).append((flood, seen))
    for ground in grounds.values():
        ground.close()
    bench.note(
        f"floods ({SECONDS} s each, {DESCRIPTORS:,} descriptors at the start; p99 at most {P99_MAX_MS} ms, "
        "none refused):\n" + aligned(rows)
    )
    names = list(grounds)
    shown = {name: summary(worst[name]) for name in names}
    bench.row(
        f"an honest client beside {len(FLOODS)} floods: the worst p99, refused",
        f"{P99_MAX_MS} ms, 0",
        shown[names[0]],
        "; ".join(f"{name}: {shown[name]}" for name in names[1:])
        or "without: " + summary(worst[names[0]][:1]),
    )


class Ground:
    """Data directories with a job that takes all slots, and what the floods need there."""

    def __init__(self, bench, name, program):
        self.bench, self.name, self.program = bench, name, program
        self.quiet = self.chatty = None

    def endure(self, flood):
        server = self.server_for(flood)
        server.kill()  # what the flood before left undone is not this one's
        with descriptors(DESCRIPTORS):
            server.start()
        server.wait(CHATTY_JOB, lambda job: job["state"] == "RUNNING")
        port = server.url.rsplit(":", 1)[1]
        flooding = None
        if flood != "none":
            flooding = started("flood_attacks.py", flood, port, SECONDS + 1)
            assert flooding.stdout.readline() == "begun\n"
        body = json.dumps(self.bench.job(f"{flood.replace('-', '_')}_{{n}}", self.uri))
        clients = {
            kind: started("honest_client.py", kind, port, SECONDS, *([body] if kind == "create" else []))
            for kind in KINDS
        }
        seen = {kind: json.loads(client.communicate()[0]) for kind, client in clients.items()}
        seen["flood"] = json.loads(flooding.communicate()[0]) if flooding else None
        assert server.process.poll() is None, f"the server did not survive {flood}: {server.stderr()[-2000:]}"
        seen["memory"] = field(f"/proc/{server.process.pid}/status", "VmHWM")
        return seen

    def server_for(self, flood):
        if flood == "tails":
            self.chatty = self.chatty or self.make(
                "chatty", pythonModule="probe.chatty", args=[str(CHATTY_LINES)]
            )
            return self.chatty
        self.quiet = self.quiet or self.make("quiet", args=["wait"])
        return self.quiet

    def make(self, kind, **blocker):
        server = self.bench.server(f"floods-{self.name}-{kind}", program=self.program)
        self.uri = self.bench.warm(server, native="pythonModule" not in blocker)
        self.bench.occupy(server, self.uri, **blocker)
        server.upload(BUCKET, "honest", b"x")
        server.upload(DEEP_BUCKET, "first", b"x")
        buckets = server.data / "buckets"
        for name in HUGE_FILES:
            with open(buckets / BUCKET / name, "wb") as file:
                file.truncate(HUGE_BYTES)
        deep = buckets / DEEP_BUCKET / "/".join("a" * DEEP_FOLDERS)
        deep.mkdir(parents=True)
        for number in range(DEEP_FILES):
            (deep / f"{number}").touch()
        return server

    def close(self):
        for server in (self.quiet, self.chatty):
            if server:
                self.bench.stop(server)


@contextlib.contextmanager
def descriptors(limit):
    """For programs started inside."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def started(program, *words):
    return subprocess.Popen(
        [sys.executable, ROOT / "bench" / program, *map(str, words)], stdout=subprocess.PIPE, text=True
    )


def timing(times):
    return (
        ", ".join(f"{value * 1e3:.1f}" for value in (quantile(times, 0.5), quantile(times, 0.99), max(times)))
        if times
        else "-"
    )


def fate(flood):
    """The flood's result."""
    if not flood:
        return ""
    answers = " ".join(f"{status}: {count:,}" for status, count in sorted(flood["answers"].items()))
    return f"{flood['opened']:,} opened, {flood['closed']:,} closed" + (f"; {answers}" if answers else "")


def summary(runs):
    """The worst flood for each kind, and how many were refused."""
    parts = []
    for kind in KINDS:
        p99, flood = max(
            (quantile(seen[kind]["times"] or [float("inf")], 0.99), flood) for flood, seen in runs
        )
        parts.append(f"{kind} {p99 * 1e3:.1f} ms" + (f" ({flood})" if len(runs) > 1 else ""))
    refused = sum(seen[kind]["refused"] for _, seen in runs for kind in KINDS)
    return ", ".join(parts) + f"; {refused:,} refused"


def aligned(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
