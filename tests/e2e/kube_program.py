#!/usr/bin/env python3
"""Builds the Kubernetes of the tests: etcd, API server, controllers and scheduler as one program. `kube_program.py` builds it once and prints its
path. `--version 1.37.2` means the one that places gangs itself.

Its sources are Go modules. A build needs about ten minutes of CPU on a machine that has none of them, so ./dev test begins it in the
background, and the program is kept. It uses nothing but Python's own library: ./dev starts it before it installs anything.

It ends with 3 where there is no Go, or where the sources cannot be fetched, and with 1 if they do not compile.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

VERSION = "1.34.4"
GANGS_VERSION = "1.37.2"  # serves PodGroups
SOURCE = pathlib.Path(__file__).resolve().parent / "kube/main.go"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kube-cluster"
LOCK = CACHE / "lock"  # held while one is built
WAIT_S = 1200
GO_PATH = os.environ.get("PATH", "") + ":/usr/local/go/bin"
NO_SOURCES = 3  # the exit status
VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def find_go():
    """The path of Go's command, or None."""
    return shutil.which("go", path=GO_PATH)


def path_of(version=VERSION):
    return CACHE / ("kube" if version == VERSION else f"kube-{version}")


def is_built(version=VERSION):
    return os.access(path_of(version), os.X_OK)


def is_being_built():
    """Whether a process builds it, and is worth waiting for: it has not begun more than WAIT_S ago."""
    try:
        with open(LOCK, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return time.time() < LOCK.stat().st_mtime + WAIT_S
    return False


def build(version=VERSION):
    """Builds the program if it is not there; a second caller waits for the first one."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(LOCK, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_built(version):
            return
        os.utime(LOCK)
        go = find_go()
        if not go:
            raise LookupError("no go on PATH")
        module = CACHE / f"source-{version}"
        module.mkdir(exist_ok=True)
        try:
            fetch(go, module, version)
        except subprocess.CalledProcessError as error:
            raise LookupError("the sources of Kubernetes cannot be fetched") from error
        made = module / "kube"
        run(go, "build", "-mod=mod", "-buildvcs=false", "-trimpath", "-ldflags", link_flags(version), "-o", made, ".", cwd=module)
        made.rename(path_of(version))


def fetch(go, module, version):
    """Makes the module, and fetches all that it needs."""
    shutil.copy(SOURCE, module / "main.go")
    (module / "go.mod").write_text("module kube\n")  # `go mod download` needs one
    (module / "go.mod").write_text(module_text(go, module, version))
    run(go, "list", "-mod=mod", "-deps", ".", cwd=module)


def run(go, *words, cwd):
    """What the command prints. It ends with us."""
    environment = {**os.environ, "CGO_ENABLED": "0"}
    return subprocess.run(["setpriv", "--pdeathsig", "TERM", go, *map(str, words)], cwd=cwd, env=environment, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def module_text(go, module, version):
    """go.mod. Kubernetes has parts of itself in its own folder (staging); as modules these have versions of their own: v0.34.4 for v1.34.4."""
    staging = "v0." + version.removeprefix("1.")
    downloaded = json.loads(run(go, "mod", "download", "-json", f"k8s.io/kubernetes@v{version}", cwd=module))
    theirs = json.loads(run(go, "mod", "edit", "-json", downloaded["GoMod"], cwd=module))
    needs = {need["Path"]: need["Version"] for need in theirs["Require"]}
    lines = ["module kube", f"go {theirs['Go']}"]
    # `go mod edit` leaves these out.
    lines += [line for line in pathlib.Path(downloaded["GoMod"]).read_text().splitlines() if line.startswith("godebug ")]
    for path in ("github.com/spf13/cobra", "go.etcd.io/etcd/server/v3"):
        lines.append(f"require {path} {needs[path]}")
    lines += [f"require k8s.io/component-base {staging}", f"require k8s.io/kubernetes v{version}"]
    for replaced in theirs["Replace"]:
        if replaced["New"]["Path"].startswith("./staging/"):
            path = replaced["Old"]["Path"]
            lines.append(f"replace {path} => {path} {staging}")
    return "\n".join(lines) + "\n"


def link_flags(version):
    """Without symbols. The API server refuses to start without a version that it understands."""
    major, minor, _ = version.split(".")
    flags = ["-s", "-w"]
    for package in VERSION_PACKAGES:
        said = {"gitVersion": "v" + version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z"}
        flags += [f"-X {package}.{name}={value}" for name, value in said.items()]
    return " ".join(flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default=VERSION)
    options = parser.parse_args()
    with contextlib.suppress(OSError):
        os.nice(19)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # all else comes first
    try:
        build(options.version)
    except LookupError as error:
        print(f"kube_program.py: {error}", file=sys.stderr)
        return NO_SOURCES
    except subprocess.CalledProcessError:  # the compiler has said why
        return 1
    print(path_of(options.version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
