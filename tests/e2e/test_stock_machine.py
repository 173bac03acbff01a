"""On a stock Debian in a virtual machine (tools/debian-vm.sh), in each place where people start a server: limits that hold and are named,
a killed server, Google's names, logout and reboot. Run by ./dev test --long; emulated, an hour.

What was seen is printed as a table, and written to build/machines/stock-RELEASE.md. TRAINYARD_STOCK_RELEASE=trixie takes Debian 13;
TRAINYARD_STOCK_MACHINE=FOLDER takes a machine that runs there, and leaves it running."""

import os
import re
import shutil
import time

import pytest

from installed_program import newest_program
from stock_machine import CACHE, MACHINE_CPUS, ROOT_DELEGATED, ROOT_SERVICE, ROOT_SHELL, USER_SHELL, USER_UNIT, Machine, StockServer

pytestmark = pytest.mark.long
RELEASE = os.environ.get("TRAINYARD_STOCK_RELEASE", "bookworm")
PLACES = [ROOT_SHELL, ROOT_SERVICE, ROOT_DELEGATED, USER_SHELL, USER_UNIT]
SPINNERS = 4
PIDS_MAX = 16_384  # of a replica
STOP_DELAY = 10  # s, logind's UserStopDelaySec
SLOWNESS = 20  # emulated, on a machine that others use
INCLUDE = "python3-venv,curl,passt,slirp4netns,crun,uidmap"
# A job of the smallest machine type fits, and there are more CPUs than it has. What the host gives is what the machine touches.
SIZE = ["--memory", "15360", "--cpus", str(SPINNERS)]

in_each_place = pytest.mark.usefixtures("room_for_the_next")
of_users = pytest.mark.parametrize("server", [USER_SHELL, USER_UNIT], indirect=True, ids=lambda place: place.name)


@pytest.fixture(scope="module")
def seen(request):
    """place -> check -> what was seen: the table of the end."""
    figures = {}
    yield lambda place, check, figure: figures.setdefault(place.name, {}).update({check: figure})
    checks = list(dict.fromkeys(check for row in figures.values() for check in row))
    table = [["place", *checks], ["---"] * (len(checks) + 1)] + [[place, *(row.get(check, "") for check in checks)] for place, row in figures.items()]
    text = "".join(f"| {' | '.join(row)} |\n" for row in table)
    (CACHE / f"stock-{RELEASE}.md").write_text(text)
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nDebian {RELEASE}, {newest_program()}\n{text}")


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if not shutil.which("qemu-system-x86_64") or not shutil.which("mmdebstrap"):
        pytest.skip("no qemu-system-x86_64 or no mmdebstrap on PATH")
    scratch = tmp_path_factory.mktemp("stock")
    CACHE.mkdir(parents=True, exist_ok=True)
    running = os.environ.get("TRAINYARD_STOCK_MACHINE")
    machine = Machine("debian-vm.sh", running or scratch / "vm", SLOWNESS)
    if not running:
        machine.manage("start", "--release", RELEASE, "--cache", str(CACHE), "--include", INCLUDE, "--wait", "900", *SIZE)
    try:
        machine.install(newest_program(), scratch)
        yield machine
    finally:
        if not running:
            machine.manage("stop", "--hard", "--purge", check=False)


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: place.name)
def server(request, machine):
    """One for all tests of a place."""
    server = StockServer(machine, request.param, "--capacity", "strict", "--restart-pause", "0")
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def room_for_the_next(server):
    """What a test leaves running is ended."""
    yield
    server.end_jobs()


@in_each_place
def test_memory(server, seen):
    server.submit("hog", "hog", "child-of-hog")
    job = server.wait_for_end("hog")
    left = server.processes("child-of-hog")
    message = job.get("errorMessage", "")
    diagnosis = message.partition("Diagnosis: ")[2].splitlines() or ["no diagnosis"]
    seen(server.place, "memory hog and its child", f"{job['state']}, {diagnosis[0]}, {len(left)} processes left")
    assert job["state"] == "FAILED" and diagnosis[0].startswith("out_of_memory. ") and not left, job


@in_each_place
def test_cpus(server, seen):
    server.submit("spin", "spin", SPINNERS, 60)
    job = server.wait_for_end("spin")
    cpus = float(server.wait_for_line("spin", "CPUS ").split()[-1])
    seen(server.place, f"{SPINNERS} spinning processes of {MACHINE_CPUS} CPUs use", f"{cpus:.2f}")
    assert job["state"] == "SUCCEEDED" and cpus == pytest.approx(MACHINE_CPUS, rel=0.1)


