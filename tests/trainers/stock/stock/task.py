"""What a test of a whole machine needs a replica to do, with nothing but Python's own library: one word, and its numbers."""

import mmap
import os
import resource
import subprocess
import sys
import threading
import time
import traceback

HUGE = 2 << 20
STACK = 64 << 10
STORAGE = "https://storage.googleapis.com/storage/v1/b/stock"
METADATA = "http://metadata.google.internal/computeMetadata/v1/project/project-id"


def grow() -> None:
    """Takes memory and uses it, until something ends this."""
    held = []
    for count in range(1, 1 << 20):
        block = mmap.mmap(-1, 64 * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        block.madvise(mmap.MADV_HUGEPAGE)  # a hundred times fewer page faults
        for start in range(0, len(block), mmap.PAGESIZE):
            block[start] = 1
        held.append(block)
        if count % 8 == 0:
            print(f"has {count // 8} GiB", flush=True)


def hog(mark: str) -> None:
    """Beside a child that has left the session and holds nearly nothing; `mark` is in its command line."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e6)", mark], start_new_session=True)
    print(f"child {child.pid}", flush=True)
    grow()


def spin(processes: int, seconds: float) -> None:
    begin = time.monotonic()
    for _ in range(processes):
        if os.fork() == 0:
            while time.monotonic() - begin < seconds:
                pass
            os._exit(0)
    for _ in range(processes):
        os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPUS {(used.ru_utime + used.ru_stime) / (time.monotonic() - begin):.3f}", flush=True)


def multiply() -> None:
    """Starts threads, which the kernel counts as it counts processes, until it is refused one."""
    threading.stack_size(STACK)
    started = 0
    try:
        while True:
            threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
            started += 1
    except RuntimeError:
        print(f"STARTED {started}", flush=True)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # Python waits for the threads to take notice, one after the other


def tick(lines: int) -> None:
    for number in range(lines):
        print(f"tick {number:06d}", flush=True)
        time.sleep(0.05)


def google() -> None:
    """Cloud Storage and the metadata under Google's names, and the buckets as folders."""
    for name, command in (("STORAGE", [STORAGE]), ("METADATA", ["-H", "Metadata-Flavor: Google", METADATA])):
        done = subprocess.run(["curl", "-sS", "--fail", "--max-time", "120", *command], capture_output=True, text=True)
        print(f"{name} {done.returncode} {' '.join((done.stdout + done.stderr).split())[:300]}", flush=True)
    print(f"FOLDER {os.path.isdir('/gcs/stock')}", flush=True)


def main() -> None:
    word, *rest = sys.argv[1:]
    if word == "hog":
        hog(rest[0])
    elif word == "spin":
        spin(int(rest[0]), float(rest[1]))
    elif word == "multiply":
        multiply()
    elif word == "tick":
        tick(int(rest[0]))
    elif word == "google":
        google()
    elif word == "wait":
        print("it waits", flush=True)
        time.sleep(1e6)
    else:
        raise SystemExit(f"stock: unknown word {word!r}")


if __name__ == "__main__":
    main()
