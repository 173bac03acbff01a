"""Programs that start in a warm interpreter: nothing that they can observe is different, and nothing goes from one to the next."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from test_ordinary_user import make_user_server  # fixture  # noqa: F401
from trainyard_server import Server, end_supervisors, processes_with, wait_for

WARM = "Starting in a warm interpreter ("
SECRET = "hunter2-of-one-job"

# What a program can find out about its start. One line of JSON, then its end: an exception.
PROBE = r'''
import atexit, faulthandler, gc, glob, hashlib, json, locale, logging, multiprocessing, os, random, resource, signal, socket
import site, stat, subprocess, sys, sysconfig, tempfile, threading, time, traceback, warnings

def text(path):
    with open(path) as file:
        return file.read()

def status(*names):
    lines = dict(line.split(":", 1) for line in text("/proc/self/status").splitlines())
    return {name: lines[name].strip() for name in names if name in lines}

def descriptors():
    found = {}
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            kind = stat.S_IFMT(os.stat("/proc/self/fd/" + name).st_mode)
            found[name] = [kind, os.get_inheritable(int(name)), os.get_blocking(int(name))]
        except OSError:
            pass  # the listing's own
    return found

def stack():
    frames, frame = [], sys._getframe()
    while frame:
        frames.append([frame.f_code.co_filename, frame.f_code.co_name])
        frame = frame.f_back
    return frames

def stream(file):
    return [file.name, file.mode, file.encoding, file.errors, file.line_buffering, file.write_through, file.isatty(),
            type(file.buffer).__name__, file.newlines]

def child(queue):
    queue.put([os.getppid() > 1, sys.executable, multiprocessing.current_process().name])

def forked():
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    return os.waitpid(pid, 0)[1]

def spawned(way):
    context = multiprocessing.get_context(way)
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    process.join()
    return [process.exitcode, queue.get()]

def main():
    here = sys.modules["__main__"]
    own = {key: repr(value).partition(" object at")[0] for key, value in vars(here).items() if key.startswith("__") and key != "__builtins__"}
    return {
        "argv": sys.argv, "orig_argv": getattr(sys, "orig_argv", None), "cmdline": text("/proc/self/cmdline"), "comm": text("/proc/self/comm"),
        "exe": os.readlink("/proc/self/exe"), "environ": sorted(os.environ), "order": list(os.environ),
        "proc_environ": text("/proc/self/environ").split("\0") == [k + "=" + v for k, v in os.environ.items()] + [""],
        "child_environ": subprocess.run(["env"], capture_output=True, text=True).stdout.count("\n"),
        "cwd": os.path.relpath(os.getcwd(), os.environ["HOME"]), "umask": os.umask(0o022), "files": sorted(os.listdir(".")),
        "handlers": {n: repr(signal.getsignal(n)) for n in range(1, 65) if n not in (32, 33)},
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "limits": [resource.getrlimit(n) for n in range(16)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0), "oom": text("/proc/self/oom_score_adj"), "timer": signal.getitimer(signal.ITIMER_REAL),
        "threads": [threading.active_count(), len(os.listdir("/proc/self/task")), threading.main_thread().ident == threading.get_ident(),
                    threading.main_thread().native_id == os.getpid()],
        "descriptors": descriptors(), "pid": os.getpid(), "parent": os.getppid(), "group": [os.getpgid(0), os.getsid(0)],
        "flags": repr(sys.flags), "options": [sys.warnoptions, sys._xoptions], "main": own, "stack": stack(),
        "path": [p.replace(os.getcwd(), "CWD") for p in sys.path],
        "prefix": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.executable, sys._base_executable],
        "site": [site.PREFIXES, site.ENABLE_USER_SITE, sysconfig.get_paths()],
        "meta_path": [type(f).__name__ if not isinstance(f, type) else f.__name__ for f in sys.meta_path],
        "start_methods": [multiprocessing.get_all_start_methods(), multiprocessing.get_start_method(True)],
        "spawned": spawned("spawn"), "forked_process": spawned("fork"),
        "fork": forked(), "faulthandler": faulthandler.is_enabled(),
        "excepthook": [sys.excepthook.__qualname__, sys.displayhook.__name__, threading.excepthook.__name__],
        "locale": [locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), sys.getfilesystemencoding()],
        "zone": [time.tzname, time.timezone],
        "streams": [stream(sys.stdin), stream(sys.stdout), stream(sys.stderr)],
        "logging": [logging.root.level, [type(h).__name__ for h in logging.root.handlers], logging.getLoggerClass().__name__],
        "gpu": {k: v for k, v in os.environ.items() if "VISIBLE" in k or k.startswith("CUDA")},
        "cgroup": [line.split(":")[1] for line in text("/proc/self/cgroup").splitlines()],
        "ids": [os.getresuid(), os.getresgid(), sorted(os.getgroups())], "host": [socket.gethostname() != "", os.uname().sysname],
        "status": status("Umask", "State", "Uid", "Gid", "Groups", "NStgid", "NSpid", "NSpgid", "NSsid", "SigBlk", "SigCgt", "CapInh",
                         "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters",
                         "Speculation_Store_Bypass", "Cpus_allowed_list"),
        "namespaces": sorted(os.listdir("/proc/self/ns")),
        "mounts": len(text("/proc/self/mountinfo").splitlines()), "dumpable": os.stat("/proc/self").st_uid == os.getuid(),
        "temporary": tempfile.gettempdir(), "home": os.path.expanduser("~") == os.environ["HOME"],
        "recursion": sys.getrecursionlimit(), "switch": sys.getswitchinterval(),
        "warnings": [f[0] for f in warnings.filters], "gc": [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()],
        "trace": [sys.gettrace(), sys.getprofile()], "our_modules": [name for name in sys.modules if name.startswith("trainyard")],
        "authkey": len(multiprocessing.current_process().authkey), "processes": sorted(p for p in os.listdir("/proc") if p.isdigit())[:2],
        "sched": [os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))],
    }

if __name__ == "__main__":
    found = main()
    own = [random.random(), os.urandom(4).hex(), multiprocessing.current_process().authkey.hex()]
    with open("/proc/self/mem", "rb") as memory:
        if os.environ.get("LOOK_FOR"):
            wanted = os.environ["LOOK_FOR"][::-1].encode()
            hits = 0
            for line in open("/proc/self/maps"):
                first, _, rest = line.partition("-")
                if "rw" in rest:
                    try:
                        memory.seek(int(first, 16))
                        hits += memory.read(int(rest.split()[0], 16) - int(first, 16)).count(wanted)
                    except (OSError, ValueError, OverflowError):
                        pass
            own.append(hits)
    print("FOUND " + json.dumps(found, default=repr), flush=True)
    print("OWN " + json.dumps(own), flush=True)
    atexit.register(print, "at the end", flush=True)
    logging.info("logged")
    {}["missing"]
'''


def run(server, job_id, *flags, folder):
    """`trainyard run` of the probe; its log without times."""
    (folder / "probe.py").write_text(PROBE)
    done = server.trainyard("run", "--name", job_id, *flags, "probe.py", "--", "one", "two words", "\u00e9", cwd=folder)
    job = server.wait(job_id)
    texts = server.texts(job_id)
    assert done.returncode != 0 and job["state"] == "FAILED", (done, texts)
    return texts


def line(texts, name):
    """What the probe printed, without the names that each job has of its own."""
    text = next((text[len(name) + 1:] for text in texts if text.startswith(name + " ")), "null")
    return json.loads(without_names(text))


def without_names(text):
    return re.sub(r"layers/[0-9a-f]{64}|attempts/[^/]*", "*", text)


def is_warm(texts):
    return any(text.startswith(WARM) for text in texts)


def mother_of(server):
    """The process that waits; None if there is none."""
    for pid, _ in processes_with("-m trainyard_warm"):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(str(server.data)):
                return pid
        except OSError:
            pass  # it has just ended
    return None


def wait_for_mother(server):
    """Waits until programs can start in one."""
    wait_for(lambda: next((server.data / "run/warm").glob("*.mother"), None), lambda: f"no mother: {server.stderr()[-3000:]}")
    return mother_of(server)


def memory_of(pid):
    """Everything that the process could write, and what of its files says something."""
    content = b""
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if "rw" in line and first < 1 << 63:
                memory.seek(first)
                content += memory.read(last - first)
    return content


def run_both_ways(server, folder):
    """Learns from a first program; then compares a warm start with a fresh one. Returns the mother and what both have of their own."""
    first = run(server, "first", "--env", "TOKEN=" + SECRET, folder=folder)
    assert not is_warm(first)
    mother = wait_for_mother(server)
    warm = run(server, "warm", "--env", "TRAINYARD_WARM=1", "--env", "LOOK_FOR=" + SECRET[::-1], folder=folder)
    assert is_warm(warm), (warm, server.stderr())
    fresh = run(server, "fresh", "--env", "TRAINYARD_WARM=0", "--env", "LOOK_FOR=" + SECRET[::-1], folder=folder)
    assert not is_warm(fresh)
    found = line(fresh, "FOUND")
    different = {key: (found[key], value) for key, value in line(warm, "FOUND").items() if found[key] != value}
    assert not different, "\n".join(f"{key}: fresh {values[0]}\n  warm {values[1]}" for key, values in different.items())
    # Its last lines: what it logs, its traceback and what runs at its end.
    ends = [[without_names(text) for text in texts if text.startswith("Traceback") or text in ("logged", "at the end")] for texts in (fresh, warm)]
    assert sorted(ends[0]) == sorted(ends[1]) and len(ends[0]) == 3 and "KeyError: 'missing'" in max(ends[0], key=len), ends
    return mother, line(warm, "OWN"), line(fresh, "OWN")


def test_what_a_program_can_observe_is_the_same(make_server, tmp_path):
    server = make_server("--warm-interpreters", "1GiB")
    mother, warm, fresh = run_both_ways(server, tmp_path)

    # Nothing of a job is in the mother, nor in the next job.
    again = run(server, "again", "--env", "LOOK_FOR=" + SECRET[::-1], folder=tmp_path)
    assert is_warm(again)
    again = line(again, "OWN")
    assert all(ours != others for ours, others in zip(warm[:3], again[:3])), "random numbers and keys are a program's own"
    assert warm[3] == fresh[3] == again[3] == 1, "its own copy"
    assert mother_of(server) == mother, "the same one"
    memory = memory_of(mother)
    for text in (SECRET, "two words", "/attempts/", "CLOUD_ML_JOB_ID"):
        assert text.encode() not in memory, text
    for name in ("environ", "cmdline"):
        assert "attempts" not in pathlib.Path(f"/proc/{mother}/{name}").read_text()
    shown = lambda: server.trainyard("runtimes", "list").stdout  # noqa: E731
    wait_for(lambda: True if re.search(r", warm: .* for 2 programs", shown()) else None, shown)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be both, and have such jobs")
@pytest.mark.parametrize("flags", [["--network", "isolated"], ["--job-users", "1900000000-1999999999"]], ids=["isolated", "job_users"])
def test_it_is_the_same_in_other_sandboxes(shared_folder, environments, tmp_path, flags):
    server = Server(shared_folder / "data", "--warm-interpreters", "1GiB", *flags, environments=environments)
    try:
        run_both_ways(server, tmp_path)
    finally:
        server.stop()
        end_supervisors(server.data)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becoming another user needs root and setpriv")
def test_it_is_the_same_for_an_ordinary_user(make_user_server, environments, tmp_path):  # noqa: F811
    run_both_ways(make_user_server("--warm-interpreters", "1GiB", environments=environments), tmp_path)


def test_a_mother_that_is_killed_and_a_server_that_is(make_server, tmp_path):
    server = make_server("--warm-interpreters", "1GiB")
    run(server, "first", folder=tmp_path)
    mother = wait_for_mother(server)
    os.kill(mother, signal.SIGSTOP)  # it takes the connection, and never answers: its program starts fresh, once
    os.kill(mother, signal.SIGKILL)
    assert line(run(server, "second", folder=tmp_path), "FOUND")
    wait_for(lambda: True if mother_of(server) not in (None, mother) else None, server.stderr)
    wait_for_mother(server)
    assert is_warm(run(server, "third", folder=tmp_path))
    server.kill()
    wait_for(lambda: True if mother_of(server) is None else None, lambda: "a mother outlives its server")
    server.start()
    assert not is_warm(run(server, "fourth", folder=tmp_path))


def test_a_file_of_the_job_comes_before_an_imported_module(make_server, tmp_path):
    server = make_server("--warm-interpreters", "1GiB")
    run(server, "first", folder=tmp_path)
    wait_for_mother(server)
    own = tmp_path / "own"
    (own / "vendor").mkdir(parents=True)
    (own / "vendor/tempfile.py").write_text("IS_OWN = 'the job has its own'\n")  # the probe imports Python's
    (own / "train.py").write_text("import sys\nsys.path.insert(0, 'vendor')\nimport tempfile\nprint(tempfile.IS_OWN)\n")
    server.trainyard("run", "--name", "second", "train.py", cwd=own)
    texts = server.texts("second")
    assert server.wait("second")["state"] == "SUCCEEDED" and "the job has its own" in texts, texts
    assert not is_warm(texts)


def test_what_a_module_keeps_below_the_home_follows_the_home():
    """The mother's home is below her working directory, which a job's is not."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "src/programs/interpreters"
    code = f"""
import pathlib, sys, types
sys.path.insert(0, {str(folder)!r})
sys.dont_write_bytecode = True
import trainyard_warm
module = sys.modules["module"] = types.ModuleType("module")
module.CACHE, module.BYTES, module.HERE, module.PATH = "/own/home/.cache", b"/own/home", "/own", pathlib.Path("/own/home/x")
print([place[1::2] for place in trainyard_warm._places(("/own/home", "/own", "/bin/python")) if place[0] is module])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[('CACHE', '/own/home'), ('BYTES', '/own/home'), ('HERE', '/own'), ('PATH', '/own/home')]\n", done