@in_each_place
def test_processes(server, seen):
    server.submit("multiply", "multiply")
    job = server.wait_for_end("multiply")
    started = int(server.wait_for_line("multiply", "STARTED ").split()[-1])
    diagnosis = job.get("errorMessage", "").partition("Diagnosis: ")[2].partition(". ")[0]
    seen(server.place, "processes until refused", f"{started}, {diagnosis or job['state']}")
    assert PIDS_MAX - 100 < started < PIDS_MAX and diagnosis == "process_limit", job


@in_each_place
def test_a_killed_server(server, seen):
    server.submit("ticks", "tick", 600)
    server.wait_for_line("ticks", "tick 000010")
    server.kill()
    server.start()
    job = server.wait_for_end("ticks")
    numbers = [int(number) for line in server.lines("ticks") for number in re.findall(r"\ttick (\d{6})$", line)]
    seen(server.place, "kill -9 of the server", f"{job['state']}, {len(numbers)} of 600 lines")
    assert job["state"] == "SUCCEEDED" and numbers == list(range(600))


@in_each_place
def test_google(server, seen):
    server.submit("google", "google")
    job = server.wait_for_end("google")
    lines = server.lines("google")
    found = {name: next((line.partition(f"{name} ")[2] for line in lines if f"{name} " in line), "") for name in ("STORAGE", "METADATA", "FOLDER")}
    seen(server.place, "Google's names", ", ".join(f"{name.lower()} {said[:60]}" for name, said in found.items()))
    assert job["state"] == "SUCCEEDED"
    assert found["STORAGE"].startswith("0 ") and '"stock"' in found["STORAGE"]
    assert found["METADATA"] == "0 p" and found["FOLDER"] == "True"


@of_users
@in_each_place
def test_logout(server, machine, seen):
    """systemd ends what a user's own systemd runs 10 s after the last session is over, unless the user lingers; the server says so when
    it starts. One that was started in a login leaves a process there, so that the session is not over while jobs live."""
    for lingers in (False, True):
        machine.run("loginctl", "enable-linger" if lingers else "disable-linger", server.place.user)
        job = f"logged_out_{lingers}".lower()
        server.submit(job, "wait")
        server.wait_for_line(job, "it waits")
        [supervisor, *_] = server.processes(f"{server.data}/attempts/")
        machine.manage("logout", "--user", server.place.user)
        manager = "user@1000.service"
        if lingers or server.place is USER_SHELL:
            machine.wait(lambda: True if machine.run("loginctl", "show-user", server.place.user, "--property", "State", "--value").stdout.strip()
                         in ("closing", "lingering") else None, lambda: "the session does not close")
            time.sleep(STOP_DELAY * 1.5)  # nothing is to happen
            outlived = server.lives(supervisor)
            assert outlived and machine.run("systemctl", "is-active", manager).stdout.strip() == "active"
            assert server.place is USER_UNIT or "jobs live on when " in server.said()
        else:
            machine.wait(lambda: True if not server.lives(supervisor) else None, lambda: "the user's manager lives on")
            outlived = False
            assert f"loginctl enable-linger {server.place.user}" in server.said()
        seen(server.place, f"logout, {'lingering' if lingers else 'not lingering'}", "the job goes on" if outlived else "the job's processes end")
        if not server.lives(server.presence()["pid"]):
            server.start()
        server.end_jobs()
    machine.run("loginctl", "disable-linger", server.place.user)


def test_reboot(machine, seen):
    """Last: it ends all that runs. The job of a service that is enabled begins anew, and none of its restarts is used."""
    server = StockServer(machine, ROOT_DELEGATED, "--capacity", "strict", "--restart-pause", "0")
    server.prepare()
    server.shell(f"printf '[Install]\\nWantedBy=multi-user.target\\n' >>/etc/systemd/system/{server.unit} && systemctl daemon-reload && "
                 f"systemctl enable {server.unit}")
    server.start()
    server.submit("rebooted", "wait")
    server.wait_for_line("rebooted", "it waits")
    before = server.presence()["pid"]
    machine.manage("reboot")
    server.await_other_than(before)
    server.wait_for_lines("rebooted", "it waits", 2)
    job = server.get("rebooted")
    seen(server.place, "reboot with a running job", job["state"])
    assert job["state"] == "RUNNING"
    server.shell(f"systemctl disable {server.unit}")
    server.stop()
