"""Power cuts, damaged and removed files of attempts: what was said stays true, and what is missing is said."""

import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest

from trainyard_server import kill, processes_with, wait_for

LINES = 1000
CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MS_SHARED = 0x4000, 1 << 18, 1 << 20


def programs(mark):
    return [pid for pid, command in processes_with(f" {mark}") if "python" in command.split()[0] and "trainyard" not in command]


def attempt_of(server):
    found = list((server.data / "attempts").iterdir())
    assert len(found) == 1, found
    return found[0]


class Disk:
    """A file system in a file, which can be looked at as it would be after a loss of power."""

    def __init__(self, folder):
        self.file, self.place = folder / "disk.img", folder / "disk"
        self.place.mkdir()
        with open(self.file, "wb") as file:
            file.truncate(192 << 20)
        subprocess.run(["mkfs.ext4", "-q", self.file], check=True, capture_output=True)
        self.mount(self.file)

    def mount(self, file):
        # Nothing but what is synced gets to the disk in time.
        mounted = subprocess.run(["mount", "-o", "loop,commit=300", file, self.place], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("cannot mount a file: " + mounted.stderr.decode().strip())

    def copy_as_it_is(self):
        """To be mounted instead, once nothing uses this one."""
        copy = self.file.with_suffix(".cut")
        subprocess.run(["cp", "--sparse=always", self.file, copy], check=True)
        return copy

    def unmount(self):
        subprocess.run(["umount", "-l", self.place], check=True)


@pytest.fixture
def disk(tmp_path):
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("a disk of its own needs root and mkfs.ext4")
    made = Disk(tmp_path)
    yield made
    made.unmount()


def test_a_power_cut_takes_no_line_of_a_job_that_succeeded(make_server, upload, disk, shared_folder):
    server = make_server("--queue-below-free", "0", "--refuse-below-free", "0", data=disk.place / "data")
    go = shared_folder / "go"
    server.submit("cut", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                  args=["print", "up", "await", str(go), "1", "count", str(LINES)])
    server.wait_for_text("cut", "up")
    os.sync()
    server.kill()  # its lines are on this disk alone
    attempt = attempt_of(server)
    go.write_text("go")
    wait_for(lambda: (attempt / "exit.pb").exists() or None, lambda: f"no exit record: {list(attempt.iterdir())}")
    copy = disk.copy_as_it_is()
    for pid, _ in processes_with(f"{server.data}/attempts/"):
        kill(pid)
    wait_for(lambda: not processes_with(f"{server.data}/attempts/") or None, lambda: "the supervisor does not end")
    disk.unmount()
    disk.mount(copy)
    server.start()
    assert server.wait("cut")["state"] == "SUCCEEDED"
    texts = server.texts("cut")
    assert [text for text in texts if text.startswith("line ")] == [f"line {number:07d}" for number in range(LINES)]
    assert not [text for text in texts if "not in this log" in text]


def test_a_damaged_record_is_passed_over_and_said(server, upload, shared_folder):
    first, second = shared_folder / "first", shared_folder / "second"
    server.submit("damaged", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                  args=["print", "up", "await", str(first), "1", "count", "1", "await", str(second), "1", "print", "the end"])
    server.wait_for_text("damaged", "up")
    server.kill()
    attempt = attempt_of(server)

    def segment_with(text):
        return next((file for file in (attempt / "spool").iterdir() if text in file.read_bytes()), None)
    first.write_text("go")
    segment = wait_for(lambda: segment_with(b"line 0000000"), lambda: "the line is not written")
    second.write_text("go")
    wait_for(lambda: (attempt / "exit.pb").exists() or None, lambda: f"no exit record: {list(attempt.iterdir())}")
    with open(segment, "r+b") as file:
        file.seek(segment.read_bytes().index(b"line 0000000"))
        file.write(b"?")  # one that the disk gives back otherwise than it was written
    server.start()
    assert server.wait("damaged")["state"] == "SUCCEEDED"
    texts = server.texts("damaged")
    assert [text for text in texts if "is not in this log: the disk lost it" in text], texts
    assert "line 0000000" not in texts and "the end" in texts and "Task completed successfully." in texts


@pytest.mark.parametrize("has_server", [True, False])
def test_whose_directory_is_removed_ends(server, upload, shared_folder, has_server):
    mark = shared_folder.name
    server.submit("removed", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", mark, "ignore-term", "forever"])
    server.wait_for_text("removed", mark)
    supervisors = [pid for pid, _ in processes_with(f"{server.data}/attempts/")]
    if not has_server:
        server.kill()
    attempt = attempt_of(server)
    before = set(programs(mark))
    assert supervisors and before
    wait_for(lambda: is_removed(attempt) or None, lambda: f"cannot remove {attempt}")
    wait_for(lambda: not before & set(programs(mark)) or None, lambda: f"they live on: {before}")
    wait_for(lambda: not [pid for pid in supervisors if pathlib.Path(f"/proc/{pid}").exists() and not is_zombie(pid)] or None,
             lambda: f"the supervisor lives on: {supervisors}")


def is_removed(folder):
    shutil.rmtree(folder, ignore_errors=True)  # something may be written meanwhile
    return not folder.exists()


def is_zombie(pid):
    try:
        return ") Z " in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def share_mounts():
    """As systemd has them: what is mounted and unmounted is so in the namespaces below."""
    libc = ctypes.CDLL(None, use_errno=True)
    for flags in (MS_REC | MS_PRIVATE, MS_REC | MS_SHARED):
        if flags == MS_REC | MS_PRIVATE:
            assert libc.unshare(CLONE_NEWNS) == 0
        assert libc.mount(None, b"/", None, flags, None) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_replica_keeps_no_file_system_that_the_operator_unmounts(make_server, upload, shared_folder):
    """Elsewhere than below the first directory of the data's path, where nothing gets in and so nothing goes either."""
    server = make_server(preexec=share_mounts)
    place = shared_folder / "operators disk"
    place.mkdir()

    def in_its_machine(*command):
        subprocess.run(["nsenter", "-m", "-t", str(server.process.pid), *command], check=True)
    in_its_machine("mount", "-t", "tmpfs", "tmpfs", str(place))
    server.submit("keeper", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "up", "forever"])
    server.wait_for_text("keeper", "up")
    shown = str(place).replace(" ", "\\040")
    assert shown in mounts_of(server.process.pid)
    in_its_machine("umount", str(place))
    having = [pid for pid, _ in processes_with("") if shown in mounts_of(pid)]
    assert not having, [pathlib.Path(f"/proc/{pid}/comm").read_text() for pid in having]
    server.cancel("keeper")
    assert server.wait("keeper")["state"] == "CANCELLED"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
@pytest.mark.parametrize("is_made_before", [False, True])
def test_a_replica_sees_no_disk_with_backups_that_is_mounted_later_and_writes_to_no_kernel_files(make_server, upload, shared_folder, is_made_before):
    disk = shared_folder / "disk"
    (disk / "backups" if is_made_before else disk).mkdir(parents=True)
    server = make_server("--backup-dir", str(disk / "backups"), preexec=share_mounts)
    server.submit("curious", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "up", "forever"])
    server.wait_for_text("curious", "up")
    program = next(pid for pid, command in processes_with(" forever") if "-m probe.task" in command and str(server.data.parent) in mounts_of(pid))
    for place, file in [(disk, "backups/secrets"), (pathlib.Path("/sys/kernel"), "setting")]:
        made = f"mount -t tmpfs tmpfs {place} && mkdir -p {(place / file).parent} && echo secret > {place / file}"
        subprocess.run(["nsenter", "-m", "-t", str(server.process.pid), "sh", "-c", made], check=True)
        assert pathlib.Path(f"/proc/{server.process.pid}/root{place / file}").exists()
        assert not pathlib.Path(f"/proc/{program}/root{place / file}").exists()
    server.cancel("curious")
    assert server.wait("curious")["state"] == "CANCELLED"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_disk_mounted_above_the_data_shows_nothing_of_them_in_a_replica(make_server, upload, shared_folder):
    """As when the data directory moves to another disk while jobs run."""
    place = shared_folder / "place"
    server = make_server(data=place / "data", preexec=share_mounts)
    server.submit("curious", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "up", "forever"])
    server.wait_for_text("curious", "up")
    program = next(pid for pid, command in processes_with(" forever") if "-m probe.task" in command and str(server.data.parent) in mounts_of(pid))
    inside = ["nsenter", "-m", "-t", str(server.process.pid), "sh", "-c"]
    for above in (place, shared_folder):
        secret = place / "data/run/secret"
        made = f"mount -t tmpfs tmpfs {above} && mkdir -p {secret.parent} && echo moved > {secret}"
        subprocess.run([*inside, made], check=True)
        assert pathlib.Path(f"/proc/{server.process.pid}/root{secret}").read_text() == "moved\n"
        assert not pathlib.Path(f"/proc/{program}/root{secret}").exists()
        subprocess.run([*inside, f"umount {above}"], check=True)
    server.cancel("curious")
    assert server.wait("curious")["state"] == "CANCELLED"
    server.stop()  # before its folder is removed


def mounts_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/mountinfo").read_text()
    except OSError:  # it has just ended
        return ""
