#!/usr/bin/env python3
"""Runs trainyard on the cases of text_cases.py and compares what it prints, on pipes or in a terminal, and its exit
status with texts/NAME.txt: texts.py PROGRAM [NAME...]. --update writes the files anew; review the diff."""

import argparse
import concurrent.futures
import difflib
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios

from run_case import normalise, write_files
from stub import Stub
from text_cases import CASES

TEXTS = pathlib.Path(__file__).parent / "texts"


def read_all(master):
    """What was written to a terminal until its last user closed it."""
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux' word for the end
            piece = b""
        if not piece:
            return seen.decode().replace("\r\n", "\n").replace("\x1b", "\\e")
        seen += piece


def run_in_terminal(argv, columns, **options):
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, **options)
        os.close(slave)
        text = read_all(master)
        return process.wait(), [("terminal", text)]
    finally:
        os.close(master)


def run_on_pipes(argv, **options):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    return done.returncode, [("stdout", done.stdout), ("stderr", done.stderr)]


def observe(program, case):
    with tempfile.TemporaryDirectory(prefix="golden-") as directory:
        directory = os.path.realpath(directory)
        write_files(directory, case.get("files", {}))
        stub = Stub(case.get("answers", {}))
        try:
            variables = {"PATH": os.environ["PATH"], "HOME": directory, "TZ": "UTC", "LANG": "C.UTF-8",
                         "TRAINYARD_SERVER": f"http://127.0.0.1:{stub.port}", "CLOUDSDK_CORE_PROJECT": "example",
                         "CLOUDSDK_CONFIG": os.path.join(directory, ".gcloud"), "TRAINYARD_DATA": os.path.join(directory, "data"),
                         **case.get("env", {})}
            argv = [program, *case["argv"]]
            if "columns" in case:
                status, streams = run_in_terminal(argv, case["columns"], cwd=directory, env=variables)
            else:
                status, streams = run_on_pipes(argv, cwd=directory, env=variables)
            where = f" ({case['columns']} columns)" if "columns" in case else ""
            text = f"$ trainyard {' '.join(case['argv'])}{where}\nexit status {status}\n"
            for name, seen in streams:
                if seen:
                    text += f"--- {name}\n{normalise(seen, directory, stub.port)}"
            return text
        finally:
            stub.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    names = given.names or list(CASES)
    program = os.path.abspath(given.program)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        for name, seen in zip(names, pool.map(lambda name: observe(program, CASES[name]), names)):
            path = TEXTS / f"{name}.txt"
            if given.update:
                path.parent.mkdir(exist_ok=True)
                path.write_text(seen)
            want = path.read_text() if path.exists() else ""
            if seen != want:
                failed += 1
                print(f"FAILED {name}")
                print("\n".join(difflib.unified_diff(want.split("\n"), seen.split("\n"), "wanted", "seen", lineterm="")))
    stale = {path.stem for path in TEXTS.glob("*.txt")} - set(CASES)
    if stale:
        failed += 1
        print("no such cases:", *sorted(stale))
    print(f"{len(names) - failed} of {len(names)} texts as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
