"""The program starts where nothing but the system is installed: in a clean Debian root, and by what it asks of glibc elsewhere."""

import os
import pathlib
import shutil
import subprocess

import pytest
import requests

from installed_program import glibc_symbols, libraries, newest_program
from process_output import Output
from trainyard_server import DEADLINE_S, ROOT

# glibc's own: every machine has them.
LIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2",
        "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
SANITIZERS = {"libgcc_s.so.1", "libstdc++.so.6"}  # what the runtime of a sanitized program brings along; a released one may not
GLIBC_OF_UBUNTU_22_04 = (2, 35)  # the oldest of the systems that the README names
CACHE = ROOT / "build/machines"


@pytest.fixture(scope="module")
def program():
    return newest_program()


def is_sanitized(program):
    return b"__asan_init" in program.read_bytes()


def test_every_library_beyond_libc_is_linked_in(program):
    allowed = LIBC | (SANITIZERS if is_sanitized(program) else set())
    assert libraries(program) <= allowed


def test_nothing_newer_is_asked_of_glibc_than_ubuntu_22_04_has(program):
    symbols = glibc_symbols(program)
    assert symbols["__libc_start_main"] <= GLIBC_OF_UBUNTU_22_04, "the table of symbols is read"
    assert not {name: version for name, version in symbols.items() if version > GLIBC_OF_UBUNTU_22_04}


def packed_root(release):
    """A clean Debian as a tar archive, made once: some 40 s."""
    packed = CACHE / f"clean-{release}.tar"
    if not packed.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        part = packed.with_suffix(f".{os.getpid()}")
        subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", "--format=tar", release, part], check=True)
        part.rename(packed)
    return packed


class CleanMachine:
    """A root of its own with the kernel's folders, for programs that see nothing else of this machine."""

    def __init__(self, folder, packed, program):
        self.root = pathlib.Path(folder)
        subprocess.run(["tar", "-C", self.root, "-xpf", packed], check=True)
        shutil.copy2(program, self.root / "usr/local/bin/trainyard")
        self.running = []

    def command(self, *words):
        """In a mount namespace of its own: the mounts go with the program."""
        mounts = " && ".join(f"mount {how} {self.root}/{where}" for how, where in
                             (("-t proc proc", "proc"), ("--rbind /sys", "sys"), ("--rbind /dev", "dev"), ("-t tmpfs tmp", "tmp")))
        start = f'{mounts} && exec chroot {self.root} "$@"'
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", start, "sh", *words]

    def run(self, *words, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": "/root", **variables}
        return subprocess.run(self.command(*words), capture_output=True, text=True, env=environment, timeout=DEADLINE_S)

    def start(self, *words):
        environment = {"PATH": os.environ["PATH"], "HOME": "/root"}
        self.running.append(subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment))
        return self.running[-1]

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()


@pytest.fixture(params=["bookworm", pytest.param("trixie", marks=pytest.mark.long)])
def machine(request, tmp_path, program):
    if os.geteuid() != 0:
        pytest.skip("a root of another Debian needs root")
    if not shutil.which("mmdebstrap"):
        pytest.skip("no mmdebstrap on PATH")
    machine = CleanMachine(tmp_path, packed_root(request.param), program)
    yield machine
    machine.end()


def test_a_clean_debian_runs_it(machine):
    version = machine.run("trainyard", "--version")
    assert version.returncode == 0 and "trainyard" in version.stdout, version

    server = machine.start("trainyard", "serve", "--data", "/var/lib/trainyard", "--listen", "127.0.0.1:0")
    said = Output(server.stdout)
    said.until(b"listening on http://")
    url = "http://" + said.line().strip()

    assert requests.get(url + "/", timeout=60).ok
    jobs = machine.run("trainyard", "jobs", "list", TRAINYARD_SERVER=url, CLOUDSDK_CORE_PROJECT="p")
    assert jobs.returncode == 0 and "Listed 0 items." in jobs.stderr, jobs
    server.terminate()
    assert server.wait(60) == 0, said.rest()
