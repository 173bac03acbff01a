"""Keeps a secret in every place that a replica calls its own, until it is ended."""

import ctypes
import mmap
import os
import pathlib
import secrets
import socket
import sys

if "OWN_SECRET" not in os.environ:
    os.environ["OWN_SECRET"] = "SECRET-" + secrets.token_hex(16)
    os.execv(sys.executable, [sys.executable, "-m", "intruder.victim", *sys.argv[1:]])

SECRET = os.environ["OWN_SECRET"]
libc = ctypes.CDLL(None, use_errno=True)
for folder in (".", "/tmp", "/dev/shm", os.environ["HOME"]):
    pathlib.Path(folder, "own-secret").write_text(SECRET)
memory = mmap.mmap(-1, 4096)
memory.write(SECRET.encode())
segment = libc.shmget(0x7A11, 4096, 0o1666)  # System V: a key that everybody can guess
libc.shmat.restype = ctypes.c_void_p
ctypes.memmove(libc.shmat(segment, None, 0), SECRET.encode(), len(SECRET))
door = socket.socket(socket.AF_UNIX)
door.bind("/tmp/own-door")
door.listen()
print("hidden", flush=True)
while True:
    with door.accept()[0] as peer:
        peer.sendall(SECRET.encode())
