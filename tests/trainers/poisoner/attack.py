"""What the build of a package tries, given target.json: {"data": the server's data directory, "victim": another attempt's
folder, "url": the server's, "mark": a word that nothing else has}. Writes poisoner/results.json: what came of each attempt."""

import fcntl
import glob
import json
import os
import socket
import stat
import subprocess
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))


def read_all(*patterns):
    """The files that could be read, of those that match."""
    found = []
    for pattern in patterns:
        for path in glob.glob(pattern, recursive=True):
            try:
                if stat.S_ISREG(os.stat(path).st_mode):
                    with open(path, "rb") as file:
                        file.read(1)
                    found.append(path)
            except OSError:
                pass
    return found


def write(path):
    with open(path, "a") as file:
        file.write("poisoned\n")


def connect(path):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)


def environments_of_others(mark):
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if mark.encode() in file.read():
                    found.append(path)
        except OSError:
            pass
    return found


def sockets():
    found = []
    for top in "/run", "/var", "/tmp", "/opt", "/home", "/root", "/srv":
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if stat.S_ISSOCK(os.lstat(path).st_mode):
                        found.append(path)
                except OSError:
                    pass
    return found


def unlock_all():
    """Locks that whoever started us has left open."""
    freed = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
            if target.endswith("lock"):
                fcntl.flock(int(name), fcntl.LOCK_UN)
                freed.append(target)
        except OSError:
            pass
    return freed


def raw_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()


def stay_behind(mark):
    """A process that nobody waits for, in a session of its own."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", mark + "-stays"], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True)


def spoil_own_layer(target):
    """What is kept of the build: allowed where it harms only this job, dropped where it would reach further."""
    prefix = sys.prefix
    with open(os.path.join(prefix, "bin", "rootly"), "w") as file:
        file.write("#!/bin/sh\nid\n")
    os.chmod(os.path.join(prefix, "bin", "rootly"), 0o6755)
    os.symlink("/etc", os.path.join(prefix, "evil"))
    os.symlink(os.path.join("..", "..", "..", "..", "run"), os.path.join(prefix, "evil-too"))
    os.mkfifo(os.path.join(prefix, "pipe"))
    folder = os.path.join(prefix, "packages")  # where packages were downloaded to
    if os.path.isdir(folder):
        os.rename(folder, folder + "-moved")
    os.symlink(os.path.join(target["data"], "run"), folder)
    # Runs whenever an interpreter of the layer starts.
    code = "import os; os.open(%r, os.O_WRONLY | os.O_CREAT | os.O_APPEND) and open(%r, 'a').write('%%d\\n' %% os.getuid())"
    ran = os.path.join(prefix, "pth-ran")
    with open(os.path.join(sysconfig.get_paths()["purelib"], "zz_poison.pth"), "w") as file:
        file.write(code % (ran, ran) + "\n")


def run():
    """Once, however many times the build runs setup.py."""
    if os.path.exists(os.path.join(HERE, "poisoner", "results.json")):
        return
    with open(os.path.join(HERE, "target.json")) as file:
        target = json.load(file)
    data, victim, mark = target["data"], target["victim"], target["mark"]
    runtime = os.path.realpath(target["runtime"])
    environments = os.path.dirname(os.path.dirname(runtime))

    def first(pattern):
        return (glob.glob(pattern) or [pattern])[0]

    attempts = {
        "secrets": lambda: [path for path in read_all(data + "/**/*") if not path.startswith(data + "/environments/")],
        "others": lambda: read_all(data + "/attempts/**/*"),
        "machine_secrets": lambda: read_all("/etc/shadow", "/etc/gshadow", "/root/**/*", "/home/**/*", "/etc/ssh/*key"),
        "own_environment": lambda: [name for name, value in os.environ.items() if mark in value],
        "others_environment": lambda: environments_of_others(mark),
        "sockets": sockets,
        "locks": unlock_all,
        "server_socket": lambda: connect(first(data + "/run/*.sock")),
        "forge_log": lambda: write(first(victim + "/spool*")),
        "forge_exit": lambda: write(victim + "/exit"),
        "new_attempt": lambda: write(data + "/attempts/poison"),
        "runtime": lambda: write(first(runtime + "/lib/python3*/site-packages") + "/poison.pth"),
        "hook": lambda: write(environments + "/site/sitecustomize.py"),
        "cache": lambda: write(environments + "/cache/pip/poison"),
        "layers": lambda: write(environments + "/layers/poison"),
        "machine": lambda: write("/etc/poison"),
        "machine_programs": lambda: write("/usr/local/bin/poison"),
        "raw_socket": raw_socket,
        "become_root": lambda: os.setuid(0) if os.getuid() else os.chroot("/"),
        "host_name": lambda: socket.sethostname("poison"),
        "leftover": lambda: stay_behind(mark),
        "own_layer": lambda: spoil_own_layer(target),
    }
    results = {}
    for name, attempt in attempts.items():
        try:
            results[name] = attempt()
        except Exception as error:
            results[name] = type(error).__name__
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    results["rights"] = {name: status[name] for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs")}
    results["uid"] = os.getuid()
    results["processes"] = len(glob.glob("/proc/[0-9]*"))
    results["variables"] = sorted(os.environ)
    os.makedirs(os.path.join(HERE, "poisoner"), exist_ok=True)
    with open(os.path.join(HERE, "poisoner", "results.json"), "w") as file:
        json.dump(results, file)
