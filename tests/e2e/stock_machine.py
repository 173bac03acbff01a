"""A Debian of its own with systemd as PID 1, the program copied in, and a server in one of the places where people start one.

All is asked inside, by the program's own commands: the machine has no network but its own."""

import contextlib
import dataclasses
import json
import pathlib
import shlex
import subprocess
import time
import zipfile

from trainyard_server import ROOT

CACHE = ROOT / "build/machines"
PROGRAM = "/usr/local/bin/trainyard"
PACKAGE = "/opt/stock/stock-1.0-py3-none-any.whl"
RUNTIME = {"version": "bare", "pythons": ["3.11", "3.12", "3.13"], "notes": "the system's Python and nothing else"}
# A server of --capacity strict gives a replica what this machine type has.
MACHINE_TYPE, MACHINE_CPUS, MACHINE_MEMORY = "n1-highmem-2", 2, 13 << 30


def make_package(folder):
    """tests/trainers/stock as a wheel: pip installs one without building it, so without a network."""
    wheel = pathlib.Path(folder) / pathlib.Path(PACKAGE).name
    source = ROOT / "tests/trainers/stock"
    files = {str(path.relative_to(source)): path.read_text() for path in source.glob("stock/*.py")}
    files["stock-1.0.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: stock\nVersion: 1.0\n"
    files["stock-1.0.dist-info/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files["stock-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in [*files, "stock-1.0.dist-info/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


@contextlib.contextmanager
def in_memory(place):
    """A folder for a machine: a disk may need half a minute to remove one again. Needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4g,mode=755", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


class Machine:
    """What tools/debian-vm.sh or tools/systemd-box.sh runs in a folder. @param slowness: how much longer all takes than here."""

    def __init__(self, tool, folder, slowness=1):
        self.tool, self.folder, self.slowness = ROOT / "tools" / tool, pathlib.Path(folder), slowness

    def manage(self, verb, *words, check=True):
        return subprocess.run([self.tool, verb, self.folder, *words], check=check, capture_output=True, text=True)

    def run(self, *words, user="root", check=True, seconds=60):
        """A command inside, in the user's session where the machine has sessions."""
        done = subprocess.run([self.tool, "exec", self.folder, *(["--user", user] if user != "root" else []), "--", *words], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=seconds * self.slowness)
        assert done.returncode == 0 or not check, f"{words}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done

    def shell(self, script, user="root", check=True, seconds=60):
        return self.run("bash", "-c", script, user=user, check=check, seconds=seconds).stdout

    def install(self, program, scratch):
        self.manage("copy", program, str(pathlib.Path(PROGRAM).parent))
        self.shell(f"chmod 755 {PROGRAM}")
        self.manage("copy", make_package(scratch), str(pathlib.Path(PACKAGE).parent))
        self.shell(f"chmod -R a+rX {pathlib.Path(PACKAGE).parent}")

    def wait(self, condition, describe, seconds=120):
        """What the condition returns that is not None."""
        deadline = time.monotonic() + seconds * self.slowness
        while (value := condition()) is None:
            assert time.monotonic() < deadline, "waited in vain: " + describe()
            time.sleep(0.2)  # between two questions
        return value


@dataclasses.dataclass(frozen=True)
class Place:
    """How a server is started: in a session's shell, or by systemd as a unit."""
    name: str
    user: str = "root"
    unit: str = ""  # properties of the unit, "" for a shell
    scope: bool = False

    @property
    def is_unit(self):
        return bool(self.unit)


ROOT_SHELL = Place("root-shell")
ROOT_SERVICE = Place("root-service", unit="KillMode=process")
ROOT_DELEGATED = Place("root-service-delegated", unit="KillMode=process\nDelegate=yes")
ROOT_SCOPE = Place("root-scope", scope=True)
USER_SHELL = Place("user-shell", user="dev")
USER_UNIT = Place("user-unit", user="dev", unit="KillMode=process\nDelegate=yes")


class StockServer:
    """A server in a place. Its unit and its folder have the place's name."""

    def __init__(self, machine, place, *flags):
        self.machine, self.place, self.flags = machine, place, flags
        home = "/var/lib" if place.user == "root" else f"/home/{place.user}"
        self.data = f"{home}/trainyard-{place.name}"
        self.environments = f"{home}/trainyard-environments"
        self.unit = f"trainyard-{place.name}.service"
        self.systemctl = "systemctl" if place.user == "root" else "systemctl --user"
        self.url = ""
        self.submitted: list[str] = []

    def prepare(self):
        """A folder as new. Environments are shared: to build one takes the longest."""
        runtime = shlex.quote(json.dumps(RUNTIME))
        self.shell(f"rm -rf {self.data} && mkdir -p {self.environments}/runtimes.d {self.data}/buckets/stock && "
                   f"ln -s {self.environments} {self.data}/environments && echo {runtime} >{self.environments}/runtimes.d/bare.json")
        if self.place.is_unit:
            folder = "/etc/systemd/system" if self.place.user == "root" else "~/.config/systemd/user"
            text = f"[Service]\nExecStart={self.command}\n{self.place.unit}\n"
            self.shell(f"mkdir -p {folder} && echo {shlex.quote(text)} >{folder}/{self.unit} && {self.systemctl} daemon-reload")

    @property
    def command(self):
        return shlex.join([PROGRAM, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--default-runtime", "bare", "--project", "p",
                           *self.flags])

    def shell(self, script, check=True, seconds=60):
        return self.machine.shell(script, user=self.place.user, check=check, seconds=seconds)

    def start(self):
        """Returns when it listens; else what it said is in the assertion."""
        before = self.presence().get("pid")
        if self.place.is_unit:
            self.shell(f"{self.systemctl} reset-failed {self.unit} 2>/dev/null; {self.systemctl} start {self.unit}")
        else:
            scope = f"systemd-run {'' if self.place.user == 'root' else '--user'} --quiet --scope " if self.place.scope else ""
            self.shell(f"setsid nohup {scope}{self.command} </dev/null >>{self.data}/server.log 2>&1 &")

        self.await_other_than(before)

    def await_other_than(self, before):
        def listens():
            presence = self.presence()
            return presence if presence.get("pid") not in (None, before) and self.lives(presence["pid"]) else None

        self.url = self.machine.wait(listens, self.said)["url"]

    def presence(self):
        text = self.shell(f"cat {self.data}/run/server.json", check=False)
        return json.loads(text) if text.strip() else {}

    def lives(self, pid):
        return self.machine.run("test", "-d", f"/proc/{pid}", check=False).returncode == 0

    def said(self):
        """What it wrote: its log, or the unit's part of the journal."""
        if self.place.is_unit:
            whose = "" if self.place.user == "root" else "--user "
            return self.shell(f"journalctl {whose}--no-pager -o cat -u {self.unit}; {self.systemctl} status --no-pager {self.unit}", check=False)
        return self.shell(f"cat {self.data}/server.log", check=False)

    def kill(self):
        pid = self.presence()["pid"]
        self.shell(f"kill -9 {pid}")
        self.machine.wait(lambda: True if not self.lives(pid) else None, lambda: f"{pid} lives on")

    def restart(self):
        """Of a unit."""
        before = self.presence()["pid"]
        self.shell(f"{self.systemctl} restart {self.unit}")
        self.await_other_than(before)

    def end_all(self):
        """SIGTERM to every process of the unit, as systemd does it at the end of a session or of the machine."""
        pid = self.presence()["pid"]
        self.shell(f"{self.systemctl} kill --signal=TERM {self.unit}")
        self.machine.wait(lambda: True if not self.lives(pid) else None, self.said)

    def stop(self):
        """Ends the server in order, and what is left of its jobs."""
        if self.place.is_unit:
            self.shell(f"{self.systemctl} stop {self.unit}", check=False)
        elif pid := self.presence().get("pid"):
            self.shell(f"kill {pid}", check=False)
            self.machine.wait(lambda: True if not self.lives(pid) else None, self.said)
        if left := self.processes(f"{self.data}/attempts/"):
            self.machine.run("kill", "-9", *left, check=False)

    def trainyard(self, *words, check=True, seconds=60):
        """The command-line client, beside the server."""
        command = shlex.join([PROGRAM, *words, "--server", self.url, "--project", "p"])
        return self.machine.run("bash", "-c", command, user=self.place.user, check=check, seconds=seconds)

    def submit(self, job, *words, flags=()):
        """`words`: for the program. `flags`: further ones of the command."""
        self.submitted.append(job)
        self.machine.run("bash", "-c", shlex.join(
            [PROGRAM, "jobs", "submit", "training", job, "--server", self.url, "--project", "p", "--region", "us-central1",
             "--staging-bucket", "gs://stock", "--packages", PACKAGE, "--module-name", "stock.task", "--scale-tier", "custom",
             "--master-machine-type", MACHINE_TYPE, *flags, "--", *map(str, words)]), user=self.place.user, seconds=60)

    def get(self, job):
        return json.loads(self.trainyard("jobs", "describe", job, "--format", "json").stdout)

    def lines(self, job):
        """All of a job's log, as text."""
        said = self.trainyard("jobs", "stream-logs", job, "--last", "100000").stdout
        return said.splitlines()

    def wait_for_line(self, job, text):
        def find():
            lines = self.lines(job)
            found = [line for line in lines if text in line]
            assert found or "endTime" not in self.get(job), f"{job} ended without {text!r}: {self.get(job)}\n" + "\n".join(lines[-30:])
            return found[0] if found else None
        return self.machine.wait(find, lambda: f"no {text!r} in {self.lines(job)[-30:]}: {self.get(job)}", seconds=120)

    def wait_for_lines(self, job, text, count):
        return self.machine.wait(lambda: True if sum(text in line for line in self.lines(job)) >= count else None,
                                 lambda: f"not {count} times {text!r} in {self.lines(job)[-30:]}: {self.get(job)}", seconds=120)

    def wait_for_end(self, job):
        def ended():
            now = self.get(job)
            return now if "endTime" in now else None
        return self.machine.wait(ended, lambda: f"{self.get(job)} {self.lines(job)[-30:]}", seconds=300)

    def end_jobs(self):
        """So that the next one finds room, whatever came of these."""
        while self.submitted:
            job = self.submitted.pop()
            if "endTime" not in self.get(job):
                self.trainyard("jobs", "cancel", job, check=False)
                self.wait_for_end(job)

    def processes(self, text):
        """Those of the machine with the text in their command line."""
        return self.machine.run("pgrep", "-f", text, check=False).stdout.split()
