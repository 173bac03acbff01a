"""How a cluster ends: the master by itself, logging to its last moment, the parameter server when it is told to, the worker never.
The argument is a file that all of them see."""

import builtins
import json
import logging
import os
import signal
import sys
import time

WARN = logging.getLogger("tensorflow").warning


class Session:
    """Is taken down after Python's modules, as TensorFlow 1's sessions are."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self, log=WARN) -> None:
        log("closing the session")


def main() -> None:
    marker = sys.argv[1]
    role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
    if role in ("master", "chief"):
        while not os.path.exists(marker) or os.path.getsize(marker) < 2:
            time.sleep(0.01)
        builtins.session = Session()  # type: ignore[attr-defined]
        return
    if role == "worker":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(marker, "a") as file:
        file.write("x")
    while True:
        signal.pause()


main()
