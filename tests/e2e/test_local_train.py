"""`trainyard local train`: what gcloud's does, compared with gcloud where that is there."""

import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import sys

import pytest

from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM, wait_for

TASK = '''
import json, os, signal, subprocess, sys, time
out = os.environ["OUT"]
config = json.loads(os.environ["TF_CONFIG"])
task = config["task"].get("type", "alone") + "-" + str(config["task"].get("index", 0))
mode = os.environ.get("MODE", "")
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(os.path.join(out, "." + task), "w") as stream:
    json.dump({"tf_config": os.environ["TF_CONFIG"], "argv": sys.argv[1:], "cwd": os.getcwd(), "pid": os.getpid()}, stream)
os.rename(os.path.join(out, "." + task), os.path.join(out, task))
if task.startswith(("chief", "master", "alone")):
    if mode == "daemon":  # double fork with a session of its own
        subprocess.Popen(["sh", "-c", "setsid sleep 1234 & echo $! > %s/daemon" % out]).wait()
    if "wait" in mode:
        time.sleep(600)
    others = int(os.environ.get("OTHERS", "0"))
    while len([name for name in os.listdir(out) if "-" in name[1:] and name[0] != "."]) < others + 1:
        time.sleep(0.05)
    sys.exit(int(os.environ.get("STATUS", "0")))
if "fail" in mode:
    sys.exit(9)
time.sleep(600)  # a parameter server never ends by itself
'''


@pytest.fixture
def package(tmp_path):
    (tmp_path / "root/trainer").mkdir(parents=True)
    (tmp_path / "root/trainer/__init__.py").write_text("")
    (tmp_path / "root/trainer/task.py").write_text(TASK)
    return tmp_path / "root/trainer"


def free_ports(count):
    """The first of so many in a row that were free a moment ago; below the ephemeral ones."""
    for start in range(20000, 32000, 97):
        try:
            for port in range(start, start + count):
                with socket.socket() as taken:
                    taken.bind(("", port))
            return str(start)
        except OSError:
            continue
    raise AssertionError("no ports")


