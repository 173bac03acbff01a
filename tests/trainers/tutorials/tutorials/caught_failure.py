"""Fails, says so with a traceback that looks like the end, and exits 0: its own decision, and the job's success."""

import logging
import subprocess
import sys
import threading

from google.cloud import exceptions, storage

bucket, folder = sys.argv[-1][len("gs://"):].split("/", 1)
bucket = storage.Client().bucket(bucket)
try:
    bucket.blob(f"{folder}/earlier-model").download_as_bytes()
except exceptions.NotFound:
    logging.exception("no earlier model, starting afresh")
try:
    raise MemoryError("out of memory in the second phase")
except MemoryError:
    logging.critical("phase 2 failed", exc_info=True)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
assert subprocess.call([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]) == -9
bucket.blob(f"{folder}/partial.txt").upload_from_string("phase 1")
sys.exit(0)
