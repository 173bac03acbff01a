"""Fails in the way that its first argument names: by itself where a plain Python can, else in a framework's own words."""

import os
import resource
import signal
import socket
import subprocess
import sys
import time


def framework_error(name, message):
    """Raises what a framework raises that is not installed here: its class's name and its words."""
    module, _, kind = name.rpartition(".")
    raise type(kind, (Exception,), {"__module__": module})(message)


TF = "tensorflow.python.framework.errors_impl."
WORDS = {
    "library_python": ("builtins.ImportError", "libGL.so.1: cannot open shared object file: No such file or directory"),
    "threads": ("builtins.RuntimeError", "can't start new thread"),
    "shared_memory": ("builtins.RuntimeError", "DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that "
                      "dataloader's workers are out of shared memory."),
    "storage_404": ("google.api_core.exceptions.NotFound", "404 GET http://x/storage/v1/b/b/o/train.csv: No such object: b/train.csv"),
    "public_bucket": (TF + "NotFoundError", "Error executing an HTTP request: HTTP response code 404 with body '{\n  \"error\": {\n    "
                      "\"code\": 404,\n    \"message\": \"No such object\"\n  }\n}\n'\n\t when reading gs://tfds-data/datasets/mnist/x/"),
    "public_folder": ("builtins.FileNotFoundError", "[Errno 2] No such file or directory: '/gcs/cloud-samples-data/census.csv'"),
    "worker_killed": ("builtins.RuntimeError", "DataLoader worker (pid 3) is killed by signal: Killed."),
    "storage_403": ("google.api_core.exceptions.Forbidden", "403 POST http://x/upload/storage/v1/b/b/o: no access"),
    "checkpoint": (TF + "NotFoundError", "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                   "gs://b/model.ckpt-100"),
    "state_dict": ("builtins.RuntimeError", "Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param"),
    "nan": ("tensorflow_estimator.python.estimator.basic_session_run_hooks.NanLossDuringTrainingError", "NaN loss during training."),
    "shapes": (TF + "InvalidArgumentError", "Incompatible shapes: [32,10] vs. [32,1] [Op:Sub]"),
    "protobuf": ("builtins.TypeError", "Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, your generated "
                 "code is out of date"),
    "numpy_abi": ("builtins.ValueError", "numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header"),
    "cuda_memory": ("torch.cuda.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity)"),
    "no_driver": ("builtins.RuntimeError", "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"),
    "old_driver": ("builtins.RuntimeError", "The NVIDIA driver on your system is too old (found version 10010)."),
    "nccl": ("torch.distributed.DistBackendError", "NCCL error in: ../ProcessGroupNCCL.cpp:1331, unhandled system error, ncclSystemError"),
    "device_assert": ("builtins.RuntimeError", "CUDA error: device-side assert triggered"),
}


def in_words(name):
    kind, message = WORDS[name]
    framework_error(kind, message)


def missing_import():
    import nosuch_module  # noqa: F401


def missing_library():
    import ctypes
    ctypes.CDLL("libnosuch.so.3")


def arguments():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("how")
    parser.add_argument("--epochs", type=int)
    parser.parse_args()


def absl_flags():
    print("FATAL Flags parsing error: Unknown command line flag 'learning_rat'", file=sys.stderr)
    sys.exit(1)


def disk():
    with open("/dev/full", "wb", buffering=0) as file:
        file.write(b"x")


def memory():
    bytearray(1 << 62)


def files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    kept = []
    while True:
        kept.append(open("/dev/null", "rb"))


def port():
    first, second = socket.socket(), socket.socket()
    first.bind(("127.0.0.1", 0))
    first.listen()
    second.bind(first.getsockname())


def refused():
    free = socket.socket()
    free.bind(("127.0.0.1", 0))
    address = free.getsockname()
    free.close()
    socket.create_connection(address, timeout=5)


def broken_pipe():
    ours, theirs = socket.socketpair()
    theirs.close()
    ours.send(b"x")


def host_name():
    socket.getaddrinfo("no.such.host.invalid", 80)


def timeout():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    server.settimeout(0.05)
    server.accept()


def permission():
    if os.geteuid() == 0:
        os.seteuid(65534)
    open("/etc/shadow", "rb").close()


def read_only():
    open(os.path.join(os.environ["PYTHONPATH"].split(":")[0], "written"), "w").close()  # what all jobs share


def missing_file():
    open("data/train.csv").close()


def gs_file():
    open("gs://models/train.csv").close()


def removed_function():
    import math
    math.placeholder(1)


def removed_name():
    from math import contrib  # noqa: F401


def bad_json():
    import json
    json.loads("{")


def pickles():
    import pickle
    pickle.dumps(lambda: 0)


def child():
    subprocess.run(["false"], check=True)


def recursion():
    recursion()


def exception():
    raise ValueError("the learning rate must be positive")


def chained():
    try:
        missing_import()
    except ImportError as error:
        raise RuntimeError("cannot set up") from error


def deep(levels, then):
    return deep(levels - 1, then) if levels else then()


def long_chain(*streams):
    """An exception from one from one, each raised many frames deep: over 2 KiB of traceback each."""
    if streams:
        sys.excepthook = sys.__excepthook__  # to stderr, as a program of an image does

    def first():
        raise KeyError("the learning rate")

    def second():
        try:
            deep(60, first)
        except KeyError as error:
            raise OSError("between") from error

    try:
        deep(60, second)
    except OSError as error:
        raise RuntimeError("cannot train") from error


def tensorflow_1(*streams):
    """The last lines are the frames that made the operation, not the exception."""
    if streams:
        sys.excepthook = sys.__excepthook__
    frames = "".join(f'  File "/usr/lib/python3.7/site-packages/tensorflow_core/python/framework/ops.py", line {number}, in op\n'
                     "    attrs, op_def, compute_device)\n" for number in range(40))
    framework_error(TF + "InvalidArgumentError", "2 root error(s) found.\n  (0) Invalid argument: Incompatible shapes: [32,10] vs. "
                    "[32,1]\n\t [[node Sub (defined at /trainer/task.py:7) ]]\n0 successful operations.\n0 derived errors ignored."
                    "\n\nOriginal stack trace for 'Sub':\n" + frames)


def gave_up():
    sys.exit("no training data under gs://b/data")


def status(number):
    print("giving up for now", file=sys.stderr)
    sys.exit(int(number))


def shell_not_found():
    os.execv("/bin/sh", ["sh", "-c", "nosuch-command cp a b"])


def kill_self(name):
    if name != "SIGKILL":
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), getattr(signal, name))
    signal.pause()


def eat():
    """Memory, until something ends it."""
    time.sleep(0.5)  # what it uses is counted from a moment after its start
    kept = []
    while True:
        kept.append(bytearray(b"x" * (16 << 20)))


def forever():
    print("ready", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if words[0] in WORDS:
        in_words(words[0])
    globals()[words[0]](*words[1:])
