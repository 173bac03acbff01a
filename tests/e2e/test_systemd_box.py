"""Under a real systemd: the server as root's service, with and without Delegate, and in a scope; limits by this machine's own controllers.

The box (tools/systemd-box.sh) is a clean Debian whose PID 1 is systemd; what a server and its jobs do there is the same as on a machine."""

import os
import re
import shutil

import pytest

from installed_program import newest_program
from stock_machine import CACHE, MACHINE_CPUS, MACHINE_MEMORY, ROOT_DELEGATED, ROOT_SCOPE, ROOT_SERVICE, Machine, StockServer, in_memory

UNITS = [ROOT_SERVICE, ROOT_DELEGATED]
PIDS_MAX = 16_384  # of a replica


of_units = pytest.mark.parametrize("server", UNITS, indirect=True, ids=lambda place: place.name)


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("a systemd of one's own needs root")
    if not shutil.which("mmdebstrap"):
        pytest.skip("no mmdebstrap on PATH")
    folder = tmp_path_factory.mktemp("box")
    with in_memory(folder / "machine") as place:
        machine = Machine("systemd-box.sh", place)
        CACHE.mkdir(parents=True, exist_ok=True)
        machine.manage("start", "--cache", str(CACHE), "--include", "python3-venv,curl", "--cgroup", "hybrid")
        try:
            machine.install(newest_program(), folder)
            yield machine
        finally:
            machine.manage("stop", "--hard", check=False)


@pytest.fixture(scope="module", params=[*UNITS, ROOT_SCOPE], ids=lambda place: place.name)
def server(request, box):
    """One for all tests of a place: the machine has room for one of them at a time."""
    server = StockServer(box, request.param, "--capacity", "strict", "--stop-grace", "1", "--restart-pause", "0")
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def room_for_the_next(server):
    yield
    server.end_jobs()


def groups_of(box, pid):
    """Controller -> folder of the process's group, where each controller has a hierarchy of its own."""
    lines = box.shell(f"cat /proc/{pid}/cgroup").splitlines()
    return {name: f"/sys/fs/cgroup/{name}{path}" for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}


@pytest.mark.long  # it takes all of its 13 GiB
def test_a_job_that_takes_too_much_memory_is_ended_with_its_child_and_told_so(server):
    server.submit("hog", "hog", "child-of-hog")
    job = server.wait_for_end("hog")
    assert job["state"] == "FAILED" and "Diagnosis: out_of_memory. " in job["errorMessage"], job
    assert "13.0 GiB" in job["errorMessage"], "the limit is named"
    assert not server.processes("child-of-hog")


def test_a_job_that_starts_too_many_processes_is_held_and_told_so(server):
    server.submit("multiply", "multiply")
    job = server.wait_for_end("multiply")
    started = int(server.wait_for_line("multiply", "STARTED ").split()[-1])
    assert PIDS_MAX - 100 < started < PIDS_MAX
    assert job["state"] == "FAILED" and re.search("Diagnosis: (too_many_processes|process_limit)[.] ", job["errorMessage"]), job


def test_a_job_has_the_memory_and_the_cpus_of_its_machine_type(server, box):
    """This machine may have no more of them than that: then using them all shows nothing, and what the kernel was told is looked at."""
    server.submit("idle", "wait")
    server.wait_for_line("idle", "it waits")
    [pid] = server.processes("stock.task wait")
    groups = groups_of(box, pid)
    assert int(box.shell(f"cat {groups['memory']}/memory.limit_in_bytes")) == MACHINE_MEMORY
    group = groups["cpu"]
    quota, period = (int(box.shell(f"cat {group}/cpu.cfs_{what}_us")) for what in ("quota", "period"))
    assert quota / period == MACHINE_CPUS


def numbers(lines):
    return [int(number) for line in lines for number in re.findall(r"\ttick (\d{6})$", line)]


@of_units
def test_a_job_goes_on_while_its_server_is_restarted(server):
    server.submit("goes_on", "tick", 200)
    server.wait_for_line("goes_on", "tick 000010")
    server.restart()
    assert server.wait_for_end("goes_on")["state"] == "SUCCEEDED"
    assert numbers(server.lines("goes_on")) == list(range(200))


@of_units
def test_a_job_whose_supervisor_systemd_ends_begins_anew_and_none_of_its_restarts_is_used(server):
    server.submit("begun_anew", "wait")
    for times in (1, 2):
        server.wait_for_lines("begun_anew", "it waits", times)
        server.end_all()
        server.start()
    server.wait_for_lines("begun_anew", "it waits", 3)
    counted = [line for line in server.lines("begun_anew") if re.search(r"\(\d of \d\)", line)]
    assert server.get("begun_anew")["state"] == "RUNNING" and not counted
