"""Master and worker run until the folder of the first argument has the file `done`; SIGTERM makes the worker save its step."""

import json
import os
import pathlib
import signal
import socket
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])
BUSY = "busy" in sys.argv[2:]
TASK = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
CHECKPOINT = FOLDER / f"{TASK}.step"


def save(*_):
    CHECKPOINT.write_text("7")
    print("SIGTERM: saved step 7", flush=True)
    sys.exit(0)


def main():
    print("SEEN " + json.dumps({"host": socket.gethostname(), "files": os.listdir("."), "environment": dict(sorted(os.environ.items()))}),
          flush=True)
    pathlib.Path("left-behind").touch()
    signal.signal(signal.SIGTERM, save)
    step = int(CHECKPOINT.read_text()) if CHECKPOINT.exists() else 0
    print(f"{TASK} runs from step {step}", flush=True)
    while not (FOLDER / "done").exists():
        until = time.monotonic() + 0.05
        while BUSY and time.monotonic() < until:
            pass
        time.sleep(0.01)


if __name__ == "__main__":
    main()
