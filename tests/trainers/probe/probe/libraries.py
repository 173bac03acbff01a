"""Prints what the runtime version has: versions of libraries, programs on the PATH, whether it can be written."""

import importlib
import json
import os
import subprocess
import sys
import time


def main():
    begin = time.monotonic()
    versions = {}
    for name in sys.argv[1:]:
        module = importlib.import_module(name)
        versions[name] = getattr(module, "__version__", "")
    seconds = time.monotonic() - begin
    place = os.path.dirname(importlib.import_module(sys.argv[1]).__file__)
    gsutil = subprocess.run(["gsutil", "version"], capture_output=True, text=True)
    print("libraries: " + json.dumps({
        "versions": versions, "seconds": seconds, "writable": os.access(place, os.W_OK), "python": sys.version.split()[0],
        "bytecode": any(entry.endswith(".pyc") for entry in os.listdir(os.path.join(place, "__pycache__"))),
        "gsutil": gsutil.stdout.strip() or gsutil.stderr[-500:]}))


if __name__ == "__main__":
    main()
