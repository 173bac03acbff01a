"""Prints numbered lines, and notes outside of the server's data what really happened: when it started, how many lines it has printed, and
that it ended. usage: witness.task NOTES LINES SECONDS STATUS SECRET

NOTES is a directory that every attempt sees. For each replica NAME.notes has a line per event and NAME.lock is held while the program runs:
two attempts that live at once cannot both have it. TOKEN.count has the number of lines that were printed. SECRET is a file that no program
may be able to read.
"""

import fcntl
import json
import os
import signal
import sys
import time


def replica_name():
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    task = config.get("task") or {"type": "master", "index": 0}
    return f"{os.environ['CLOUD_ML_JOB_ID']}.{task['type']}-{task['index']}.{task.get('trial', '')}"


def note(path, *words):
    with open(path, "a", encoding="ascii") as file:
        file.write(" ".join(map(str, words)) + "\n")


def report_metric(value):
    """As cloudml-hypertune does, for a trial of a hyperparameter job."""
    os.makedirs("/tmp/hypertune", exist_ok=True)
    with open("/tmp/hypertune/output.metrics", "w", encoding="ascii") as file:
        file.write(json.dumps({"timestamp": time.time(), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0"), "score": str(value),
                               "global_step": "1"}) + "\n")


def readable(path):
    try:
        with open(path, "rb"):
            return True
    except OSError:
        return False


def main():
    folder, lines, seconds, status, secret = sys.argv[1:6]
    name = os.path.join(folder, replica_name())
    token = os.urandom(4).hex()
    lock = os.open(name + ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        note(name + ".notes", "double", token)
    note(name + ".notes", "start", token)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    if readable(secret):
        note(name + ".notes", "escaped", token)
    count = os.open(os.path.join(folder, token + ".count"), os.O_RDWR | os.O_CREAT, 0o666)
    pause = float(seconds) / max(int(lines), 1)
    for number in range(int(lines)):
        stream = sys.stderr if number % 16 == 15 else sys.stdout
        stream.write(f"w {token} {number:07d}\n")
        stream.flush()
        os.pwrite(count, b"%08d" % (number + 1), 0)
        if pause > 0.0005:
            time.sleep(pause)
    if "CLOUD_ML_TRIAL_ID" in os.environ:
        report_metric(1)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from here on it ends with that status, whoever tells it to end
    note(name + ".notes", "end", token, lines, status)
    os._exit(int(status))


if __name__ == "__main__":
    main()
