#!/usr/bin/env python3
"""Runs trainyard on every recorded case and compares requests, stdout, stderr and exit status with gcloud's:
replay.py PROGRAM [NAME...]. Needs no gcloud. What differs on purpose is said here and in differences.py, with its reason."""

import concurrent.futures
import json
import os
import pathlib
import re
import sys

from cases import CASES
from differences import DIFFERENCES
from run_case import run

HERE = pathlib.Path(__file__).parent
UNAUTHENTICATED = re.compile(r"\.? This command is unauthenticated because the \[auth/disable_credentials\] property is True(\.?)")


def trainyard_environment(port, directory):
    return {"TRAINYARD_SERVER": f"http://127.0.0.1:{port}", "CLOUDSDK_CORE_PROJECT": "example",
            "CLOUDSDK_CONFIG": os.path.join(directory, ".gcloud"), "TRAINYARD_DATA": os.path.join(directory, "data")}


def words(lines):
    """gcloud's text with our program's name; runs of spaces inside a sentence and empty lines at the end do not count."""
    text = "\n".join(lines)
    text = text.replace("(gcloud", "(trainyard").replace("gcloud ai-platform", "trainyard ai-platform")
    text = UNAUTHENTICATED.sub(r"\1", text)
    # Links to a console that is gone: we name the job's own address and the command for its log.
    text = re.sub(r"View job in the Cloud Console at:\nhttps\S*/jobs/([^?]*)\?project=(\S*)\n", r"View job at:\nJOB_URL\n", text)
    text = re.sub(r"View logs at:\nhttps.*%2F([^&]*)&project=.*", r"View logs with the command:\ntrainyard ai-platform jobs stream-logs \1",
                  text)
    text = re.sub(r"View job at:\nhttp://HOST:PORT\S*", "View job at:\nJOB_URL", text)
    # Where gcloud points to its own help, we point to ours.
    text = re.sub(r"To search the help text of gcloud commands, run:\n +gcloud help -- SEARCH_TERMS", "HINT", text)
    text = re.sub(r"To see what this command takes, run:\n +trainyard .* --help", "HINT", text)
    text = re.sub(r"(Bad syntax for dict arg: \[.*\])\..*", r"\1.", text)
    text = re.sub(r"(\S)  +`", r"\1 `", text)
    text = re.sub(r"please +ensure", "please ensure", text)
    return re.sub(r"\s+\Z", "", text).split("\n")


def without_polls(requests):
    """A stream's look repeated with nothing in between counts once; so does the look for the end. Our last look, without
    an upper bound, has no counterpart: gcloud waits instead."""
    kept = []
    for request in requests:
        if request["path"] == "/v2/entries:tail":
            continue  # offered by our server only: the stub does not know it, and the polling of gcloud begins
        if request["path"].startswith("/trainyard/"):  # what this server adds; gcloud cannot know of it
            continue
        filter_text = request.get("json", {}).get("filter")
        if filter_text is not None and 'timestamp<"' not in filter_text:
            continue
        if kept and kept[-1] == request and request["method"] in ("GET", "POST") and request["path"][-4:] != "jobs":
            continue
        kept.append(request)
    return kept


def expected(name):
    seen = json.loads((HERE / "recorded" / f"{name}.json").read_text())
    return {**seen, **DIFFERENCES.get(name, {})}


def check(name, program):
    want = expected(name)
    got = run(CASES[name], [program], trainyard_environment)
    problems = []
    if got["exit"] != want["exit"]:
        problems.append(f"exit {got['exit']}, not {want['exit']}")
    if want["requests"] is not None and without_polls(got["requests"]) != without_polls(want["requests"]):
        problems.append("requests:\n" + json.dumps(without_polls(got["requests"]), indent=1) + "\nnot:\n" +
                        json.dumps(without_polls(want["requests"]), indent=1))
    for stream in ("stdout", "stderr"):
        if want[stream] is not None and words(got[stream]) != words(want[stream]):
            problems.append(f"{stream}:\n" + "\n".join(words(got[stream])) + "\nnot:\n" + "\n".join(words(want[stream])))
    return problems


def main():
    program = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or list(CASES)
    missing = [name for name in names if not (HERE / "recorded" / f"{name}.json").exists()]
    assert not missing, f"not recorded: {missing}"
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        for name, problems in zip(names, pool.map(lambda name: check(name, program), names)):
            if problems:
                failed += 1
                print(f"FAILED {name}\n  " + "\n".join(problems).replace("\n", "\n  "))
    print(f"{len(names) - failed} of {len(names)} cases as recorded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
