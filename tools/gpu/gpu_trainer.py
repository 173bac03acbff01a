"""A training program that uses its GPU by the driver's own library, and says what it sees.

Standard library only: it runs as a Python package and as an image without anything else.
"""

import argparse
import ctypes
import glob
import json
import os
import signal
import sys
import time

PLACES = ["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]
GIB = 1 << 30


class CudaError(Exception):
    def __init__(self, call, code):
        super().__init__("%s: error %d" % (call, code))
        self.code = code


class Cuda:
    """The calls of libcuda that a program needs to hold memory and keep a GPU busy."""

    def __init__(self, library):
        self.found, self._library = load(library)

    def call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code:
            raise CudaError(name, code)

    def device_count(self):
        self.call("cuInit", ctypes.c_uint(0))
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def open_first(self):
        """Makes a context on device 0; returns its UUID as NVML writes it."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        uuid = (ctypes.c_ubyte * 16)()
        self.call("cuDeviceGetUuid", ctypes.byref(uuid), device)
        self.call("cuCtxCreate_v2", ctypes.byref(context), ctypes.c_uint(0), device)
        text = bytes(uuid).hex()
        return "GPU-" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])

    def memory(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        self.fill(pointer, 0, size)  # a page that was never written may not be counted
        return pointer

    def fill(self, pointer, value, size):
        self.call("cuMemsetD8_v2", pointer, ctypes.c_ubyte(value), ctypes.c_size_t(size))
        self.call("cuCtxSynchronize")


def load(library):
    said = ""
    for place in [library] if library else PLACES:
        try:
            return place, ctypes.CDLL(place)
        except OSError as error:
            said = said or str(error)
    raise SystemExit("libcuda cannot be loaded: " + said)


def say(what, **values):
    print("GPU_CHECK", json.dumps(dict(values, what=what)), flush=True)


def openable_devices():
    """Device files of single GPUs that this program may open."""
    names = []
    for name in sorted(glob.glob("/dev/nvidia[0-9]*")):
        try:
            os.close(os.open(name, os.O_RDWR))
            names.append(name)
        except OSError:
            pass
    return names


def without_gpu(library):
    try:
        count, code = Cuda(library).device_count(), 0
    except CudaError as error:
        count, code = 0, error.code
    except SystemExit:
        count, code = 0, -1
    say("without", count=count, code=code, visible=os.environ.get("CUDA_VISIBLE_DEVICES"), files=openable_devices())


def first_time(marker):
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--then", choices=["end", "hold", "work"], default="end", help="with the memory: nothing, wait, keep the GPU busy")
    parser.add_argument("--once", help="a file; if it is there, end at once: this is a restart")
    parser.add_argument("--libcuda", help="another libcuda than the machine's")
    parser.add_argument("--without", action="store_true", help="say that there is no GPU")
    parser.add_argument("--token", help="nothing; so that this process can be told from others")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # as process 1 of a container it would be ignored
    if arguments.without:
        without_gpu(arguments.libcuda)
        return
    if arguments.once and not first_time(arguments.once):
        say("restarted")
        return
    cuda = Cuda(arguments.libcuda)
    count = cuda.device_count()
    uuid = cuda.open_first()
    before, total = cuda.memory()
    size = int(arguments.gib * GIB)
    pointer = cuda.allocate(size)
    after, _ = cuda.memory()
    say("allocated", count=count, uuid=uuid, library=cuda.found, visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        files=openable_devices(), total=total, free_before=before, free_after=after, size=size)
    turn = 0
    while arguments.then == "work":
        turn += 1
        cuda.fill(pointer, turn % 256, size)
    while arguments.then == "hold":
        time.sleep(3600)  # until it is ended


if __name__ == "__main__":
    main()
