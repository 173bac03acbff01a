"""Tries what a program could do beyond itself with rights of root's or by system calls, and prints what came of it: "RIGHTS {json}".

With "bomb": starts threads until there can be no more, at most BOMB_MAX, and prints "BOMB count"."""

import ctypes
import errno
import json
import os
import platform
import shutil
import socket
import stat
import subprocess
import sys

BOMB_MAX = 17_000
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NAMESPACES = {"mount": 0x20000, "user": 0x10000000, "network": 0x40000000, "pid": 0x20000000}
CALLS = {  # name: (number on x86-64, on aarch64, arguments that do no harm where it works)
    "keyctl": (250, 219, (0, -3, 0)), "add_key": (248, 217, (b"user", b"trainyard-test", b"x", 1, -1)), "bpf": (321, 280, (0, 0, 0)),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0)), "userfaultfd": (323, 282, (0,)), "io_uring_setup": (425, 425, (1, 0)),
    "move_mount": (429, 429, (-1, b"", -1, b"", 0)), "open_tree": (428, 428, (-100, b"/", 1)), "fsopen": (430, 430, (b"tmpfs", 0)),
    "open_by_handle_at": (304, 265, (-1, 0, 0)), "setns": (308, 268, (-1, 0)), "pivot_root": (155, 41, (b"/x", b"/x")),
    "kexec_load": (246, 104, (0, 0, 0, 0)), "delete_module": (176, 106, (b"no_such_module", 0)), "syslog": (103, 116, (10, 0, 0)),
    "sethostname": (170, 161, (b"x", 1)), "pidfd_getfd": (438, 438, (-1, 0, 0)), "clone3": (435, 435, (0, 0)), "unknown": (4000, 4000, ()),
}


def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "done"


def system_call(name):
    x86, arm, arguments = CALLS[name]
    return call(LIBC.syscall(arm if platform.machine() == "aarch64" else x86, *arguments))


def open_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return "done"


def in_child(attempt):
    """What it comes to in a process of its own: 0, or the number of the error."""
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, os.strerror(status) if status > 0 else f"signal {-status}")
    return "done"


def become_root_by_file(folder):
    """As an ordinary user: what a setuid file of root's in that folder makes of it."""
    if sum(int(line.split()[2]) for line in open("/proc/self/uid_map")) == 1:
        return "nobody else is there"
    copy = os.path.join(folder, "setuid-python")
    shutil.copy(os.path.realpath(sys.executable), copy)
    os.chmod(copy, 0o4755)
    assert os.stat(copy).st_mode & stat.S_ISUID
    said = subprocess.run([copy, "-S", "-c", "import os; print(os.geteuid())"], env={"PYTHONHOME": sys.base_prefix}, cwd="/",
                          preexec_fn=lambda: (os.setgroups([]), os.setresgid(1234, 1234, 1234), os.setresuid(1234, 1234, 1234)),
                          capture_output=True, text=True)
    os.unlink(copy)
    return said.stdout.strip() or said.stderr[-200:]


def attempts():
    found = {
        "packet_socket": lambda: open_socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)),
        "packet_socket_datagrams": lambda: open_socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)),
        "raw_icmp": lambda: open_socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "raw_ip_6": lambda: open_socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_TCP),
        "hypervisor_socket": lambda: open_socket(40, socket.SOCK_STREAM),
        "mount": lambda: call(LIBC.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None)),
        "unmount": lambda: call(LIBC.umount2(b"/proc", 2)),
        "device": lambda: os.mknod("/tmp/rights-device", 0o600 | stat.S_IFCHR, os.makedev(1, 1)),
        "machine_setting": lambda: open("/proc/sys/kernel/core_pattern", "w").close(),
        "memory": lambda: open("/dev/mem", "rb").close(),
    }
    for kind, flag in NEW_NAMESPACES.items():
        found[f"unshare_{kind}"] = lambda flag=flag: in_child(lambda: call(LIBC.unshare(flag)))
    for name in CALLS:
        found[name] = lambda name=name: system_call(name)
    return found


def outcome(attempt):
    try:
        return attempt() or "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def bomb():
    """By the C library: a thread of Python's own waits for the interpreter, which a busy machine makes long."""
    library = ctypes.CDLL(None)
    attributes, thread, count = ctypes.create_string_buffer(64), ctypes.c_ulong(), 0
    library.pthread_attr_init(attributes)
    library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(32768))
    while count < BOMB_MAX and library.pthread_create(ctypes.byref(thread), attributes, library.pause, None) == 0:
        count += 1
    print(f"BOMB {count}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    if "bomb" in sys.argv:
        bomb()
    lines = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    report = {name: lines[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")}
    report["uid"] = os.getuid()
    report["attempts"] = {name: outcome(attempt) for name, attempt in attempts().items()}
    if os.getuid() == 0:
        folders = ["/tmp"]
        if "--job-dir" in sys.argv:
            folders.append(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
            os.makedirs(folders[-1], exist_ok=True)
        report["setuid"] = {folder: become_root_by_file(folder) for folder in folders}
    print("RIGHTS " + json.dumps(report), flush=True)
