"""A trainer tries rights of root's and system calls that reach beyond it (tests/trainers/rights): as a package, in an isolated network,
as a container, from a shell; of a server that root runs, and of one that an ordinary user runs."""

import json
import os
import pathlib
import re
import shutil
import tempfile

import pytest

import trainyard_server
from container_engines import submit_image
from server_of_account import ServerOfAccount
from trainyard_server import ROOT, Server, end_supervisors

TASK = ROOT / "tests/trainers/rights/rights/task.py"
PROCESSES_MAX = 16384
KEPT = 0x800405FB  # what podman gives root: no NET_RAW, NET_ADMIN, SYS_ADMIN, SYS_PTRACE, MKNOD, AUDIT_WRITE
REFUSED = ("EPERM", "EACCES", "ENOENT", "EROFS")
ANSWERS_OF_THEIR_OWN = {"clone3": ("ENOSYS",), "unknown": ("ENOSYS",), "machine_setting": REFUSED, "memory": REFUSED, "device": REFUSED,
                        "raw_ip_6": ("EPERM", "EAFNOSUPPORT")}
USER = 64322  # nobody's
# What an engine's own filter decides, one way or the other: podman lets programs have keyrings and user namespaces.
ENGINES_CHOICE = ("unshare_user", "keyctl", "add_key", "clone3", "hypervisor_socket", "move_mount", "open_tree", "fsopen",
                  "io_uring_setup", "pidfd_getfd", "pivot_root", "setns", "unknown", "raw_ip_6", "userfaultfd")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")


def reported(server, job_id):
    server.wait(job_id)
    said = [text for text in server.texts(job_id) if text.startswith("RIGHTS ")]
    assert said, "\n".join(server.texts(job_id)[-12:])
    return json.loads(said[0].removeprefix("RIGHTS "))


def rights_of(server, upload, job_id, **more):
    server.submit(job_id, packageUris=[upload(server, "rights")], pythonModule="rights.task", jobDir=f"gs://out/{job_id}", **more)
    return reported(server, job_id)


def check(report, root=True, bounding=KEPT, leave_out=()):
    wrong = {name: got for name, got in report["attempts"].items()
             if name not in leave_out and got not in ANSWERS_OF_THEIR_OWN.get(name, ("EPERM",))}
    assert not wrong, wrong
    sets = {name: int(report[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    kept = KEPT if root else 0
    assert sets == {"CapInh": 0, "CapPrm": kept, "CapEff": kept, "CapBnd": bounding, "CapAmb": 0}, {k: hex(v) for k, v in sets.items()}
    assert (report["NoNewPrivs"], report["Seccomp"]) == ("1", "2")
    assert (report["uid"] == 0) == root
    for folder, became in report.get("setuid", {}).items():
        assert became in ("1234", "nobody else is there"), f"a setuid file in {folder} made {became!r} of user 1234"


@needs_root
def test_a_package_of_roots_server(server, upload):
    report = rights_of(server, upload, "rights")
    check(report)
    assert list(report["setuid"].values()) == ["1234", "1234"], "in /tmp and in /gcs"


@needs_root
def test_a_package_of_a_root_that_makes_no_namespaces(make_server, upload, tmp_path, monkeypatch):
    """As root in a container is; without any namespace: replica/supervisor/rights_test.cc."""
    program = tmp_path / "trainyard"
    program.write_text(f"#!/bin/sh\nexec setpriv --bounding-set -sys_admin --inh-caps -sys_admin {trainyard_server.PROGRAM} \"$@\"\n")
    program.chmod(0o755)
    monkeypatch.setattr(trainyard_server, "PROGRAM", str(program))
    check(rights_of(make_server(), upload, "rights"))


@needs_root
def test_a_package_in_a_network_of_its_own(make_server, upload):
    check(rights_of(make_server("--network", "isolated"), upload, "rights"))


@pytest.fixture
def ordinary(environments):
    """A server of a user who is nobody special; if we are such a one, ours."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-rights-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / "data").mkdir()
        if os.geteuid() != 0:
            server = Server(folder / "data", environments=environments)
        else:
            others = shutil.ignore_patterns("algorithms*", "runtimes*", "cache")  # gigabytes that no job here uses
            shutil.copytree(environments, folder / "data/environments", symlinks=True, ignore=others)
            server = ServerOfAccount(folder, USER)
        yield server
        server.stop()
        end_supervisors(server.data)


def test_a_package_of_an_ordinary_users_server(ordinary, upload):
    report = rights_of(ordinary, upload, "rights")
    check(report, root=False, bounding=int(report["CapBnd"], 16))


@pytest.mark.parametrize("kind", ["root", "user"])
def test_a_container(container_server, images, registry, kind):
    server, name = container_server, f"rights-{kind}"
    if name not in images.made:
        files = {"/app/task.py": TASK.read_text(), "/etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1235::/home/app:/bin/sh\n"}
        images.derive("python", name, files=files, cmd=["python3", "/app/task.py"], user="" if kind == "root" else "app")
    job_id = f"rights_{kind}"
    submit_image(server, job_id, registry.push(images[name]))
    report = reported(server, job_id)
    check(report, root=kind == "root", bounding=int(report["CapBnd"], 16),
          leave_out=ENGINES_CHOICE if server.way.engine else ())
    assert int(report["CapBnd"], 16) & ~KEPT == 0


def in_shell(server, job_id):
    """What a shell says of itself."""
    said = server.trainyard("jobs", "shell", job_id, input="grep -E '^(Cap|NoNew|Seccomp:|Uid)' /proc/self/status\nexit\n")
    assert said.returncode == 0, said
    return dict(re.findall(r"(\w+):\s+(\w+)", said.stdout))


def check_shell(shell, root=True):
    kept = KEPT if root else 0
    assert {name: int(shell[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {
        "CapInh": 0, "CapPrm": kept, "CapEff": kept, "CapAmb": 0}, shell
    assert (shell["NoNewPrivs"], shell["Seccomp"]) == ("1", "2"), shell


@needs_root
def test_a_shell_into_a_package(server, upload):
    server.submit("open", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
    server.wait("open", lambda job: job["state"] == "RUNNING")
    shell = in_shell(server, "open")
    check_shell(shell)
    assert int(shell["CapBnd"], 16) == KEPT
    server.cancel("open")
    server.wait("open")


@needs_root
@pytest.mark.parametrize("user", ["root", "app"])
def test_a_shell_into_a_container(container_server, images, registry, user):
    if container_server.way.name != "oci":
        pytest.skip("a shell into an engine's container is the engine's")
    server, name = container_server, f"shell-{user}"
    if name not in images.made:
        images.derive("busybox", name, files={"/etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1235::/:/bin/sh\n"},
                      cmd=["/bin/sh", "-c", "echo up; while :; do sleep 1; done"], user=user)
    job_id = f"shell_{user}"
    submit_image(server, job_id, registry.push(images[name]), enableWebAccess=True)
    server.wait_for_text(job_id, "up")
    shell = in_shell(server, job_id)
    check_shell(shell, root=user == "root")
    assert shell["Uid"] == ("0" if user == "root" else "1234")
    server.cancel(job_id)
    server.wait(job_id)


@needs_root
def test_the_number_of_processes_is_bounded(server, upload):
    server.submit("bomb", packageUris=[upload(server, "rights")], pythonModule="rights.task", args=["bomb"])
    server.wait("bomb")
    said = [text for text in server.texts("bomb") if text.startswith("BOMB ")]
    assert said, server.texts("bomb")[-20:]
    assert PROCESSES_MAX // 2 < int(said[0].split()[1]) < PROCESSES_MAX, said
