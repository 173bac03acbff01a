"""A real Slurm for tests: munged, slurmctld and a slurmd for each node, all on this machine, below one temporary folder.

What a node is: with isolate="net" a PID namespace with a host name, an address and a link of its own, so that replicas may use the same
ports and a node can be cut off; with "pid" a PID namespace on this machine's network; with "none" nothing but a slurmd.
"""

import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

from process_output import Output
from slurm_network import ClusterNetwork
from trainyard_server import wait_for

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# Ranges of ports below those that the kernel and the server give away. A range belongs to whoever has bound the name of its first one.
PORT_RANGES = range(11000, 17400, 64)
JOB_FIELDS = {"id": "%i", "name": "%j", "comment": "%k", "state": "%T", "reason": "%r", "partition": "%P", "user": "%u", "nodes": "%N"}
TOOL_LIMIT_S = 60  # srun waits for ever for a node that does not come

# Slurm's own defaults are made for large sites: 300, 30 and 30 s where these say 6, 3 and 1.
SETTINGS = {
    "ClusterName": "tests", "SlurmUser": "root", "SlurmdUser": "root", "AuthType": "auth/munge", "CredType": "cred/munge",
    "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "JobAcctGatherType": "jobacct_gather/none",
    "SwitchType": "switch/none", "MpiDefault": "none", "MailProg": "/bin/true", "AccountingStorageType": "accounting_storage/none",
    "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU_Memory", "DefMemPerCPU": "100", "SchedulerType": "sched/backfill",
    "SchedulerParameters": "sched_interval=1,sched_min_interval=0,default_queue_depth=1000,bf_interval=1,batch_sched_delay=0",
    "SlurmdParameters": "config_overrides",  # the machine has not as much as its nodes
    "ReturnToService": "2", "SlurmctldTimeout": "10", "SlurmdTimeout": "6", "KillWait": "3", "CompleteWait": "0", "InactiveLimit": "0",
    "TCPTimeout": "5", "MinJobAge": "300", "JobRequeue": "1", "GresTypes": "gpu", "SlurmctldDebug": "info", "SlurmdDebug": "info"}

