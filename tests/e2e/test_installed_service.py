"""The package under a real systemd: install, log in, run a job, restart and upgrade under load, purge. One machine, in this order."""

import os
import re
import shutil

import pytest

from installed_program import make_wheel
from installed_service import DATA, JOBS_UNIT, LOAD, UNIT, InstalledService, make_deb, next_version
from stock_machine import CACHE, PACKAGE, Machine, in_memory, make_package
from trainyard_server import ROOT

TICKS = 100_000  # more than any of this takes


def ticks(service, job):
    return [int(number) for line in service.lines(job) for number in re.findall(r"\ttick (\d{6})$", line)]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """This version's and the next one's: the same program."""
    for tool in "cpack", "dpkg-shlibdeps":
        if not shutil.which(tool):
            pytest.skip(f"no {tool} on PATH")
    folder = tmp_path_factory.mktemp("packages")
    first = make_deb(folder)
    return first, next_version(first)


@pytest.fixture(scope="module")
def service(tmp_path_factory, packages):
    if os.geteuid() != 0:
        pytest.skip("a systemd of one's own needs root")
    if not shutil.which("mmdebstrap"):
        pytest.skip("no mmdebstrap on PATH")
    folder = tmp_path_factory.mktemp("service")
    with in_memory(folder / "machine") as place:
        machine = Machine("systemd-box.sh", place)
        CACHE.mkdir(parents=True, exist_ok=True)
        machine.manage("start", "--cache", str(CACHE), "--include", "python3-venv,curl", "--cgroup", "hybrid")
        try:
            machine.manage("copy", make_package(folder), os.path.dirname(PACKAGE))
            machine.manage("copy", str(ROOT / "tests/e2e" / LOAD), "/root")
            service = InstalledService(machine)
            service.prepare()
            service.files_before = service.files()
            service.install(packages[0])
            service.log_in()
            yield service
        finally:
            machine.manage("stop", "--hard", check=False)


def test_it_answers_when_the_package_is_installed(service):
    assert service.is_active(UNIT), service.said()
    assert service.property("StatusText") == f"listening on {service.url}"
    assert service.shell(f"stat -c '%a %U' {DATA}") == "700 root\n"
    assert service.shell("systemctl is-enabled trainyard").strip() == "enabled"
    assert f"TRAINYARD_SERVER='{service.url}'" in service.shell(f"trainyard env --data {DATA}").replace('"', "'")
    assert "trainyard 0." in service.shell("trainyard version")
    assert "team's first day" in service.shell("cat /usr/share/doc/trainyard/docs/access.md")


def test_the_wheel_runs_there_too(service, tmp_path):
    """With the system's Python; what the client requires is not installed."""
    service.machine.manage("copy", str(make_wheel(tmp_path)), "/root")
    service.shell("python3 -m venv /tmp/wheel && /tmp/wheel/bin/pip install -q --no-index --no-deps /root/trainyard-*.whl")
    assert service.shell("/tmp/wheel/bin/trainyard version") == service.shell("trainyard version")


def test_every_socket_that_listens_is_kept_by_the_manager(service):
    """Those of TCP (administration twice, replicas, two fronts of two) and four files."""
    assert service.property("NFileDescriptorStore") == "11"


def test_the_journal_has_the_time_and_the_priority_of_what_the_server_says(service):
    said = service.shell(f"journalctl -u {UNIT} -o cat --no-pager -p 6..6")
    assert "\nINFO containers: none" in "\n" + said  # there is no engine in the box
    assert "INFO containers" not in service.shell(f"journalctl -u {UNIT} -o cat --no-pager -p 5", check=False)


def test_a_colleague_logs_in_and_runs_a_program(service):
    """By an account of the machine that has no rights there."""
    refused = service.as_colleague(f"trainyard jobs list --server {service.url}", check=False)
    assert refused.returncode == 1 and "UNAUTHENTICATED" in refused.stderr, refused
    root = "XDG_CONFIG_HOME=/tmp/never-logged-in trainyard "  # it finds the service by itself, and by its address
    token = service.shell(root + "auth token create --principal user:ann@example.com --role trainyard.member --project p").strip()
    service.as_colleague(f"trainyard auth login --server {service.url} --token-file - <<<{token}")
    service.as_colleague("echo 'import os; print(\"here\", sorted(os.listdir(\"/gcs\")))' >~/hello.py")
    without = service.as_colleague("trainyard run --name hello ~/hello.py", check=False)
    assert "trainyard storage buckets create gs://p-runs --project p" in without.stderr, without
    service.shell(f"{root} storage buckets create gs://p-runs --project p --server {service.url}")
    done = service.as_colleague("trainyard run --name hello ~/hello.py")
    assert "here ['p-runs', 'stock']" in done.stdout and "Job [hello] succeeded." in done.stderr, done
    assert "user:ann@example.com" in service.trainyard("admin", "audit", "--format", "json").stdout


