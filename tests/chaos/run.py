#!/usr/bin/env python3
"""Tries to break the promises of docs/reliability.md on a real server, and prints what it did and each promise that did not hold.

usage: tests/chaos/run.py --program PROGRAM (--rounds N | --hours H) [--world NAME]... [--seed N] [--parallel N] [--keep FOLDER]

It needs root: each world has namespaces of its own, with which all that it started goes when it ends, however that is.
"""

import argparse
import faulthandler
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/e2e")]

LIVES, JOBS = 14, 14  # a round


def build_package(folder):
    """The source distribution of the program that jobs run."""
    copy = pathlib.Path(folder) / "witness"
    shutil.copytree(ROOT / "tests/trainers/witness", copy)
    subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=copy, check=True, capture_output=True)
    return next((copy / "dist").glob("*.tar.gz"))


def inside(path):
    """In the namespaces of one world: plays its rounds, and writes what came of it after each."""
    faulthandler.register(signal.SIGUSR1)
    options = types.SimpleNamespace(**json.loads(pathlib.Path(path).read_text()))
    os.environ["TRAINYARD_PROGRAM"] = options.program
    from worlds import WORLDS
    world = WORLDS[options.world](options.folder, options.seed, options)
    world.prepare()
    for _ in range(options.rounds or world.rounds):
        good = world.play_round()
        world.write_result()
        if not good or time.time() > options.until:
            break
    world.close()


class Runner:
    """Starts worlds, so many at once, and adds up what they did."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.package = build_package(folder)
        self.random = random.Random(options.seed)
        self.running: dict[subprocess.Popen, dict] = {}
        self.results: list[dict] = []
        self.begun = 0

    def start(self):
        options = self.options
        name = options.world[self.begun % len(options.world)]
        seed = options.seed + self.begun
        folder = self.folder / f"{name}-{seed}"
        folder.mkdir()
        folder.chmod(0o755)
        settings = {"program": str(options.program), "before": options.before and str(options.before), "environments": str(options.environments),
                    "package": str(self.package), "folder": str(folder), "seed": seed, "world": name, "rounds": options.rounds,
                    "lives": options.lives, "jobs": options.jobs, "until": options.until,
                    "known": options.known}
        (folder / "settings.json").write_text(json.dumps(settings))
        reports = f"log_path={folder}/sanitizer"
        log = open(folder / "harness.log", "ab")
        # `exit $?`: a shell with one command would become that, and be no init process that reaps.
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "bash", "-c",
             '"$@"; exit $?', "bash", sys.executable, str(HERE / "run.py"), "--inside", str(folder / "settings.json")],
            stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "ASAN_OPTIONS": reports, "UBSAN_OPTIONS": reports + ":print_stacktrace=1", "TRAINYARD_PROGRAM": str(options.program)})
        self.running[process] = settings | {"since": time.monotonic()}
        self.begun += 1

    def finish(self, process):
        settings = self.running.pop(process)
        folder = pathlib.Path(settings["folder"])
        status = process.wait()
        result = folder / "result.json"
        found = json.loads(result.read_text()) if result.exists() else {"violations": [], "counts": {}, "acknowledged": {}, "troubles": {}}
        if status:
            text = (folder / "harness.log").read_text(errors="replace")[-2000:]
            found["violations"].append({"kind": "harness", "what": f"the harness ended with {status}: {text}", "round": 0, "seed": settings["seed"]})
        found |= {"world": settings["world"], "seed": settings["seed"], "seconds": time.monotonic() - settings["since"]}
        self.results.append(found)
        for violation in found["violations"]:
            violation["repeat"] = f"tests/chaos/run.py --world {settings['world']} --seed {settings['seed']} --rounds {violation['round'] or 1}"
            violation["kept"] = str(folder)
            print(f"VIOLATION {violation['kind']}: {violation['what']}\n  repeat: {violation['repeat']}\n  kept:   {folder}", flush=True)
        clean(folder, keep=bool(found["violations"]))

    def play(self):
        """All worlds that are asked for; with hours, as many as fit."""
        options = self.options
        most = options.worlds if options.rounds else sys.maxsize
        try:
            while self.running or (self.begun < most and time.time() < options.until):
                while len(self.running) < options.parallel and self.begun < most and time.time() < options.until:
                    self.start()
                ended = [process for process in self.running if process.poll() is not None]
                for process in ended:
                    self.finish(process)
                if not ended:
                    time.sleep(0.1)
        finally:
            for process in list(self.running):
                process.send_signal(signal.SIGKILL)
                process.wait()
                clean(pathlib.Path(self.running[process]["folder"]))


def clean(folder, keep=False):
    """What a world leaves that its namespaces do not end with it: the cgroups of its last supervisors, and its files."""
    from world import remove_empty_groups
    remove_empty_groups(folder / "data")
    elsewhere = folder / "elsewhere"
    if elsewhere.exists():
        shutil.rmtree(elsewhere.read_text(), ignore_errors=True)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
        return 0
    from report import Report
    from worlds import WORLDS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--before", type=pathlib.Path, help="the program of before, from which the world `upgrade` comes")
    parser.add_argument("--rounds", type=int, default=0, help="of each world; a round is some lives of the server and a comparison")
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--world", action="append", choices=sorted(WORLDS), help="default: all that this machine can have, in turn")
    parser.add_argument("--worlds", type=int, default=0, help="with --rounds: how many; default: each named one once")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--lives", type=int, default=LIVES)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--known", action="append", default=[], metavar="PATTERN", help="violations that are only counted")
    parser.add_argument("--environments", type=pathlib.Path, help="built environments to share")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/var/tmp"), help="where data go: not /tmp, which jobs do not see")
    parser.add_argument("--json", type=pathlib.Path, help="where the figures are written, too")
    options = parser.parse_args()
    if bool(options.rounds) == bool(options.hours):
        parser.error("say --rounds or --hours")
    if os.geteuid() != 0:
        parser.error("it needs root: for namespaces, mounts and other accounts")
    options.program = options.program.resolve()
    options.until = time.time() + options.hours * 3600 if options.hours else float("inf")
    asked = options.world or list(WORLDS)
    options.world = []
    for name in asked:
        if why := WORLDS[name].missing(options):
            print(f"left out: {name}: {why}", flush=True)
        else:
            options.world.append(name)
    options.worlds = options.worlds or len(options.world)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    print(f"seed {options.seed}, worlds: {' '.join(options.world)}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-chaos-", dir=options.folder))
    folder.chmod(0o755)
    options.environments = options.environments or folder / "environments"
    options.environments.mkdir(exist_ok=True)
    runner = Runner(options, folder)
    try:
        runner.play()
    finally:
        report = Report(options, runner.results)
        print(report.table(), flush=True)
        if options.json:
            options.json.write_text(json.dumps(report.figures(), indent=1))
        if not report.violations:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