# A slurmd whose steps are found by descent, also those whose parent has ended. It ends when the last of them has.
WITH_DESCENDANTS = """
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
subprocess.Popen(sys.argv[1:])
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


class SlurmCluster:
    """Nodes are node1, node2, ... A context manager; starts when it is made, and leaves nothing behind when it ends.

    @param settings  lines of slurm.conf by key, instead of or beside SETTINGS
    @param gpu_nodes  those that have the GPUs, instead of all
    @param partitions  what follows PartitionName=NAME, by name; the first one is the default
    @param of_node  more of a node's line in slurm.conf, by name of the node: "Features=big"
    @param bounds_memory  cgroups of version 1 hold jobs to the memory that they asked for; only one such cluster lives at a time
    @param boot  lines of shell that each node runs first, in its own namespaces: a mount that hides what nodes do not share
    """

    def __init__(self, nodes=4, *, cpus=4, memory=4000, gpus=0, gpu_type="nvidia_tesla_t4", gpu_nodes=None, isolate="net",
                 settings=None, partitions=None, of_node=None, bounds_memory=False, boot=""):
        needs_slurm()
        assert isolate in ("none", "pid", "net"), isolate
        assert isolate != "none" or not boot, "what a node without namespaces does, it does to this machine"
        self.nodes = [f"node{number + 1}" for number in range(nodes)]
        self.gpu_nodes = gpu_nodes or self.nodes
        self.isolate, self.boot = isolate, boot
        self.processes: dict[str, subprocess.Popen] = {}
        self.network = None
        with contextlib.ExitStack() as ends:  # what stop() does, each even if another one fails
            self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="ty-slurm-"))  # a socket's path is short
            ends.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.folder.chmod(0o755)  # other accounts are clients, too
            holder, self.first_port = reserve_ports(2 if isolate == "net" else 1 + nodes)
            ends.enter_context(holder)
            if isolate == "net":
                self.network = ends.enter_context(contextlib.closing(ClusterNetwork()))
            self.server_address = self.network.server_address if self.network else "127.0.0.1"
            if bounds_memory:
                ends.callback(self._remove_cgroups)
                settings = {"ProctrackType": "proctrack/cgroup", "TaskPlugin": "task/cgroup", **(settings or {})}
                (self.folder / "cgroup.conf").write_text("ConstrainRAMSpace=yes\nConstrainCores=no\nAllowedRAMSpace=100\n")
            self._write_settings(cpus, memory, gpus, gpu_type, {**SETTINGS, **(settings or {})}, partitions or {"main": "Nodes=ALL"}, of_node or {})
            ends.callback(self._kill_all)
            self._start_munge()
            self.start_controller()
            for name in self.nodes:
                self.start_node(name)
            self.wait_for_nodes("idle")
            self.ends = ends.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # Clients.

    def env(self):
        """All that Slurm's tools need to find it."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, tool, *words, timeout=TOOL_LIMIT_S, check=True, user=None, **more):
        """Slurm's tool on this machine, as the account `user`; what subprocess says of it. `more` is for subprocess."""
        environment = {**os.environ, "PATH": PATH, **self.env()}
        done = subprocess.run([tool, *map(str, words)], env=environment, capture_output=True, text=True, timeout=timeout, user=user,
                              cwd="/", **more)
        assert done.returncode == 0 or not check, f"{tool} {words}: {done.returncode}\n{done.stdout}{done.stderr}{self.logs()}"
        return done

    def jobs(self):
        """All that squeue has, ended ones included, in its order."""
        printed = self.run("squeue", "-h", "-t", "all", "-o", "|".join(JOB_FIELDS.values())).stdout
        return [dict(zip(JOB_FIELDS, line.split("|"))) for line in printed.splitlines()]

    def node_states(self):
        """"idle", "down*", ... by node."""
        printed = self.run("sinfo", "-h", "-N", "-o", "%N %T", check=False).stdout
        return dict(line.split() for line in printed.splitlines())

    def start_rest(self):
        """slurmrestd, as root; the Unix socket that it listens on."""
        if not shutil.which("slurmrestd", path=PATH):
            pytest.skip("no slurmrestd on PATH (./dev setup installs it)")
        place = self.folder / "slurmrestd"
        plugin = "openapi/v0.0.38" if " 22.05." in self.run("slurmrestd", "-V").stdout else "openapi/slurmctld"
        # It refuses root unless it is told that this is meant.
        self._start("slurmrestd", "env", "SLURMRESTD_SECURITY=disable_user_check", "slurmrestd", "-f", self.env()["SLURM_CONF"],
                    "-a", "rest_auth/local", "-s", plugin, f"unix:{place}")

        def listens():
            assert self.processes["slurmrestd"].poll() is None, f"slurmrestd ended{self.logs()}"
            with contextlib.suppress(OSError), contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
                client.connect(str(place))
                return True
        wait_for(listens, lambda: f"slurmrestd does not listen{self.logs()}")
        return place

    def sdiag(self):
        """Its numbers by name, requests included: {"Jobs submitted": 3, "REQUEST_PARTITION_INFO": 7}."""
        numbers: dict[str, int] = {}
        for line in self.run("sdiag").stdout.splitlines():
            name, _, rest = line.strip().partition(":")
            if "count" in name:  # "REQUEST_PARTITION_INFO ( 2009) count:7 ave_time:..."
                name = name.split("(")[0].strip()
            value = rest.split()
            if value and value[0].isdecimal():
                numbers.setdefault(name.strip(), int(value[0]))
        return numbers

    def set_partition(self, state, name="main"):
        """UP, DOWN, DRAIN or INACTIVE."""
        self.run("scontrol", "update", f"PartitionName={name}", f"State={state}")

    def resume_drained(self):
        """As an operator does it: a controller that has forgotten a job drains the node where it runs (Duplicate jobid)."""
        for name, state in self.node_states().items():
            if state.startswith("drain"):
                self.run("scontrol", "update", f"NodeName={name}", "State=RESUME", check=False)

    def wait_for_nodes(self, state, *names):
        """Until the nodes, all if none is named, are in a state; Slurm marks one that does not answer with a star, which is not looked at."""
        wait_for(lambda: True if {self.node_states().get(name, "").rstrip("*") for name in names or self.nodes} == {state} else None,
                 lambda: f"nodes are {self.node_states()}, not {state}{self.logs()}")

    def logs(self):
        """The ends of what its daemons said, for a test that fails."""
        texts = [f"\n--- {path.name}\n{path.read_text(errors='replace')[-1500:]}" for path in sorted((self.folder / "log").glob("*"))
                 if path.stat().st_size]
        return "".join(texts)

    # Faults.

    def kill_node(self, name):
        """Its power is lost: slurmd, steps and jobs are gone when this returns."""
        kill_with_descendants(self.processes.pop(name))
        if self.network:
            self.network.remove(self._number(name))

    def start_node(self, name):
        """Returns before slurmd has told the controller: wait_for_nodes."""
        assert name not in self.processes, f"{name} runs"
        slurmd = ["slurmd", "-D", "-N", name, "-f", self.env()["SLURM_CONF"]]
        (self.folder / "spool" / name).mkdir(exist_ok=True)
        if self.isolate == "none":
            self._start(name, sys.executable, "-c", WITH_DESCENDANTS, *slurmd)
            return
        # The shell is the node's process 1: it waits for what lost its parent, and all of the node ends with it.
        links = []
        if self.network:
            address = f"{self.network.address(self._number(name))}/{self.network.subnet.prefixlen}"
            links = [f"hostname {name}", "ip link set lo up", f"ip address add {address} dev eth0", "ip link set eth0 up"]
        script = ["set -e", "echo ready", "read -r linked", *links, self.boot, f"{shlex.join(slurmd)} </dev/null >&2 &", "wait $!"]
        spaces = ["--net", "--uts"] if self.network else []
        node = self._start(name, "unshare", *spaces, "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "bash", "-c", "\n".join(script),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert Output(node.stdout).line() == "ready\n", self.logs()
        if self.network:
            self.network.add(self._number(name), node.pid)
        node.stdin.write("linked\n")
        node.stdin.close()

    def cut_network(self, name):
        """The node goes on, and nobody hears of it."""
        self.network.set_up(self._number(name), False)

    def mend_network(self, name):
        """Packets pass within a second or two: the kernel tells of a link that is up once in a second."""
        self.network.set_up(self._number(name), True)

    def kill_controller(self):
        controller = self.processes.pop("slurmctld")
        controller.kill()
        controller.wait()

    def start_controller(self):
        """Returns when it answers."""
        self._start("slurmctld", "slurmctld", "-D", "-i", "-f", self.env()["SLURM_CONF"])
        self._wait_until_succeeds("slurmctld", "scontrol", "ping")

    def freeze_controller(self):
        """It takes connections, or the kernel does, and says nothing."""
        self.processes["slurmctld"].send_signal(signal.SIGSTOP)

    def thaw_controller(self):
        self.processes["slurmctld"].send_signal(signal.SIGCONT)

    def stop(self):
        self.ends.close()

    def _kill_all(self):
        while self.processes:
            kill_with_descendants(self.processes.popitem()[1])

    def _remove_cgroups(self):
        """Those that the nodes made, in each hierarchy."""
        for node in self.nodes:
            for group in pathlib.Path("/sys/fs/cgroup").glob(f"*/slurm_{node}"):
                for folder, _, _ in os.walk(group, topdown=False):
                    os.rmdir(folder)

    # How it starts.

    def _number(self, name):
        return 1 + self.nodes.index(name)

    def _start(self, name, *command, stdin=subprocess.DEVNULL, stdout=None, **more):
        """A daemon that ends with us, also if we are killed. What it says is in log/NAME."""
        with open(self.folder / "log" / name, "ab") as log:
            self.processes[name] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=stdin, stdout=stdout or log, stderr=log,
                                                    env={"PATH": PATH, **self.env()}, cwd="/", start_new_session=True, **more)
        return self.processes[name]

    def _wait_until_succeeds(self, daemon, *command):
        def succeeds():
            assert self.processes[daemon].poll() is None, f"{daemon} ended{self.logs()}"
            return True if self.run(*command, check=False).returncode == 0 else None
        wait_for(succeeds, lambda: f"{daemon} does not answer{self.logs()}")

    def _start_munge(self):
        own = self.folder / "munge"
        own.mkdir(mode=0o700)
        key = own / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self._start("munged", "munged", "-F", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.sock", f"--pid-file={own}/pid",
                    f"--log-file={own}/log", f"--seed-file={own}/seed", "--num-threads=4")
        self._wait_until_succeeds("munged", "munge", "-S", self.folder / "munge.sock", "-n")

    def _write_settings(self, cpus, memory, gpus, gpu_type, settings, partitions, of_node):
        folder = self.folder
        for name in ("state", "spool", "log", "dev"):
            (folder / name).mkdir()
        host = f"{socket.gethostname().split('.')[0]}({self.server_address})" if self.network else "localhost(127.0.0.1)"
        settings = {"SlurmctldHost": host, "SlurmctldPort": self.first_port, "AuthInfo": f"socket={folder}/munge.sock,cred_expire=5",
                    "StateSaveLocation": folder / "state", "SlurmdSpoolDir": folder / "spool/%n", "SlurmctldPidFile": folder / "slurmctld.pid",
                    "SlurmdPidFile": folder / "slurmd-%n.pid", **settings}
        lines = [f"{key}={value}" for key, value in settings.items()]
        for number, name in enumerate(self.nodes, 1):
            place = f"NodeHostname={name} NodeAddr={self.network.address(number)} Port={self.first_port + 1}" if self.network else \
                f"NodeHostname=localhost NodeAddr=127.0.0.1 Port={self.first_port + number}"
            devices = f"Gres=gpu:{gpu_type}:{gpus}" if gpus and name in self.gpu_nodes else ""
            lines.append(f"NodeName={name} {place} CPUs={cpus} RealMemory={memory} {devices} {of_node.get(name, '')}")
        for number, (name, rest) in enumerate(partitions.items()):
            lines.append(f"PartitionName={name} {rest}{' Default=YES' if number == 0 else ''}")
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        for number in range(gpus):  # Slurm wants to see devices; nobody opens them
            os.mknod(folder / f"dev/gpu{number}", 0o20666, os.makedev(1, 3))
        devices = f"NodeName={','.join(self.gpu_nodes)} Name=gpu Type={gpu_type} File={folder}/dev/gpu[0-{gpus - 1}]\n"
        (folder / "gres.conf").write_text(devices if gpus else "")


