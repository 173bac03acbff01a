"""A real Kubernetes for tests: etcd, API server, controllers and scheduler on this machine, below one temporary folder, with hollow nodes.

Only the kubelets are not real: the commands of a pod's containers run as processes of this machine, each in namespaces of its own (kube_pods.py,
kube_containers.py). Pods share this machine's network, and all images are this machine's files.
"""

import contextlib
import hashlib
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
from typing import Any

import pytest

import kube_program
from kube_api import KubeApi
from kube_nodes import HollowNodes
from slurm_cluster import reserve_ports
from trainyard_server import wait_for

PROGRAMS = ("openssl", "unshare", "setpriv", "chroot", "mount")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
GRACE_S = 6  # a node that is silent for so long is Unknown; Kubernetes' own default is 50 s
PORTS = {"etcd": 0, "peers": 1, "apiserver": 2, "manager": 3, "scheduler": 4}  # after the first one
KILL_AFTER_S = 20


class KubeCluster:
    """Nodes are node1, node2, ... A context manager; starts when it is made, and leaves nothing behind when it ends.

    @param gpus  of each node, as nvidia.com/gpu
    @param program  Trainyard's own: containers have it where our images have it, and need not download it
    @param gangs  its scheduler places gangs, as PodGroups
    @param environments  a folder that keeps what pods have built, for other clusters of the same tests
    """

    def __init__(self, nodes=3, *, cpus="4", memory="16Gi", gpus=0, program=None, environments=None, gangs=False):
        needs_kubernetes(gangs)
        self.gangs = gangs
        self.nodes = [f"node{number + 1}" for number in range(nodes)]
        self.processes: dict[str, subprocess.Popen] = {}
        self.hollow: Any = None
        with contextlib.ExitStack() as ends:  # what stop() does, each even if another one fails
            self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="ty-kube-"))
            ends.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.folder.chmod(0o755)  # pods have accounts of their own
            for name in ("log", "pki", "pods"):
                (self.folder / name).mkdir()
            (self.folder / "pki").chmod(0o700)
            holder, self.first_port = reserve_ports(len(PORTS))
            ends.enter_context(holder)
            self._make_keys()
            self.kubeconfig = self.make_kubeconfig("admin", f"token: {self.tokens['admin']}")
            self.api = KubeApi(self._port("apiserver"), self.folder / "pki/ca.crt", self.tokens["admin"])
            ends.callback(lambda: self.hollow and self.hollow.join())
            ends.callback(self._kill_all)
            for part in ("etcd", "apiserver", "manager", "scheduler"):
                self.start(part)
            resources = {"cpu": str(cpus), "memory": memory, "pods": "110", "ephemeral-storage": "50Gi"}
            if gpus:
                resources["nvidia.com/gpu"] = str(gpus)
            self.hollow = HollowNodes(self.api, self.folder, self.nodes, resources, image=image_of(program), kill_after_s=KILL_AFTER_S,
                                      environments=environments or self.folder / "environments")
            ends.callback(self.hollow.stop)
            self.wait_for_nodes("True")
            self.wait_for_account("default")
            self.ends = ends.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.ends.close()

    # Clients.

    def env(self, kubeconfig=None):
        """All that a client needs to find it."""
        return {"KUBECONFIG": str(kubeconfig or self.kubeconfig)}

    def call(self, method, path, body=None):
        """(status, answer) of the API server for its administrator."""
        return self.api.call(method, path, body)

    def refuse_image(self, image, reason="ImagePullBackOff", message="Back-off pulling image"):
        """No node gets it: pods of the image wait, and say so."""
        self.hollow.unpullable[image] = (reason, message)

    def node_states(self):
        """"True", "False" or "Unknown" by node: whether it is ready."""
        return {node["metadata"]["name"]: condition["status"] for node in self.api.must("GET", "/api/v1/nodes")["items"]
                for condition in node["status"].get("conditions", []) if condition["type"] == "Ready"}

    def wait_for_nodes(self, state, *names):
        """Until the nodes, all if none is named, are in a state, and pods may go there if it is "True"."""
        def tainted():
            return {node["metadata"]["name"] for node in self.api.must("GET", "/api/v1/nodes")["items"] if node["spec"].get("taints")}
        wait_for(lambda: True if {self.node_states().get(name) for name in names or self.nodes} == {state} and
                 (state != "True" or not tainted() & set(names or self.nodes)) else None,
                 lambda: f"nodes are {self.node_states()}, not {state}{self.logs()}")

    def logs(self):
        """The ends of what its parts and its pods said, for a test that fails."""
        pods = sorted((self.folder / "pods").glob("*/log"), key=lambda path: path.stat().st_mtime)
        texts = [f"\n--- {path}\n{path.read_text(errors='replace')[-1500:]}" for path in [*sorted((self.folder / "log").glob("*")), *pods[-8:]]
                 if path.stat().st_size]
        return "".join(texts) + (self.hollow.errors() if self.hollow else "")

    # Faults.

    def kill_node(self, name):
        """Its power is lost: its pods' processes are gone when this returns."""
        self.hollow.kill_node(name)

    def start_node(self, name):
        self.hollow.start_node(name)

    def kill_container(self, pod, name, why=None):
        """A container of the pod, an object of the API: its processes are gone when this returns. `why`: the reason of its end, as "OOMKilled"."""
        self.hollow.kill_container(pod["metadata"]["uid"], name, why)

    def kill(self, part):
        """"etcd", "apiserver", "manager" or "scheduler" is gone when this returns."""
        process = self.processes.pop(part)
        process.kill()
        process.wait()

    def start(self, part):
        """Returns when it answers."""
        assert part not in self.processes, f"{part} runs"
        log = open(self.folder / "log" / part, "ab")
        with log:
            command = ["setpriv", "--pdeathsig", "KILL", kube_program.path_of(self.version), part, *self._flags(part), *self._gang_flags(part)]
            self.processes[part] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                                    env={"PATH": PATH, "HOME": str(self.folder)}, start_new_session=True)
        if part == "apiserver":
            wait_for(lambda: self._is_ready(part), lambda: f"{part} does not answer{self.logs()}")

    # How it starts.

    @property
    def version(self):
        return kube_program.GANGS_VERSION if self.gangs else kube_program.VERSION

    def _gang_flags(self, part):
        if not self.gangs or part == "etcd":
            return []
        return ["--feature-gates=GenericWorkload=true", *(["--runtime-config=scheduling.k8s.io/v1beta1=true"] if part == "apiserver" else [])]

    def _port(self, part):
        return self.first_port + PORTS[part]

    def _is_ready(self, part):
        assert self.processes[part].poll() is None, f"{part} ended{self.logs()}"
        with contextlib.suppress(OSError):
            return True if self.api.call("GET", "/readyz") == (200, {"text": "ok"}) else None

    def wait_for_account(self, namespace):
        """The controllers make one for each namespace; without it the API server refuses pods."""
        wait_for(lambda: True if self.call("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/default")[0] == 200 else None,
                 lambda: f"{namespace} has no service account{self.logs()}")

    def _kill_all(self):
        for part in list(self.processes):
            self.kill(part)

    def _flags(self, part):
        etcd, peers = f"http://127.0.0.1:{self._port('etcd')}", f"http://127.0.0.1:{self._port('peers')}"
        if part == "etcd":
            return ["--data-dir=etcd", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peers}",
                    f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}", "--unsafe-no-fsync", "--log-level=warn"]
        if part == "apiserver":
            # Nobody uses an address of a service. Endpoints of the service `kubernetes` are left out: loopback is refused there.
            return [f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self._port(part)}",
                    "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16", "--tls-cert-file=pki/api.crt",
                    "--tls-private-key-file=pki/api.key", "--client-ca-file=pki/ca.crt",
                    "--requestheader-client-ca-file=pki/ca.crt", "--requestheader-allowed-names=nobody", "--token-auth-file=pki/tokens.csv",
                    "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=pki/accounts.pub",
                    "--service-account-signing-key-file=pki/accounts.key", "--authorization-mode=Node,RBAC", "--cert-dir=pki/own",
                    "--profiling=false"]
        config = f"pki/{part}.kubeconfig"
        shared = [f"--{use}kubeconfig={config}" for use in ("", "authentication-", "authorization-")] + [
            "--bind-address=127.0.0.1", f"--secure-port={self._port(part)}", "--leader-elect=false", f"--cert-dir=pki/own-{part}",
            "--kube-api-qps=200", "--kube-api-burst=400"]
        if part == "scheduler":
            return shared
        return [*shared, "--service-account-private-key-file=pki/accounts.key", "--root-ca-file=pki/ca.crt", "--use-service-account-credentials",
                f"--node-monitor-grace-period={GRACE_S}s", "--node-monitor-period=1s"]

    def _make_keys(self):
        """An authority, the API server's certificate, a key for accounts' tokens, and a token for each part."""
        pki = self.folder / "pki"

        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=pki, check=True, capture_output=True)
        for name in ("ca", "api", "accounts"):
            openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", f"{name}.key")
        openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=tests-kubernetes", "-days", "30", "-out", "ca.crt")
        openssl("req", "-new", "-key", "api.key", "-subj", "/CN=kube-apiserver", "-out", "api.csr")
        (pki / "api.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
        openssl("x509", "-req", "-in", "api.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "2", "-days", "30", "-extfile", "api.ext",
                "-out", "api.crt")
        openssl("ec", "-in", "accounts.key", "-pubout", "-out", "accounts.pub")
        users = {"admin": ("admin", "system:masters"), "manager": ("system:kube-controller-manager", ""), "scheduler": ("system:kube-scheduler", "")}
        self.tokens = {part: secrets.token_hex(16) for part in users}
        (pki / "tokens.csv").write_text("".join(f'{self.tokens[part]},{user},{user},"{group}"\n' for part, (user, group) in users.items()))
        for part in ("manager", "scheduler"):
            self.make_kubeconfig(part, f"token: {self.tokens[part]}")

    def make_kubeconfig(self, name, user, namespace="default"):
        path = self.folder / "pki" / f"{name}.kubeconfig"
        path.write_text(f"""apiVersion: v1
kind: Config
current-context: tests
clusters:
- name: tests
  cluster:
    server: https://127.0.0.1:{self._port('apiserver')}
    certificate-authority: {self.folder}/pki/ca.crt
users:
- name: tests
  user:
    {user}
contexts:
- name: tests
  context: {{cluster: tests, user: tests, namespace: {namespace}}}
""")
        path.chmod(0o600)
        return path


def image_of(program):
    """The agent's program where our images have it."""
    if program is None:
        return {}
    program = pathlib.Path(program).resolve()
    with open(program, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {f"/usr/local/lib/trainyard/trainyard-{digest}": program}


def needs_kubernetes(gangs=False):
    """Waits for a build that goes on; not in CI, where it has the lowest priority and may take longer than everything else.

    @param gangs  the one that places gangs, which only long tests use: they build it
    """
    if os.geteuid() != 0:
        pytest.skip("a Kubernetes of the tests' own is run by root")
    for program in PROGRAMS:
        if not shutil.which(program, path=PATH):
            pytest.skip(f"no {program} on PATH (./dev setup installs it)")
    if gangs and kube_program.find_go():
        kube_program.build(kube_program.GANGS_VERSION)
    if not os.environ.get("TRAINYARD_CI"):
        wait_for(lambda: True if kube_program.is_built() or not kube_program.is_being_built() else None, lambda: "the build of Kubernetes",
                 kube_program.WAIT_S + 1)
    if not kube_program.is_built(kube_program.GANGS_VERSION if gangs else kube_program.VERSION):
        pytest.skip("no Kubernetes is built" + ("" if kube_program.find_go() else ", and no go is on PATH") + " (tests/e2e/kube_program.py)")


@pytest.fixture
def make_kubernetes():
    """make_kubernetes(...): a KubeCluster of one test. What its parts said is shown if the test fails."""
    with contextlib.ExitStack() as clusters:
        def make(*words, **options):
            cluster = clusters.enter_context(KubeCluster(*words, **options))
            clusters.callback(lambda: print(cluster.logs()))
            return cluster

        yield make