def test_a_restart_refuses_no_connection(service):
    with service.under_load() as counts:
        for _ in range(3):
            service.restart()
    assert counts["refused"] == counts["failed"] == 0 and counts["answered"] > 10, counts
    assert counts["cut"] <= 1, counts  # asked in the instant in which its idle connection was closed
    assert service.property("NFileDescriptorStore") == "11", "none is kept twice"


def test_a_reload_changes_no_process(service):
    before = service.presence()["pid"]
    service.shell("systemctl reload trainyard")
    assert service.presence()["pid"] == before and service.is_active(UNIT)
    service.shell(f"mv {DATA}/run/server.json /tmp/server.json")
    assert service.machine.run("systemctl", "reload", UNIT, check=False).returncode != 0, "it says when it could not"
    service.shell(f"mv /tmp/server.json {DATA}/run/server.json")


def test_a_job_lives_through_a_restart_and_the_end_of_its_server(service):
    service.submit("lives", "tick", TICKS, flags=["--enable-web-access"])
    service.wait_for_line("lives", "tick 000001")
    shell = service.shell(f"echo 'echo in $(cat /proc/1/comm); exit 7' | trainyard jobs shell lives --server {service.url} --project p; echo $?")
    assert "in trainyard-init" in shell and shell.endswith("7\n"), shell
    [pid] = service.processes(f"stock.task tick {TICKS}")
    service.restart()
    service.kill()
    service.await_other_than(None)
    assert service.processes(f"stock.task tick {TICKS}") == [pid]
    service.end_jobs()


def test_an_upgrade_restarts_the_server_alone_and_refuses_no_connection(service, packages):
    service.submit("upgraded", "tick", TICKS)
    service.wait_for_line("upgraded", "tick 000001")
    before = service.presence()["pid"]
    [pid] = service.processes(f"stock.task tick {TICKS}")
    with service.under_load() as counts:
        service.install(packages[1])
    assert counts["refused"] == counts["failed"] == 0 and counts["cut"] <= 1, counts
    assert service.presence()["pid"] != before
    assert "+next" in service.shell("dpkg-query -W -f '${Version}' trainyard")
    assert service.processes(f"stock.task tick {TICKS}") == [pid]
    assert service.get("upgraded")["state"] == "RUNNING"
    shown = max(ticks(service, "upgraded"))
    service.wait_for_line("upgraded", f"tick {shown + 5:06d}")
    service.end_jobs()
    numbers = ticks(service, "upgraded")
    assert numbers == list(range(len(numbers))), "its log is whole"


def test_what_is_stopped_or_disabled_stays_so_when_it_is_upgraded(service, packages):
    service.shell("systemctl disable --now trainyard")
    service.install(packages[1])
    assert not service.is_active(UNIT)
    assert service.shell("systemctl is-enabled trainyard", check=False).strip() == "disabled"
    service.shell("systemctl enable --now trainyard")
    service.await_other_than(None)


@pytest.mark.long  # it waits for the watchdog
def test_a_server_that_hangs_is_replaced(service):
    pid = service.presence()["pid"]
    service.shell("mkdir -p /run/systemd/system/trainyard.service.d && printf '[Service]\\nWatchdogSec=2\\nTimeoutAbortSec=1\\n' "
                  ">/run/systemd/system/trainyard.service.d/watchdog.conf && systemctl daemon-reload")
    service.restart()
    pid = service.presence()["pid"]
    service.shell(f"kill -STOP {pid}")
    service.await_other_than(pid)
    assert service.property("NRestarts") == "1"


@pytest.mark.long
def test_thirty_restarts_refuse_no_connection(service):
    with service.under_load() as counts:
        for _ in range(30):
            service.shell("systemctl reset-failed trainyard")
            service.restart()
    assert counts["refused"] == counts["failed"] == 0 and counts["cut"] <= 3, counts


def test_a_wrong_configuration_is_not_tried_again_and_again(service):
    service.shell("mkdir -p /run/systemd/system/trainyard.service.d && printf '[Service]\\nExecStart=\\nExecStart=/usr/bin/trainyard serve "
                  "--listne x\\n' >/run/systemd/system/trainyard.service.d/wrong.conf && systemctl daemon-reload")
    assert service.machine.run("systemctl", "restart", UNIT, check=False).returncode != 0
    assert (service.property("ActiveState"), service.property("NRestarts")) == ("failed", "0")
    service.shell("rm /run/systemd/system/trainyard.service.d/wrong.conf; systemctl daemon-reload; systemctl start trainyard")
    service.await_other_than(None)


def test_purge_ends_the_jobs_and_leaves_nothing_but_the_data(service):
    service.submit("ended", "tick", TICKS)
    service.wait_for_line("ended", "tick 000001")
    data = service.kept()
    service.shell("dpkg --purge trainyard", seconds=200)
    assert not service.is_active(UNIT) and not service.is_active(JOBS_UNIT)
    assert not service.processes(f"stock.task tick {TICKS}")
    assert not service.processes("/usr/bin/trainyard (serve|keeper)")
    assert service.kept() == data and "buckets" in data
    assert service.files() == service.files_before
    assert "/run/trainyard" not in service.shell("ls -d /run/*")