def needs_slurm():
    if os.geteuid() != 0:
        pytest.skip("a Slurm of the tests' own is run by root")
    for program in PROGRAMS:
        if not shutil.which(program, path=PATH):
            pytest.skip(f"no {program} on PATH (./dev setup installs it)")


def reserve_ports(count):
    """(what holds them until it is closed, the first one)"""
    assert count <= PORT_RANGES.step, f"{count} ports are more than a cluster gets"
    for turn in range(len(PORT_RANGES)):
        first = PORT_RANGES[(os.getpid() + turn) % len(PORT_RANGES)]
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0trainyard-tests-slurm-{first}")
            for port in range(first, first + count):
                with contextlib.closing(socket.socket()) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("0.0.0.0", port))
            return holder, first
        except OSError:
            holder.close()
    raise AssertionError("no free range of ports")


def kill_with_descendants(process):
    """The parent of a PID namespace, or of all that descends from it, ends by itself once it has no child: then nothing of it is left."""
    def ended():
        if process.poll() is None and not kill_below(process.pid):
            process.kill()
        return process.poll()
    wait_for(ended, lambda: f"process {process.pid} does not end")
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


def kill_below(pid):
    """Kills what descends from the process, and says whether there was any. A number may be another's by now: so it is held, and looked up again."""
    found = False
    for child in children(pid):
        try:
            held = os.pidfd_open(child)
        except ProcessLookupError:
            continue
        try:
            if child in children(pid):
                found = True
                kill_below(child)
                signal.pidfd_send_signal(held, signal.SIGKILL)
        except ProcessLookupError:
            pass
        finally:
            os.close(held)
    return found


def children(pid):
    with contextlib.suppress(OSError):
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split() if lives(child)]
    return []


def lives(pid):
    """Not one that was killed and that its parent has not looked after: slurmctld never does."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def make_slurm():
    """make_slurm(...): a SlurmCluster of one test. What its daemons said is shown if the test fails."""
    with contextlib.ExitStack() as clusters:
        def make(*words, **options):
            cluster = clusters.enter_context(SlurmCluster(*words, **options))
            clusters.callback(lambda: print(cluster.logs()))
            return cluster

        yield make
