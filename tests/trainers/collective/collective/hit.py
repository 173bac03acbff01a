"""The arguments of the trainers here, and the one time that a replica of the job is hit."""

import argparse
import os
import signal
import time

EPOCHS = 4
HIT_AT = 2


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="that all replicas share")
    parser.add_argument("target", help="the task that is hit: worker-0")
    parser.add_argument("how", choices=["kill", "maintain"])
    return parser.parse_args()


def hit(arguments, task, epoch):
    """Before the epoch: the target dies, or waits to be stopped. Once in the job's life."""
    marker = os.path.join(arguments.folder, "hit")
    if task != arguments.target or epoch != HIT_AT or os.path.exists(marker):
        return
    with open(marker, "w", encoding="utf-8"):
        pass
    print("hit at epoch %d" % epoch, flush=True)
    if arguments.how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        time.sleep(3600)
