"""This program and another one (--beside) in one run: jobs in turn to a server of each, so that other load
of the machine slows both."""

import contextlib
import io
import os
import random
import shutil
import sys
import tarfile
import time
from statistics import median

import peers
from floods import floods
from harness import ROOT, Lacks, millis, quantile, seconds

ADDED_MAX_MS = 1.0
SAMPLES = 2_000  # of the bootstrap
ROUNDS = 5  # of a case as a whole
SHORT = {"start": 45, "creates": 5, "jobs": 5, "logs": 3}  # rounds of a short report


def compare(bench, name, case, short):
    """One case by both programs: by a comparison of its own, or as a whole by each in turn."""
    own = OWN.get(name)
    if own is floods:
        floods(bench)
    elif own:
        own(bench, **({"rounds": SHORT[name]} if short and name in SHORT else {}))
    else:
        whole(bench, name, case)


def whole(bench, name, case):
    """The case as it is; what is compared are the figures of its rows."""
    seen: dict[str, dict[str, list]] = {}
    names = list(bench.programs())
    try:
        for number in range(ROUNDS):
            for which in names if number % 2 == 0 else reversed(names):
                for shown in bench.rows_of(bench.programs()[which], case):
                    if shown.costs is not None:
                        seen.setdefault(shown.what, {}).setdefault(which, []).append(shown)
    except Lacks as missing:
        print(f"{name}: not compared: {missing}")
        return
    if not seen:
        print(f"{name}: not compared: it has no figure for it")
    for what, rows in seen.items():
        mine, other = ([shown.costs for shown in rows.get(which, [])] for which in names)
        if len(mine) != len(other) or not all(other):
            print(f"{what}: not compared: {len(mine)} and {len(other)} rounds have a figure")
            continue
        ratio, _ = intervals(mine, other)
        ours, theirs = (sorted(rows[which], key=lambda shown: shown.costs)[len(mine) // 2].seen for which in names)
        bench.row(what, "at most 3 % more than the other", f"{ours}: {shown_ratio(ratio)}", f"the other program: {theirs}")


def shown_ratio(ratio):
    return f"ratio in a round {ratio[0]:.3f} ({ratio[1]:.3f} to {ratio[2]:.3f}, 95 %)"


def start(bench, rounds=300):
    """Submit to first user instruction: a native program, then, in a third of the rounds, a Python module."""
    with servers(bench, "start") as running:
        uris = {server: bench.warm(server, native=True) for server in running}

        def native(server, number):
            job = {"packageUris": [uris[server]], "pythonModule": "probe.first"}
            return first_native(bench, server, f"native_{number}", job)

        row(bench, "submit to first user instruction, native, warm", *in_turn(rounds, running, native))
    with servers(bench, "start-python") as running:
        uris = {server: bench.warm(server) for server in running}

        def python(server, number):
            return first_python(bench, server, f"python_{number}", uris[server])

        row(bench, "the same for a Python module", *in_turn(rounds // 3, running, python))


def creates(bench, count=4_000, rounds=9):
    """Creates over 64 connections. The jobs stay in the queue, which grows as fast on both servers."""

    def create(server, uri, number):
        seen = bench.load(server, "POST", "/v1/projects/p/jobs", 64, count, bench.body(f"c{number}", uri))
        return count / seen["per_second"]

    rates(bench, f"{count:,} durable creates (64 connections)", rounds, create, prepare=bench.occupy)


def jobs(bench, count=300, rounds=9):
    """Trivial jobs, from the first create to the last end."""

    def run(server, uri, number):
        begin = time.time()
        bench.load(server, "POST", "/v1/projects/p/jobs", 8, count, bench.body(f"t{number}", uri))
        return bench.wait_all(server, f"t{number}", count) - begin

    rates(bench, f"{count} trivial jobs, native, durable", rounds, run)


def logs(bench, count=1_000_000, rounds=5):
    """One replica prints a million lines: from create to endTime."""
    for native in (True, False):

        def write(server, uri, number, native=native):
            words = {"args": ["lines", str(count)]} if native else {"pythonModule": "probe.task", "args": ["count", str(count)]}
            begin = time.time()
            bench.create(server, f"lines_{number}", uri, **words)
            job = server.wait(f"lines_{number}")
            assert job["state"] == "SUCCEEDED", job
            return seconds(job["endTime"]) - begin

        rates(bench, f"{count:,} log lines of one {'native' if native else 'Python'} replica", rounds, write, native)


def rates(bench, what, rounds, measure, native=True, prepare=lambda server, uri: None):
    """`measure`: seconds of a round of one server."""
    with servers(bench, what.replace(" ", "-").replace(",", "")) as running:
        uris = {server: bench.warm(server, native) for server in running}
        for server in running:
            prepare(server, uris[server])
        mine, other = in_turn(rounds, running, lambda server, number: measure(server, uris[server], number))
    ratio, _ = intervals(mine, other)
    bench.row(what, "at most 3 % slower than the other",
              f"{millis(mine)}: {shown_ratio(ratio)}",
              f"the other program, {len(other)} rounds in turn: {millis(other)}")


def container_start(bench, rounds=100):
    """Submit to the first instruction in a container of an image that is here."""
    sys.path.insert(0, str(ROOT / "tests/e2e"))
    for runtime in ("crun", "runc"):
        path = shutil.which(runtime, path=os.environ["PATH"] + ":/usr/sbin")
        if path and shutil.which("skopeo") and shutil.which("docker-registry"):
            containers(bench, runtime, path, rounds)
        else:
            print(f"container_start: {runtime}, skopeo or docker-registry is not installed")


def containers(bench, name, path, rounds):
    import container_images

    images = container_images.Images(bench.folder / f"{name}/images")
    program = executable("/program", bench.native.read_bytes())
    images.derive("busybox", "native", layers=[program], entrypoint=["/program"], cmd=None)
    registry = container_images.Registry(bench.folder / f"{name}/registry")
    try:
        # By digest: the registry is not asked whether the tag has moved.
        image = registry.push(images["native"]).rpartition(":")[0] + "@" + images["native"].digest
        job = {"masterConfig": {"imageUri": image}}
        with servers(
            bench, f"containers-{name}", "--container-engine", "oci", "--container-runtime", path
        ) as running:
            for server in running:
                first_native(bench, server, "warm", job)

            def container(server, number):
                return first_native(bench, server, f"container_{number}", job)

            what = f"submit to first instruction in a container by {name}, warm image"
            row(bench, what, *in_turn(rounds, running, container))
    finally:
        registry.stop()


def executable(path, content):
    """A layer with one program."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        info = tarfile.TarInfo(path.lstrip("/"))
        info.size, info.mode = len(content), 0o755
        tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@contextlib.contextmanager
def servers(bench, name, *flags):
    running = [
        bench.server(f"{name}-{which}", *flags, program=program)
        for which, program in bench.programs().items()
    ]
    try:
        yield running
    finally:
        for server in running:
            bench.stop(server)


def in_turn(rounds, running, measure):
    """A B, B A, A B, ...: the times of each."""
    times = {server: [] for server in running}
    for number in range(rounds):
        for server in running if number % 2 == 0 else reversed(running):
            times[server].append(measure(server, number))
    return times.values()


def first_native(bench, server, job_id, training_input):
    begin = time.monotonic()
    bench.create(server, job_id, **training_input)
    return peers.started(line_of(server, job_id, "started ")) - begin


def first_python(bench, server, job_id, uri):
    begin = time.time()
    bench.create(server, job_id, packageUris=[uri], pythonModule="probe.first")
    return float(line_of(server, job_id, "FIRST ").split()[1]) - begin


def line_of(server, job_id, prefix):
    time.sleep(0.1)  # lets the job run undisturbed
    server.wait(job_id)
    line = next((text for text in server.texts(job_id) if text.startswith(prefix)), None)
    assert line, (server.get(job_id), server.texts(job_id)[-10:])
    return line


def row(bench, what, mine, other):
    ratio, added = intervals(mine, other)
    bench.row(
        what,
        f"at most {ADDED_MAX_MS:.0f} ms more than the other",
        f"{millis(mine)}: {added[0]:+.2f} ms in a round ({added[1]:+.2f} to {added[2]:+.2f}, 95 %), "
        f"{shown_ratio(ratio)}",
        f"the other program, {len(other)} rounds in turn: {millis(other)}",
    )


def intervals(mine, other, seed=13):
    """The medians of the rounds' ratios, and of what ours took more in a round (ms): each with its 95 %
    interval, found by resampling rounds."""

    def ratio(rounds):
        return median([mine[number] / other[number] for number in rounds])

    def added(rounds):
        return median([mine[number] - other[number] for number in rounds]) * 1e3

    everything = range(len(mine))
    draw = random.Random(seed)
    samples = [draw.choices(everything, k=len(mine)) for _ in range(SAMPLES)]
    return [
        (
            figure(everything),
            *(quantile([figure(rounds) for rounds in samples], part) for part in (0.025, 0.975)),
        )
        for figure in (ratio, added)
    ]


OWN = {
    case.__name__: case for case in (start, container_start, creates, jobs, logs, floods)
}
