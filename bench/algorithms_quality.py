#!/usr/bin/env python3
"""Quality and speed of the built-in algorithms for tables, beside scikit-learn's and the libraries alone, in one run.

usage: ./dev bench algorithms_quality [--trials 20] [--splits 3] [--tables NAME,NAME] [--quick] [--resume FILE] [--write]

Jobs go through a real server, submitted by the API, and tuning is the server's own. Each result is written to a file as soon as it is
there; --resume FILE goes on with an interrupted run. --quick: one table, two trials, few steps; says only that all of it works.
--write puts the tables into docs/algorithms-benchmarks.md. docs/algorithms-benchmarks.md says what is measured how.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import algorithms_ranges as ranges
import algorithms_results as shown
import marked_page
from harness import ROOT, Bench, machine

MARK = "<!-- below: written by ./dev bench algorithms_quality --write -->"
PAGE = ROOT / "docs/algorithms-benchmarks.md"
PARTS = ("training", "validation", "test")
FIRST_SPLIT_ONLY = ("tab_net",)  # a run with defaults takes over a minute
JOB_SECONDS_MAX = 3600
QUICK_TABLES, QUICK_TRIALS, QUICK_SPLITS, QUICK_STEPS = ["cars"], 2, 1, 100
QUICK_SPEED = ("boosted_trees", "linear_learner")
SPEED_STEPS = {"boosted_trees": 10, "linear_learner": 5000, "wide_deep_learner": 5000, "tab_net": 200}
LOAD = os.getloadavg()


class Unit(NamedTuple):
    """One job, with defaults or tuned."""

    table: str
    split: int
    name: str
    mode: str

    @property
    def key(self):
        return "/".join(map(str, self))


def units(tables, splits):
    """The longest of a table first, and what only repeats last."""
    every = []
    for table in tables:
        every += [Unit(table, 0, name, mode) for name in reversed(ranges.NAMES) for mode in ("tuned", "defaults")]
    for split in range(1, splits):
        every += [Unit(table, split, name, "defaults") for table in tables for name in ranges.NAMES if name not in FIRST_SPLIT_ONLY]
    return every


def last_lines(text):
    return "\n".join(text.strip().splitlines()[-20:])


def answer_of(command, question=None):
    """The JSON of the last line that a program prints. RuntimeError: it fails."""
    done = subprocess.run(list(map(str, command)), input=question, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[1]} failed: {last_lines(done.stderr)}")
    return json.loads(done.stdout.splitlines()[-1])


class Run:
    """The server, its runtime version `algorithms`, the tables, and what was found."""

    def __init__(self, options, bench):
        self.options, self.bench = options, bench
        self.began = time.monotonic()
        self.done = 0
        environments = options.environments.resolve()
        environments.mkdir(parents=True, exist_ok=True)
        self.data = bench.folder / "tables"
        names = QUICK_TABLES if options.quick else options.tables.split(",") if options.tables else []
        subprocess.run([options.tables_python, ROOT / "bench/algorithms_data.py", self.data, str(options.splits), *names], check=True)
        self.tables = json.loads((self.data / "tables.json").read_text())
        settings = {"trials": options.trials, "splits": options.splits, "quick": options.quick, "tables": list(self.tables)}
        self.results = shown.Results(options.resume, settings)
        self.server = bench.e2e.Server(bench.folder / "server", environments=environments)
        bench.servers.append(self.server)
        self.say(f"results go to {options.resume}; the runtime version is built if it is not there")
        subprocess.run([bench.build / "trainyard", "runtimes", "install", "algorithms", f"--data={self.server.data}"], check=True,
                       stdout=subprocess.DEVNULL)
        self.python = max(environments.glob("runtimes/algorithms-[0-9a-f]*/bin/python"), key=lambda path: path.stat().st_mtime)

    def say(self, text):
        print(f"[{(time.monotonic() - self.began) / 60:5.1f} min] {text}", flush=True)

    def quality(self):
        """Runs the units that are not there yet. @return how many failed"""
        waiting = [unit for unit in units(self.tables, self.options.splits) if unit.key not in self.results.found]
        for table in self.tables:
            for split in range(self.options.splits):
                for part in PARTS:
                    self.server.upload("tables", f"{table}/{split}/{part}.csv", self.csv(table, split, part).read_bytes())
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        try:
            return sum(pool.map(lambda unit: self.attempt(unit, len(waiting)), waiting))
        finally:  # interrupted: what waits is dropped, what runs ends with the server
            pool.shutdown(wait=False, cancel_futures=True)

    def csv(self, table, split, part):
        return self.data / table / str(split) / f"{part}.csv"

    def attempt(self, unit, count):
        """Whether the unit failed: the others go on."""
        begin = time.monotonic()
        try:
            result = self.run(unit)
        except Exception as error:
            self.say(f"{unit.key} FAILED: {error}")
            return True
        finally:
            self.done += 1
            shutil.rmtree(self.folder(unit), ignore_errors=True)
        result["seconds"] = round(time.monotonic() - begin, 1)
        self.results.add(unit.key, result)
        metric = self.tables[unit.table]["metric"]
        values = ", ".join(f"{field} {shown.number(metric, result[field])}" for field in ("validation", "test", *shown.PEERS) if field in result)
        left = (time.monotonic() - self.began) / self.done * (count - self.done) / 60
        self.say(f"{self.done}/{count} {unit.key}: {metric} {values} ({result['seconds']:.0f} s; about {left:.0f} min to go)")
        return False

    def folder(self, unit):
        return self.server.data / "buckets/runs" / unit.key.replace("/", "_")

    def run(self, unit):
        """Trains, then looks at the test part once."""
        kind = self.tables[unit.table]["kind"]
        job_id = unit.key.replace("/", "_")
        quick_steps = QUICK_STEPS if self.options.quick else None
        data = [f"--{part}_data_path=gs://tables/{unit.table}/{unit.split}/{part}.csv" for part in PARTS]
        job = {"scaleTier": "BASIC", "jobDir": f"gs://runs/{job_id}",
               "masterConfig": {"imageUri": f"gcr.io/cloud-ml-algos/{ranges.IMAGES.get(unit.name, unit.name)}:latest"}}
        if unit.mode == "tuned":
            steps = quick_steps or ranges.TUNED_STEPS.get(unit.name)
            job["args"] = ["--preprocess", *data, *ranges.arguments(unit.name, kind, steps)]
            job["hyperparameters"] = ranges.hyperparameters(unit.name, kind, self.options.trials)
        else:
            job["args"] = ["--preprocess", *data, *ranges.default_arguments(unit.name, kind, quick_steps)]
        self.server.submit(job_id, **job)
        ended = self.ended(job_id)
        result, folder = {}, self.folder(unit)
        if unit.mode == "tuned":
            best, value = best_trial(ended["trainingOutput"]["trials"], ranges.TAGS[kind][1])
            result = {"validation": value, "trial": best["trialId"], "hyperparameters": best["hyperparameters"],
                      "completed": int(ended["trainingOutput"]["completedTrialCount"])}
            folder /= best["trialId"]
        peers = (unit.name, unit.mode) == ("boosted_trees", "defaults")
        question = {"kind": kind, "test": str(self.csv(unit.table, unit.split, "test")), "job": str(folder),
                    "trees": unit.name == "boosted_trees", "peers": peers}
        return result | answer_of([self.python, ROOT / "bench/algorithms_judge.py"], json.dumps(question))

    def ended(self, job_id):
        """The job when it has succeeded. RuntimeError: it has not."""
        limit = time.monotonic() + JOB_SECONDS_MAX
        while True:
            job = self.server.get(job_id)
            if "endTime" in job:
                break
            if time.monotonic() > limit:
                self.server.cancel(job_id)
                raise RuntimeError(f"not done after {JOB_SECONDS_MAX} s")
            time.sleep(0.5)
        if job["state"] != "SUCCEEDED":
            raise RuntimeError(f"{job['state']}: {job.get('errorMessage')}\n{last_lines(chr(10).join(self.server.texts(job_id)))}")
        return job

    def speed(self):
        """One after the other, with nothing else of ours beside it. @return how many failed"""
        failed = 0
        for name in QUICK_SPEED if self.options.quick else ranges.NAMES:
            steps = SPEED_STEPS[name]
            steps = min(steps, QUICK_STEPS) if self.options.quick else steps
            for who in ("ours", "alone"):
                key, folder = f"speed/{name}/{who}", self.bench.folder / f"speed-{name}-{who}"
                if key in self.results.found:
                    continue
                try:
                    program = ROOT / "bench/algorithms_speed.py"
                    found = answer_of([self.python, program, who, name, self.data / "speed.csv", folder, steps])
                except RuntimeError as error:
                    self.say(f"{key} FAILED: {error}")
                    failed += 1
                    continue
                self.results.add(key, found)
                self.say(f"{key}: {found['rows'] / found['seconds']:,.0f} rows/s")
                shutil.rmtree(folder, ignore_errors=True)
        return failed

    def text(self):
        """All tables, as Markdown."""
        found, options = self.results.found, self.options
        tuned, sentence = shown.tuned_table(found, self.tables)
        parts = [f"{'--quick: says nothing about quality. ' if options.quick else ''}On {machine(LOAD[0])}:", *shown.about_tables(self.tables), "",
                 f"Test part of the first split, defaults → after {options.trials} trials (higher is better but for RMSE):", "", *tuned, "",
                 sentence, "", f"Defaults over {options.splits} splits, mean ± standard deviation:", "",
                 *shown.splits_table(found, self.tables, options.splits), "", "Speed:", "", *shown.speed_table(found), "", "Ranges of tuning:", "",
                 *ranges.told()]
        return "\n".join([parts[0], "", *parts[1:]])


def best_trial(trials, goal):
    """The trial with the best final metric on the validation part, and that metric. RuntimeError: none has one."""
    measured = [(trial["finalMetric"]["objectiveValue"], trial) for trial in trials if "finalMetric" in trial]
    if not measured:
        raise RuntimeError("no trial has a metric")
    value, trial = (max if goal == "MAXIMIZE" else min)(measured, key=lambda pair: pair[0])
    return trial, value


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/release", help="the folder of the program")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "build/environments", help="built runtime versions")
    parser.add_argument("--tables-python", default=ROOT / "build/algorithms-tables/bin/python", help="a Python with the packages of tables")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--splits", type=int, default=3, help="of defaults and peers; tuning is on the first")
    parser.add_argument("--tables", default="", help="names with commas between them; all if not given")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="jobs at once")
    parser.add_argument("--quick", action="store_true", help="one table, two trials, few steps")
    parser.add_argument("--resume", type=pathlib.Path, default=None, metavar="FILE", help="results of an interrupted run")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.trials, options.splits = QUICK_TRIALS, QUICK_SPLITS
    if options.quick and options.write:
        parser.error("--quick says nothing about quality: it is not written")
    if options.resume is None:
        options.resume = ROOT / time.strftime("build/algorithms-quality-%Y%m%d-%H%M%S.jsonl")
        options.resume.parent.mkdir(exist_ok=True)
    elif not options.resume.exists():
        parser.error(f"there is no file {options.resume}")
    return options


def main():
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped then, too
    bench = Bench(options.build)
    try:
        run = Run(options, bench)
        failed = run.quality() + run.speed()
        text = run.text()
        print(text)
        if options.write:
            marked_page.replace(PAGE, MARK, text)
        if failed:
            sys.exit(f"{failed} failed; go on with --resume {options.resume}")
    finally:
        bench.close()


if __name__ == "__main__":
    main()
