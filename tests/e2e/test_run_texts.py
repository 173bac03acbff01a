"""The texts of `trainyard run` and of the commands on what a job left, word for word, against a server with fixed answers."""

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from trainyard_server import DEADLINE_S, PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests/golden/cli"))
from stub import Stub  # noqa: E402

LINK = None  # a file's content: it is a link to a folder
USAGE = 2  # the command line is wrong: after the error come the flags there are
JOB = "/v1/projects/example/jobs/census_1"
CREATE = "POST /v1/projects/example/jobs"


def job(**fields):
    return [{"body": {"jobId": "census_1", "createTime": "2026-11-20T00:00:00Z", **fields}}]


ENDED = {"state": "SUCCEEDED", "endTime": "2026-11-20T00:02:00Z"}
FAILED = {"state": "FAILED", "endTime": "2026-11-20T00:02:00Z", "errorMessage": "The replica master 0 exited."}
TAKEN = {"status": 409, "body": {"error": {"code": 409, "status": "ALREADY_EXISTS", "message": "taken"}}}
NOTEBOOK = '{"cells": [{"cell_type": "code", "source": "x = 1"}, {"cell_type": "code", "source": ["!ls -la"]}]}'

CASES: dict[str, tuple[Any, ...]] = {
    "no_program": (["run"], {}, {}, USAGE, "", "ERROR: (trainyard.run) argument PROGRAM: Must be specified, unless --image is given.\n"),
    "no_such_file": (["run", "nope.py"], {}, {}, 1, "",
                     "ERROR: (trainyard.run) there is no program nope.py: no such file or folder\n"),
    "notebook_with_a_shell_line": (
        ["run", "look.ipynb"], {"look.ipynb": NOTEBOOK}, {}, 1, "",
        "ERROR: (trainyard.run) look.ipynb: cell 2 has `!ls -la`, which only works in a notebook. Remove the line, or write it in Python\n"),
    "env_without_value": (["run", "--env", "LEVEL", "train.py"], {"train.py": ""}, {}, USAGE, "",
                          "ERROR: (trainyard.run) argument --env: `LEVEL` is not NAME=VALUE\n"),
    "secret_without_value": (
        ["run", "--secret", "TOKEN", "train.py"], {"train.py": ""}, {}, 1, "",
        "ERROR: (trainyard.run) The secret TOKEN has no value: the environment variable is not set, and there is no terminal to "
        "prompt on. Set it: export TOKEN=...\n"),
    "secret_in_the_command_line": (
        ["run", "--secret", "TOKEN=x", "train.py"], {"train.py": ""}, {}, USAGE, "",
        "ERROR: (trainyard.run) argument --secret: specify only the name; the value is read from your environment variable of that name\n"),
    "image_with_a_runtime": (
        ["run", "--image", "python:3.11", "--runtime-version", "2.15"], {}, {}, USAGE, "",
        "ERROR: (trainyard.run) argument --runtime-version: cannot be combined with --image: the image contains its own runtime\n"),
    "async": (
        ["run", "--async", "--name", "census_1", "train.py"], {"train.py": "import torch\n"}, {CREATE: job()}, 0, "",
        "Runtime version: pytorch-2.15 (train.py imports torch; use --runtime-version to change it).\n"
        "Job [census_1] submitted. Its folder: gs://example-runs/census_1\nFollow it:  trainyard jobs stream-logs census_1\n"),
    "flags_go_on": (
        ["run", "--server", "URL", "--project", "example", "--async", "--name", "census_1", "--image", "i"], {}, {CREATE: job()}, 0, "",
        "Job [census_1] submitted. Its folder: gs://example-runs/census_1\n"
        "Follow it:  trainyard jobs stream-logs census_1 --server=URL --project=example\n"),
    "gpus": (["run", "--gpus", "unlimited", "train.py"], {"train.py": ""}, {}, USAGE, "",
             "ERROR: (trainyard.run) argument --gpus: Value must be 1, 2, 4 or 8; received: unlimited\n"),
    "workers": (["run", "--workers", "99999999999", "train.py"], {"train.py": ""}, {}, USAGE, "",
                "ERROR: (trainyard.run) argument --workers: Value must be from 1 to 999; received: 99999999999\n"),
    "nameless_requirement": (
        ["run", "train.py"], {"train.py": "", "requirements.txt": "numpy\ngit+https://host/b.git\n"}, {}, 1, "",
        "ERROR: (trainyard.run) requirements.txt:2: `git+https://host/b.git` does not name the package: write it as `NAME @ URL`\n"),
    "link_to_a_folder": (
        ["run", "--async", "--name", "census_1", "train.py"], {"train.py": "import torch\n", "shared": LINK}, {CREATE: job()}, 0, "",
        "Runtime version: pytorch-2.15 (train.py imports torch; use --runtime-version to change it).\n"
        "WARNING: These files next to the program are not uploaded: shared (a link to a folder).\n"
        "Job [census_1] submitted. Its folder: gs://example-runs/census_1\nFollow it:  trainyard jobs stream-logs census_1\n"),
    "default_runtime": (
        ["run", "--async", "--name", "census_1", "--job-dir", "gs://bucket/out/", "train.py"], {"train.py": "import numpy\n"},
        {CREATE: job()}, 0, "",
        "Runtime version: the server's default (the program imports neither PyTorch nor TensorFlow; use --runtime-version to change it).\n"
        "Job [census_1] submitted. Its folder: gs://bucket/out\nFollow it:  trainyard jobs stream-logs census_1\n"),
    "data_stays": (
        ["run", "--async", "--name", "census_1", "train.py"], {"train.py": "", "data/a.bin": 70_000_000}, {CREATE: job()}, 0, "",
        "Runtime version: the server's default (the program imports neither PyTorch nor TensorFlow; use --runtime-version to change it).\n"
        "WARNING: Data files next to the program are not uploaded, because they are larger than 67 MB: data (70 MB). "
        "Copy them to a bucket: trainyard storage cp -r FOLDER gs://BUCKET/\n"
        "Job [census_1] submitted. Its folder: gs://example-runs/census_1\nFollow it:  trainyard jobs stream-logs census_1\n"),
    "refused": (
        ["run", "--name", "census_1", "--image", "i"], {},
        {CREATE: [{"status": 400, "body": {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Field: x Error: y"}}}]}, 1, "",
        "ERROR: (trainyard.run) INVALID_ARGUMENT: Field: x Error: y\n"),
    "name_taken": (["run", "--name", "census_1", "--image", "i"], {}, {CREATE: [TAKEN]}, 1, "",
                   "ERROR: (trainyard.run) ALREADY_EXISTS: taken\n"),
    "rerun": (["jobs", "rerun", "census_1", "--name", "two", "--async"], {},
              {"GET " + JOB: job(trainingInput={}, **ENDED), CREATE: [{"body": {"jobId": "two"}}]}, 0, "",
              "Job [two] submitted, with the input of [census_1].\nFollow it:  trainyard jobs stream-logs two\n"),
    "wait": (["jobs", "wait", "census_1"], {}, {"GET " + JOB: job(state="RUNNING") + job(**ENDED)}, 0, "", "Job [census_1] succeeded.\n"),
    "wait_failed": (["jobs", "wait", "census_1"], {}, {"GET " + JOB: job(**FAILED)}, 1, "",
                    "Job [census_1] failed: The replica master 0 exited.\n"),
    "wait_cancelled": (["jobs", "wait", "census_1"], {}, {"GET " + JOB: job(state="CANCELLED", endTime="2026-11-20T00:02:00Z")}, 1, "",
                       "Job [census_1] was cancelled.\n"),
    "open": (["jobs", "open", "census_1"], {}, {"GET " + JOB: job()}, 0, "URL/ui/p/example/jobs/census_1\n", ""),
    "download_no_folder": (["jobs", "download", "census_1"], {}, {"GET " + JOB: job(trainingInput={})}, 1, "",
                           "ERROR: (trainyard.jobs.download) The job [census_1] has no output folder: it was submitted without --job-dir.\n"),
    "download_nothing": (
        ["jobs", "download", "census_1"], {},
        {"GET " + JOB: job(trainingInput={"jobDir": "gs://bucket/d"}), "GET /storage/v1/b/bucket/o": [{"body": {}}]}, 1, "",
        "ERROR: (trainyard.jobs.download) The job has written nothing to gs://bucket/d.\n"),
    "tensorboard_elsewhere": (
        ["jobs", "tensorboard", "census_1"], {"data/environments/runtimes/r/bin/tensorboard": '#!/bin/sh\ncd "$2" && find . -type f\n'},
        {"GET " + JOB: job(trainingInput={"jobDir": "gs://bucket/d"}),
         "GET /storage/v1/b/bucket/o": [{"body": {"items": [{"name": "d/1/events.out.tfevents.1", "size": "2"},
                                                            {"name": "d/model.pb", "size": "2"}]}}],
         "GET /storage/v1/b/bucket/o/d%2F1%2Fevents.out.tfevents.1": [{"body": {}}]}, 0, "./1/events.out.tfevents.1\n",
        "Starting DATA/environments/runtimes/r/bin/tensorboard on copies of the event files of gs://bucket/d\n"),
    "tensorboard_none": (
        ["tensorboard", "census_1"], {"data/buckets/bucket/d/x": ""}, {"GET " + JOB: job(trainingInput={"jobDir": "gs://bucket/d"})}, 1, "",
        "ERROR: (trainyard.tensorboard) There is no TensorBoard on PATH, in a built runtime version or in python3. Install one: pip "
        "install tensorboard, or trainyard runtimes install 2.15\n"),
    "tensorboard": (
        ["tensorboard", "census_1", "--", "--port", "6006"],
        {"data/buckets/bucket/d/x": "", "data/environments/runtimes/r/bin/tensorboard": "#!/bin/sh\necho \"$@\"\n"},
        {"GET " + JOB: job(trainingInput={"jobDir": "gs://bucket/d"})}, 0, "--logdir DATA/buckets/bucket/d --port 6006\n",
        "Starting DATA/environments/runtimes/r/bin/tensorboard on DATA/buckets/bucket/d\n"),
    "tensorboard_of_a_bucket_elsewhere": (
        ["tensorboard", "census_1"],
        {"data/buckets/bucket/.keep": "", "data/disk/d/x": "", "data/run/server.json": '{"url": "URL", "bucket_dirs": {"bucket": "data/disk"}}',
         "data/environments/runtimes/r/bin/tensorboard": "#!/bin/sh\necho \"$@\"\n"},
        {"GET " + JOB: job(trainingInput={"jobDir": "gs://bucket/d"})}, 0, "--logdir data/disk/d\n",
        "Starting DATA/environments/runtimes/r/bin/tensorboard on data/disk/d\n"),
}


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is LINK:
            path.symlink_to("/etc")
            continue
        path.write_text("" if isinstance(content, int) else content)
        if isinstance(content, int):
            os.truncate(path, content)
        path.chmod(0o755)


@pytest.mark.parametrize("name", CASES)
def test_texts(name, tmp_path):
    words, files, answers, status, out, err = CASES[name]
    stub = Stub(answers)
    try:
        url = f"http://127.0.0.1:{stub.port}"
        write(tmp_path, {path: content.replace('"URL"', f'"{url}"') if isinstance(content, str) else content for path, content in files.items()})
        data = str(tmp_path / "data")
        words = [word.replace("URL", url) for word in words]
        done = subprocess.run([PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=DEADLINE_S,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TZ": "UTC", "TRAINYARD_SERVER": url,
                                   "CLOUDSDK_CORE_PROJECT": "example", "TRAINYARD_DATA": data})
        seen = [text.replace(url, "URL").replace(data, "DATA") for text in (done.stdout, done.stderr)]
        if status == USAGE:
            seen[1] = seen[1].partition("\nUsage: ")[0] + "\n"
        assert (done.returncode, *seen) == (status, out, err)
    finally:
        stub.close()


def test_ctrl_c_ends_a_wait_for_a_server_that_is_away(tmp_path):
    server = socket.create_server(("127.0.0.1", 0))
    waiting = subprocess.Popen([PROGRAM, "jobs", "wait", "census_1", "--server", f"http://127.0.0.1:{server.getsockname()[1]}"],
                               stderr=subprocess.PIPE, text=True, env={**os.environ, "CLOUDSDK_CORE_PROJECT": "example", "HOME": str(tmp_path)},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert waiting.stderr is not None
    try:
        with server, server.accept()[0] as asked:  # answers once, and is gone
            asked.recv(65536)
            body = b'{"state": "RUNNING"}'
            asked.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert "cannot be reached" in waiting.stderr.readline()
        started = time.monotonic()
        waiting.send_signal(signal.SIGINT)
        assert (waiting.wait(DEADLINE_S), waiting.stderr.read()) == (130, "The job continues.\n")
        assert time.monotonic() - started < 5  # it would try again for half a minute
    finally:
        waiting.kill()
        waiting.wait()
        waiting.stderr.close()


def test_a_taken_name_of_its_own_making_gets_a_number(tmp_path):
    stub = Stub({CREATE: [TAKEN, {"body": {"jobId": "x"}}]})
    try:
        write(tmp_path, {"train.py": ""})
        subprocess.run([PROGRAM, "run", "--async", "train.py"], cwd=tmp_path, check=True, timeout=DEADLINE_S, capture_output=True,
                       env={**os.environ, "TRAINYARD_SERVER": f"http://127.0.0.1:{stub.port}", "CLOUDSDK_CORE_PROJECT": "example"})
        first, second = [request["json"]["jobId"] for request in stub.requests if request["path"].endswith("/jobs")]
        assert second == first + "_2"
        assert first.startswith("train_2")
    finally:
        stub.close()
