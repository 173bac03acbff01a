"""What says that an attempt lives is out of its program's reach, and a supervisor that the machine ends costs no restart."""

import os
import pathlib
import signal
import subprocess

import pytest

from container_engines import oci
from trainyard_server import kill, processes_with, wait_for

# Lets go of every lock that it can reach, itself and in a child; counts its starts by objects in a bucket.
TRAINER = '''
import fcntl, os, sys, time, urllib.request

def let_go():
    for number in range(3, 1024):
        try:
            fcntl.flock(number, fcntl.LOCK_UN)
        except OSError:
            pass

def main(mark):
    url = f"{os.environ['STORAGE_EMULATOR_HOST']}/upload/storage/v1/b/starts/o?uploadType=media&name={mark}/{time.time_ns()}"
    urllib.request.urlopen(urllib.request.Request(url, b"started", method="POST"), timeout=60).read()
    let_go()
    if os.fork() == 0:
        let_go()
        os._exit(0)
    os.wait()
    print("let go", flush=True)
    tick = 0
    while True:
        print(f"tick {tick}", flush=True)
        tick += 1
        time.sleep(0.05)

if __name__ == "__main__":
    main(sys.argv[1])
'''
OURS = {"trainyard-repl", "trainyard-init", "trainyard-relay"}
NOT_COUNTED = ("The replica master 0 was stopped by its machine (shutdown, service stop or logout) and starts again. "
               "This does not count as a restart.")


