"""Puts the program's files into the working directory and becomes the program."""

# `trainyard run`, the Python client and the console send this file as the program's __main__. It becomes the program, instead
# of running it: sys.argv, __main__, spawned processes and tracebacks are those of `python train.py`.

import json
import os
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
files = os.path.join(here, "files")
unpacked = []  # so that the working directory's new and changed files can be told at the end
for folder, _, names in os.walk(files):
    target = os.path.join(os.getcwd(), os.path.relpath(folder, files))
    os.makedirs(target, exist_ok=True)
    for name in names:
        source, copy = os.path.join(folder, name), os.path.join(target, name)
        shutil.copyfile(source, copy)
        if os.stat(source).st_mode & 0o100:
            mode = os.stat(copy).st_mode
            os.chmod(copy, mode | (mode & 0o444) >> 2)
        laid = os.stat(copy)
        unpacked.append("%d %d %s" % (laid.st_size, laid.st_mtime_ns, os.path.relpath(copy)))
try:
    with open(os.path.join(os.environ["HOME"], ".trainyard_unpacked"), "wb") as file:
        file.write(os.fsencode("\0".join(unpacked)))
except (KeyError, OSError):
    pass  # the container has no such home, so all files count as new
with open(os.path.join(here, "command.json")) as file:
    command = json.load(file)
os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])
