"""Runs one case with one program (gcloud or trainyard) against the stub and returns what was seen, without what differs
from run to run: ports, folders, checksums of archives, the time."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time

from stub import Stub

NOW = re.compile(r'timestamp<\\?"[^"]+"')


def normalise(text, directory, port):
    text = text.replace(directory, "DIR").replace(f"127.0.0.1:{port}", "HOST:PORT")
    text = re.sub(r"\b[0-9a-f]{64}\b", "SHA256", text)
    text = NOW.sub(lambda found: 'timestamp<\\"NOW-5s\\"' if "\\" in found.group() else 'timestamp<"NOW-5s"', text)
    return re.sub(r"/tmp/[\w./]*output/", "OUTPUT/", text)


def write_files(directory, files):
    for name, text in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(text, int):
            text = "x" * text
        with open(path, "w") as out:
            out.write(text)


def run(case, program, environment):
    """program: the words before the case's own; environment(port) -> variables. Returns the observation."""
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        directory = os.path.realpath(directory)
        write_files(directory, case.get("files", {}))
        stub = Stub(case.get("answers", {}))
        try:
            variables = {"PATH": os.environ["PATH"], "HOME": directory, "TZ": "UTC", "LANG": "C.UTF-8",
                         **environment(stub.port, directory), **case.get("env", {})}
            process = subprocess.Popen(program + case["argv"], cwd=directory, env=variables, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if "interrupt_after" in case:  # number of requests seen
                while len(stub.requests) < case["interrupt_after"] and process.poll() is None:
                    time.sleep(0.05)
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=180)
            requests = json.loads(normalise(json.dumps(stub.requests), directory, stub.port))
            return {"exit": process.returncode, "requests": requests,
                    "stdout": normalise(out.decode(), directory, stub.port).split("\n"),
                    "stderr": normalise(err.decode(), directory, stub.port).split("\n")}
        finally:
            stub.close()
