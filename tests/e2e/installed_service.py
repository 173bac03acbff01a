"""The .deb of the program that is tested, and the service that it installs in a machine with systemd (stock_machine.py)."""

import contextlib
import json
import pathlib
import re
import shlex
import subprocess

from installed_program import newest_program
from stock_machine import RUNTIME, Place, StockServer
from trainyard_server import ROOT

UNIT = "trainyard.service"
JOBS_UNIT = "trainyard-jobs.service"
DATA = "/var/lib/trainyard"
COLLEAGUE, HOME = "ann", "/tmp/ann"
DROP_IN = f"/etc/systemd/system/{UNIT}.d/test.conf"
LOAD = "requests_without_end.py"


def make_deb(folder):
    made = subprocess.run([ROOT / "packaging/make_deb.sh", newest_program(), "--fast", "--out", folder], check=True, capture_output=True, text=True)
    return pathlib.Path(made.stdout.split()[-1])


def next_version(package):
    """The same files as a package of a later version."""
    content = package.parent / "content"
    subprocess.run(["dpkg-deb", "--raw-extract", package, content], check=True)
    control = content / "DEBIAN/control"
    version = package.name.split("_")[1] + "+next"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", control.read_text()))
    made = package.with_name(f"trainyard_{version}_next.deb")
    subprocess.run(["dpkg-deb", "--build", "-Znone", "--root-owner-group", content, made], check=True, capture_output=True)
    return made


def drop_in():
    """What differs from the installed unit: a runtime version that needs no network, and the project of the tests."""
    unit = (ROOT / "packaging" / UNIT).read_text()
    [start] = re.findall(r"(?m)^ExecStart=.*", unit)
    return f"[Service]\nExecStart=\n{start} --default-runtime bare --project p\n"


class InstalledService(StockServer):
    """The service of the package. Its program is found as `trainyard`."""

    files_before: set[str] = set()  # the installation

    def __init__(self, machine):
        super().__init__(machine, Place("installed", unit="KillMode=process"))
        self.data, self.environments, self.unit = DATA, f"{DATA}/environments", UNIT

    def prepare(self):
        """Before the installation."""
        folder = pathlib.Path(DROP_IN).parent
        self.shell(f"mkdir -p {folder} && printf %s {shlex.quote(drop_in())} >{DROP_IN}; ln -s /usr/bin/trainyard /usr/local/bin/trainyard; "
                   f"mkdir -p -m 700 {DATA} && mkdir -p {self.environments}/runtimes.d {DATA}/buckets/stock && "
                   f"echo {shlex.quote(json.dumps(RUNTIME))} >{self.environments}/runtimes.d/bare.json; "
                   f"useradd --create-home --home-dir {HOME} {COLLEAGUE}")

    def log_in(self):
        """As the first administrator."""
        self.shell(f"trainyard auth login --server {self.url} --token-file {DATA}/admin-token")

    def as_colleague(self, script, check=True):
        """Of an account of the machine that is nobody here without a token. The answer is of subprocess."""
        return self.machine.run("env", f"HOME={HOME}", "CLOUDSDK_CORE_PROJECT=p", "bash", "-c", script, user=COLLEAGUE, check=check, seconds=120)

    def install(self, package, check=True):
        """dpkg, as an operator runs it. What it says."""
        self.machine.manage("copy", str(package), "/root")
        said = self.shell(f"DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io -i /root/{package.name} 2>&1", check=check, seconds=120)
        if self.is_active(UNIT):
            self.url = self.presence()["url"]
        return said

    def is_active(self, unit):
        return self.machine.run("systemctl", "is-active", "--quiet", unit, check=False).returncode == 0

    def property(self, name, unit=UNIT):
        return self.shell(f"systemctl show --property {name} --value {unit}").strip()

    @contextlib.contextmanager
    def under_load(self):
        """Asks all the while; the counts are complete when it ends."""
        counts = {}
        host, port = self.url.removeprefix("http://").split(":")
        asking = subprocess.Popen([self.machine.tool, "exec", self.machine.folder, "--", "python3", f"/root/{LOAD}", host, port],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield counts
        finally:
            said, _ = asking.communicate("enough\n", timeout=120)
            counts.update(json.loads(said))

    def kept(self):
        """What is in the data directory, but SQLite's files beside an open database."""
        return [name for name in self.shell(f"ls {DATA}").split() if not name.endswith(("-shm", "-wal"))]

    def files(self):
        """All paths of the machine but what runs, the data, and what dpkg and systemd note about any package."""
        hidden = ["/proc", "/sys", "/dev", "/run", "/tmp", "/root", "/oldroot", DATA, "/var/log", "/var/cache", "/var/lib/dpkg"]
        pruned = " -o ".join(f"-path {path}" for path in hidden)
        return set(self.shell(f"find / \\( {pruned} \\) -prune -o -print").splitlines())
