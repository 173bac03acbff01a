"""Does what its arguments say, one after the other: what the service's tests need a replica to do."""

import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import time


def main() -> None:
    words = iter(sys.argv[1:])
    for word in words:
        if word == "--job-dir":
            next(words)
        elif word == "print":
            print(next(words), flush=True)
        elif word == "stderr":
            print(next(words), file=sys.stderr, flush=True)
        elif word == "log":
            logging.warning(next(words))
        elif word == "environment":
            print("ENVIRONMENT " + json.dumps(dict(os.environ)), flush=True)
        elif word == "host":
            print("HOST " + socket.gethostname(), flush=True)
        elif word == "descriptors":  # how many it may have open
            print(f"DESCRIPTORS {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}", flush=True)
        elif word == "count":  # lines, numbered
            for number in range(int(next(words))):
                print(f"line {number:07d}")
            sys.stdout.flush()
        elif word == "tick":  # N lines, one every 10 ms
            for number in range(int(next(words))):
                print(f"tick {number:07d}", flush=True)
                time.sleep(0.01)
        elif word == "await":  # until the file has as many bytes
            wait_for_bytes(next(words), int(next(words)))
        elif word == "shell":
            subprocess.run(next(words), shell=True, check=True)
        elif word == "exit":
            sys.exit(int(next(words)))
        elif word == "raise":
            raise RuntimeError(next(words))
        elif word == "kill":
            os.kill(os.getpid(), int(next(words)))
        elif word == "worker-exit":  # only workers end, with this status, the first N times
            status, times, marker = int(next(words)), int(next(words)), next(words)
            crash_worker(status, times, marker)
        elif word == "daemon":
            daemon(next(words))
        elif word == "ignore-term":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif word == "forever":
            while True:
                time.sleep(3600)
        else:
            raise SystemExit(f"probe: unknown word {word!r}")


def crash_worker(status: int, times: int, marker: str) -> None:
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    if task["type"] != "worker":
        return
    with open(marker, "a+", encoding="utf-8") as file:
        file.write("x")
        file.seek(0)
        crashes = len(file.read())
    if crashes <= times:
        print(f"worker crashes for the {crashes}. time", flush=True)
        sys.exit(status)


def wait_for_bytes(path: str, size: int) -> None:
    while not os.path.exists(path) or os.path.getsize(path) < size:
        time.sleep(0.01)


def daemon(marker: str) -> None:
    """Leaves a process behind that nothing but SIGKILL or its namespace's end can end, and says its name."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execvp("sleep", ["sleep", marker])


if __name__ == "__main__":
    main()