@pytest.fixture(scope="session")
def trainer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("holder")
    (folder / "holder").mkdir()
    (folder / "holder/__init__.py").touch()
    (folder / "holder/task.py").write_text(TRAINER)
    (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='holder', version='1', packages=['holder'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
    return next((folder / "dist").glob("*.tar.gz")).read_bytes()


class Job:
    """A job of the trainer; `mark` is a word of its program's command line that no other has."""

    def __init__(self, server, mark):
        self.server, self.mark = server, mark

    def submit_package(self, trainer, runs=1):
        uri = self.server.upload("packages", "holder.tar.gz", trainer)
        self.server.upload("starts", "seed", b"")
        self.server.submit(self.mark, packageUris=[uri], pythonModule="holder.task", args=[self.mark])
        self.await_runs(runs)

    def submit_image(self, image):
        self.server.upload("starts", "seed", b"")
        self.server.submit(self.mark, masterConfig={"imageUri": image, "containerArgs": [self.mark]})
        self.await_runs(1)

    def await_runs(self, count):
        wait_for(lambda: self.texts().count("let go") >= count or None, lambda: f"{self.texts()[-30:]} {self.server.stderr()[-3000:]}")

    def texts(self):
        return self.server.texts(self.mark, "master-replica-0")

    def starts(self):
        listed = self.server.request("GET", "/storage/v1/b/starts/o", params={"prefix": f"{self.mark}/"}).json()
        return len(listed.get("items", []))

    def programs(self):
        """Processes of the trainer itself, as the machine sees them."""
        return {pid for pid, command in processes_with(f" {self.mark} ") if "python" in command.split()[0] and "trainyard" not in command}

    def supervisor(self):
        found = [pid for pid, _ in processes_with(f"{self.server.data}/attempts/") if comm(pid) == "trainyard-repl"]
        assert len(found) == 1, found
        return found[0]

    def await_another_tick(self):
        last = len([text for text in self.texts() if text.startswith("tick ")])
        wait_for(lambda: len([text for text in self.texts() if text.startswith("tick ")]) > last + 5 or None,
                 lambda: f"no further tick: {self.texts()[-10:]} {self.server.stderr()[-3000:]}")

    def restarts(self):
        status = self.server.request("GET", f"/trainyard/v1/projects/p/jobs/{self.mark}").json()
        return status["replicas"][0].get("restarts", 0), status.get("retries", 0)

    def end(self):
        self.server.cancel(self.mark)
        assert self.server.wait(self.mark)["state"] == "CANCELLED"
        wait_for(lambda: True if not self.programs() else None, lambda: f"they outlive the cancel: {self.programs()}")


def comm(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def lock_holders(server):
    """Names of all processes that have the lock of an attempt open."""
    locks = {(lock.stat().st_dev, lock.stat().st_ino) for lock in pathlib.Path(server.data, "attempts").glob("*/lock")}
    assert locks
    holders = []
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            files = [descriptor.stat() for descriptor in (process / "fd").iterdir()]
        except OSError:  # it has just ended, or another user's
            continue
        if any((file.st_dev, file.st_ino) in locks for file in files):
            holders.append(comm(process.name))
    return set(holders)


def start_package(make_server, request):
    job = Job(make_server(), "proof_package")
    job.submit_package(request.getfixturevalue("trainer"))
    return job


def start_isolated(make_server, request):
    if os.geteuid() != 0:
        pytest.skip("isolated networks need root")
    job = Job(make_server("--network", "isolated"), "proof_isolated")
    job.submit_package(request.getfixturevalue("trainer"))
    return job


def start_container(make_server, request):
    images, registry = request.getfixturevalue("images"), request.getfixturevalue("registry")
    if "proof" not in images.made:
        images.derive("python", "proof", files={"/app/main.py": TRAINER}, entrypoint=["python3", "/app/main.py"], cmd=None)
    job = Job(make_server(*oci().flags), "proof_container")
    job.submit_image(registry.push(images["proof"]))
    return job


@pytest.mark.parametrize("start", [start_package, start_isolated, start_container], ids=["package", "isolated", "container"])
def test_a_program_that_lets_go_of_every_lock_runs_once(start, make_server, request):
    job = start(make_server, request)
    server = job.server
    assert lock_holders(server) <= OURS
    supervisor, programs = job.supervisor(), job.programs()
    assert len(programs) == 1, programs
    for _ in range(2):
        server.kill()
        server.start()
        job.await_another_tick()
        assert job.supervisor() == supervisor and job.programs() == programs
    assert server.get(job.mark)["state"] == "RUNNING"
    assert job.starts() == 1
    job.end()
    assert job.starts() == 1
    assert job.texts().count("let go") == 1


def test_a_supervisor_and_its_init_killed_at_once_leave_nothing_beside_the_next_attempt(server, trainer):
    job = Job(server, "proof_killed")
    job.submit_package(trainer)
    supervisor, programs = job.supervisor(), job.programs()
    inits = [pid for pid, _ in processes_with(f"{server.data}/attempts/") if comm(pid) == "trainyard-init"]
    assert len(inits) == 1 and len(programs) == 1
    os.kill(supervisor, signal.SIGSTOP)  # neither sees the other's end
    kill(inits[0])
    kill(supervisor)
    job.await_runs(2)
    assert len(job.programs()) == 1 and not job.programs() & programs
    assert job.restarts() == (1, 0)
    job.end()
    assert job.starts() == 2


def test_a_supervisor_that_the_machine_ends_costs_no_restart(server, trainer):
    job = Job(server, "proof_ended")
    job.submit_package(trainer)
    for round_number in range(6):  # a job has five restarts
        supervisor = job.supervisor()
        os.kill(supervisor, signal.SIGTERM)
        job.await_runs(round_number + 2)
        assert job.restarts() == (0, 0)
    service = server.texts(job.mark, "service")
    assert service.count(NOT_COUNTED) == 6, service
    assert server.get(job.mark)["state"] == "RUNNING"
    assert job.starts() == 7 and len(job.programs()) == 1
    job.end()


def test_the_next_server_starts_what_the_machine_has_ended(server, trainer):
    job = Job(server, "proof_shutdown")
    job.submit_package(trainer)
    supervisor = job.supervisor()
    server.kill()
    os.kill(supervisor, signal.SIGTERM)
    wait_for(lambda: comm(supervisor) != "trainyard-repl" or None, lambda: "the supervisor does not end")
    assert not job.programs()
    server.start()
    job.await_runs(2)
    assert server.texts(job.mark, "service").count(NOT_COUNTED) == 1
    assert job.restarts() == (0, 0) and job.starts() == 2
    job.end()
