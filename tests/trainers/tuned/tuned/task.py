"""A trial: reports its metric as cloudml-hypertune does, or misbehaves as its arguments say."""

import argparse
import json
import os
import pathlib
import signal
import sys
import time


def report(tag, value, step, kept=[]):
    """The file as hypertune 0.1.0 writes it: the newest 100 entries, the whole file at each call."""
    path = pathlib.Path(os.environ.get("CLOUD_ML_HP_METRIC_FILE", "/tmp/hypertune/output.metrics"))
    path.parent.mkdir(parents=True, exist_ok=True)
    kept.append(json.dumps({"timestamp": time.time(), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0"), tag: str(float(value)),
                            "global_step": str(step), "checkpoint_path": ""}, sort_keys=True))
    path.write_text("".join(line + "\n" for line in kept[-100:]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--x", type=float, default=0.0)
    parser.add_argument("--units", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--kind", default="none")
    parser.add_argument("--job-dir", default="")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--fail", default="", help="numbers of trials that fail, with commas")
    parser.add_argument("--silent", default="", help="trials that report nothing")
    parser.add_argument("--nan", default="", help="trials that end with NaN")
    parser.add_argument("--also", default="", help="a second tag to report: 1 - x")
    parser.add_argument("--lacking", default="", help="trials that do not report the second tag")
    parser.add_argument("--bad", default="", help="trials that do worse and worse, until told to stop")
    parser.add_argument("--wait-for", default="", help="a file to wait for before the end")
    arguments = parser.parse_args()
    trial = os.environ["CLOUD_ML_TRIAL_ID"]
    task = json.loads(os.environ.get("TF_CONFIG") or os.environ["CLUSTER_SPEC"])["task"]  # the second one: in jobs of Vertex AI
    assert task["trial"] == trial, (task, trial)
    assert arguments.job_dir.endswith("/" + trial) or not arguments.job_dir, arguments.job_dir
    tag = os.environ["CLOUD_ML_HP_METRIC_TAG"]
    print(f"trial {trial} {task['type']} {arguments.x} {arguments.units} {arguments.batch} {arguments.kind}", flush=True)
    if task["type"] == "worker":
        report(tag, 1e6, 1)  # only the master's counts
        signal.pause()
    if trial in arguments.fail.split(","):
        raise ValueError(f"trial {trial} burst")
    if trial in arguments.bad.split(","):
        signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
        for step in range(1, 10_000):
            report(tag, -float(step), step)
            time.sleep(0.2)
    if trial in arguments.silent.split(","):
        report("another", 1, 1)
        return
    for step in range(1, arguments.steps + 1):
        report(tag, arguments.x - (arguments.steps - step) * 0.01, step)
        if arguments.also and trial not in arguments.lacking.split(","):
            report(arguments.also, 1 - arguments.x, step)
    if trial in arguments.nan.split(","):
        report(tag, float("nan"), arguments.steps + 1)
    while arguments.wait_for and not os.path.exists(arguments.wait_for):
        time.sleep(0.02)


if __name__ == "__main__":
    main()