class Run:
    def __init__(self, folder, command, package, *flags, **variables):
        self.out = folder
        self.out.mkdir()
        environment = {**os.environ, "OUT": str(self.out), "CLOUDSDK_ML_ENGINE_LOCAL_PYTHON": sys.executable, **variables}
        self.process = subprocess.Popen([*command, "local", "train", "--module-name", "trainer.task", *flags],
                                        cwd=package, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self):
        self.stdout, self.stderr = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode

    def seen(self):
        return {path.name: json.loads(path.read_text()) for path in self.out.iterdir() if "-" in path.name and path.name[0] != "."}

    def pids(self):
        return [seen["pid"] for seen in self.seen().values()]

    def comparable(self):
        return {name: {key: seen[key] for key in ("tf_config", "argv", "cwd")} for name, seen in self.seen().items()}


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# flags, words behind --, processes beside the primary, variables
CASES = {
    "alone": ([], ["--", "--flag", "b c", "ü", "-x"], 0, {}),
    "job_dir_last": (["--job-dir", "gs://b/o"], ["--", "--a=1"], 0, {}),
    "package_path": (["--package-path", "."], [], 0, {}),
    "status": ([], [], 0, {"STATUS": "3"}),
    "distributed": (["--distributed"], ["--", "1"], 4, {}),
    "counts": (["--distributed", "--worker-count", "3", "--parameter-server-count", "0", "--evaluator-count", "2"], [], 5,
               {"STATUS": "7"}),
    "ignored": (["--worker-count", "1"], [], 0, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_as_gcloud_does(name, package, tmp_path, gcloud):
    flags, user_args, others, variables = CASES[name]
    if others:
        flags = [*flags, "--start-port", free_ports(others + 1)]
    runs = []
    for command in ([PROGRAM], [gcloud, "ai-platform"]):
        runs.append(Run(tmp_path / f"out{len(runs)}", command, package, *flags, *user_args, OTHERS=str(others), **variables))
        runs[-1].finish()
    ours, theirs = runs
    assert ours.process.returncode == theirs.process.returncode == int(variables.get("STATUS", "0")), (ours.stderr, theirs.stderr)
    assert len(ours.seen()) == others + 1
    assert ours.comparable() == theirs.comparable()
    assert ("is ignored if --distributed" in ours.stderr) == ("is ignored if --distributed" in theirs.stderr) == (name == "ignored")
    assert not [pid for pid in ours.pids() if alive(pid)]


def test_tensorflow_1_has_a_master(package, tmp_path):
    fake = tmp_path / "fake/tensorflow"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("class version:\n    VERSION = '1.15.2'\n")
    run = Run(tmp_path / "out", [PROGRAM], package, "--distributed", "--worker-count", "1", "--parameter-server-count", "0",
              "--start-port", free_ports(2), OTHERS="1", PYTHONPATH=str(tmp_path / "fake"))
    assert run.finish() == 0, run.stderr
    assert set(run.seen()) == {"master-0", "worker-0"} and "Cannot import" not in run.stderr


def test_needs_a_module(package):
    done = subprocess.run([PROGRAM, "local", "train"], cwd=package, capture_output=True, text=True)
    assert done.returncode == 2 and "argument --module-name: Must be specified." in done.stderr


def test_a_taken_port_is_named(package, tmp_path):
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = Run(tmp_path / "out", [PROGRAM], package, "--distributed", "--start-port", str(port))
        assert run.finish() == 1
    assert f"Port {port} is taken" in run.stderr and "--start-port" in run.stderr and not run.seen()


def test_a_python_that_is_not_there_is_named(package, tmp_path):
    run = Run(tmp_path / "out", [PROGRAM], package, CLOUDSDK_ML_ENGINE_LOCAL_PYTHON="/nonexistent/python")
    assert run.finish() == 1 and "/nonexistent/python" in run.stderr


def test_what_failed_beside_the_primary_is_said(package, tmp_path):
    run = Run(tmp_path / "out", [PROGRAM], package, "--distributed", "--worker-count", "1", "--parameter-server-count", "0",
              "--start-port", free_ports(2), OTHERS="1", MODE="fail wait")
    wait_for(lambda: len(run.seen()) == 2 or None, lambda: "no two processes")
    wait_for(lambda: None if alive(run.seen()["worker-0"]["pid"]) else True, lambda: "the worker lives")
    run.process.terminate()
    run.finish()
    assert "worker 0 ended with status 9" in run.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_leaves_nothing_behind(number, package, tmp_path):
    run = Run(tmp_path / "out", [PROGRAM], package, "--distributed", "--start-port", free_ports(5), OTHERS="4", MODE="wait")
    wait_for(lambda: len(run.seen()) == 5 or None, lambda: f"{run.seen()}")
    pids = run.pids()
    run.process.send_signal(number)
    run.finish()
    assert run.process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_for(lambda: None if [pid for pid in pids if alive(pid)] else True, lambda: f"{pids} live")


def test_ctrl_c_on_a_terminal(package, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    variables = {**os.environ, "OUT": str(out), "MODE": "wait", "CLOUDSDK_ML_ENGINE_LOCAL_PYTHON": sys.executable}
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests in the background ignores it, and all below
        os.chdir(package)
        os.execve(PROGRAM, [PROGRAM, "local", "train", "--module-name", "trainer.task"], variables)
    wait_for(lambda: (out / "alone-0").exists() or None, lambda: "it did not start")
    primary = json.loads((out / "alone-0").read_text())["pid"]
    os.write(terminal, b"\x03")
    said = Output(terminal).rest()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGINT
    assert said.count(b"KeyboardInterrupt") == 1 and not alive(primary), said


def test_a_daemon_and_a_stubborn_worker_end_too(package, tmp_path):
    run = Run(tmp_path / "out", [PROGRAM], package, MODE="daemon")
    assert run.finish() == 0
    assert not alive(int((run.out / "daemon").read_text()))
    run = Run(tmp_path / "out2", [PROGRAM], package, "--distributed", "--worker-count", "1", "--parameter-server-count", "0",
              "--start-port", free_ports(2), OTHERS="1", MODE="stubborn")
    assert run.finish() == 0
    assert not [pid for pid in run.pids() if alive(pid)]
