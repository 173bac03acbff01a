"""A real Kueue for the Kubernetes of the tests. Its manager is built from Go modules once and kept beside that Kubernetes.

The manager is a process of this machine. It acts as the cluster's administrator, since its own rights are not what is tested, and pods are
the only kind of jobs that it manages.
"""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import re
import subprocess

import pytest

import kube_program
from kube_api import MERGE
from slurm_cluster import reserve_ports
from trainyard_server import wait_for

VERSION = "0.14.8"
PROGRAM = kube_program.CACHE / f"kueue-{VERSION}"
MODULE = f"sigs.k8s.io/kueue@v{VERSION}"
API = "/apis/kueue.x-k8s.io/v1beta1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUE = "queue"  # the LocalQueue of each namespace
IN_QUEUE = {"kueue.x-k8s.io/queue-name": QUEUE}


def build():
    """The folder of Kueue's sources. Builds the program if it is not there; a second caller waits for the first one."""
    go = kube_program.find_go()
    if not go:
        pytest.skip("no go is on PATH, and Kueue is a Go module (tests/e2e/kueue.py)")
    sources = pathlib.Path(json.loads(kube_program.run(go, "mod", "download", "-json", MODULE, cwd=kube_program.CACHE))["Dir"])
    with open(kube_program.LOCK, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.access(PROGRAM, os.X_OK):
            os.utime(kube_program.LOCK)
            own = kube_program.CACHE / f"source-kueue-{VERSION}"
            own.mkdir(exist_ok=True)
            (own / "go.mod").write_text(f"module kueue\ngo 1.25.0\nrequire {MODULE.replace('@', ' ')}\n")
            (own / "main.go").write_text(smaller((sources / "cmd/kueue/main.go").read_text()))
            kube_program.run(go, "build", "-mod=mod", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", own / "kueue", ".", cwd=own)
            (own / "kueue").rename(PROGRAM)
    return sources


def smaller(main):
    """Kueue's main.go without the server that shows queues, which needs a quarter of all packages. Metrics are off, but Kueue reads their
    certificate at a fixed path in /etc: here it reads that of the webhooks."""
    main = main.replace('\t"sigs.k8s.io/kueue/pkg/visibility"\n', "").replace('"/etc/kueue/metrics/certs"', "cfg.Webhook.CertDir")
    return re.sub(r"\n\tif features.Enabled\(features.VisibilityOnDemand\) {.*?\n\t}\n", "\n", main, flags=re.DOTALL)


class Kueue:
    """A context manager; its queues work once it is made. It has to end before its cluster does."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, cluster.api
        sources = build()
        with contextlib.ExitStack() as ends:
            holder, self.port = reserve_ports(1)
            ends.enter_context(holder)
            self._make_kinds(sources / "config/components/crd/bases")
            self._start(ends)
            self._make_webhooks(sources / "config/components/webhook/manifests.yaml")
            wait_for(self._is_ready, lambda: f"Kueue does not answer{cluster.logs()}")
            self._make("ResourceFlavor", API + "/resourceflavors", "default")
            self.ends = ends.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.close()

    def make_queue(self, space, *, cpus):
        """A queue of the namespace. It admits pods that together request so many CPUs; a higher priority preempts a lower one."""
        spec = {"namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority"}, "resourceGroups": groups(cpus)}
        self._make("ClusterQueue", API + "/clusterqueues", space.name, spec)
        self._make("LocalQueue", f"{API}/namespaces/{space.name}/localqueues", QUEUE, {"clusterQueue": space.name})

    def set_cpus(self, space, cpus):
        self.api.must("PATCH", f"{API}/clusterqueues/{space.name}", {"spec": {"resourceGroups": groups(cpus)}}, MERGE)

    def workloads(self, space):
        """By name. Kueue makes one for all pods of a job."""
        return {one["metadata"]["name"]: one for one in self.api.must("GET", f"{API}/namespaces/{space.name}/workloads")["items"]}

    # How it starts.

    def _make(self, kind, path, name, spec=None):
        self.api.must("POST", path, {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": name}, "spec": spec or {}})

    def _post_yaml(self, path, text):
        """The API server takes YAML, and answers with the object as JSON."""
        with contextlib.closing(self.api.connect()) as connection:
            connection.request("POST", path, text, {**self.api.headers(), "Content-Type": "application/yaml", "Accept": "application/json"})
            answer = json.load(connection.getresponse())
        assert answer["kind"] != "Status", (path, answer)
        return answer

    def _make_kinds(self, folder):
        made = [self._post_yaml(CRDS, file.read_bytes())["spec"]["names"]["plural"] for file in sorted(folder.glob("*.yaml"))]
        wait_for(lambda: True if {one["name"] for one in self.api.call("GET", API)[1].get("resources", [])} >= set(made) else None,
                 lambda: f"the API server does not serve {made}{self.cluster.logs()}")

    def _make_webhooks(self, file):
        """Those for pods and for Kueue's own kinds. The API server finds them by URL: addresses of services do not work here."""
        authority = base64.b64encode((self.cluster.folder / "pki/ca.crt").read_bytes())
        for text in filter(str.strip, re.split(r"^---$", file.read_text(), flags=re.MULTILINE)):
            path = f"/apis/admissionregistration.k8s.io/v1/{'mutating' if 'kind: Mutating' in text else 'validating'}webhookconfigurations"
            asked = self._post_yaml(path + "?dryRun=All", text.encode())
            hooks = [hook for hook in asked["webhooks"] if {"", "kueue.x-k8s.io"} & set(hook["rules"][0]["apiGroups"])]
            for hook in hooks:
                called = hook["clientConfig"]["service"]["path"]
                hook["clientConfig"] = {"url": f"https://127.0.0.1:{self.port}{called}", "caBundle": authority.decode()}
            self.api.must("POST", path, {"metadata": {"name": asked["metadata"]["name"]}, "webhooks": hooks})

    def _start(self, ends):
        folder = self.cluster.folder / "kueue"
        folder.mkdir()
        for end in ("crt", "key"):  # the API server's, for the same address
            (folder / f"tls.{end}").symlink_to(self.cluster.folder / f"pki/api.{end}")
        (folder / "config.yaml").write_text(json.dumps({
            "apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration", "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False}, "metrics": {"bindAddress": "0"}, "health": {"healthProbeBindAddress": "0"},
            "webhook": {"host": "127.0.0.1", "port": self.port, "certDir": str(folder)}, "integrations": {"frameworks": ["pod"]}}))
        with open(self.cluster.folder / "log/kueue", "ab") as log:
            flags = [f"--config={folder}/config.yaml", f"--kubeconfig={self.cluster.kubeconfig}"]
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", PROGRAM, *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        ends.callback(self.process.wait)
        ends.callback(self.process.kill)

    def _is_ready(self):
        """Whether it would gate a pod that is created now."""
        assert self.process.poll() is None, f"Kueue's manager ended{self.cluster.logs()}"
        answer = self.api.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", {
            "metadata": {"name": "asks", "labels": IN_QUEUE}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}})[1]
        return True if answer.get("spec", {}).get("schedulingGates") else None


def groups(cpus):
    """Kueue admits only pods of which all requests are covered."""
    quotas = [{"name": "cpu", "nominalQuota": str(cpus)}, {"name": "memory", "nominalQuota": "1Ti"}]
    return [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "default", "resources": quotas}]}]
