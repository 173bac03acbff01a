"""What packaging/kubernetes and the Helm chart put into a cluster: the API server takes it, in a namespace that refuses what is not
`restricted`, the flags are those of the program, and the account has the rights that docs/kubernetes.md names, and no others."""

import json
import os
import re
import shutil
import socket
import subprocess

import pytest

from kubernetes_world import RIGHTS, Namespace
from slurm_cluster import reserve_ports
from trainyard_server import PROGRAM, ROOT, Server, wait_for

MANIFESTS = ROOT / "packaging/kubernetes/trainyard.yaml"
NODES = ROOT / "packaging/kubernetes/nodes.yaml"
CHART = ROOT / "packaging/helm/trainyard"
LABEL = "app.kubernetes.io/"
COLLECTIONS = {"Service": "/api/v1/namespaces/{}/services", "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
               "Role": RIGHTS + "/namespaces/{}/roles", "RoleBinding": RIGHTS + "/namespaces/{}/rolebindings",
               "ClusterRole": RIGHTS + "/clusterroles", "ClusterRoleBinding": RIGHTS + "/clusterrolebindings",
               "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets"}


@pytest.fixture
def restricted(three_nodes):
    """A namespace that refuses pods which are not `restricted`."""
    space = Namespace(three_nodes)
    space.api.must("PATCH", f"/api/v1/namespaces/{space.name}", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    return space


def documents_of(text):
    return [part for part in re.split(r"^---.*$", text, flags=re.MULTILINE) if re.search(r"^kind:", part, re.MULTILINE)]


def create(space, text, *, dry_run=False):
    """The objects as the API server has them, by kind and name. It refuses a field that it does not know, and warns of nothing."""
    made = {}
    for document in documents_of(text):
        kind = re.search(r"^kind: (\w+)$", document, re.MULTILINE)[1]
        path = COLLECTIONS[kind].format(space.name) + "?fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
        connection = space.api.connect()
        connection.request("POST", path, document.encode(), {**space.api.headers(), "Content-Type": "application/yaml", "Accept": "application/json"})
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
        assert answer.status == 201 and not answer.headers["Warning"], (path, answer.headers["Warning"], said)
        made[kind, said["metadata"]["name"]] = said
    return made


def flags_of(made):
    """The flags of `serve`, as Kubernetes gives them to the program."""
    [container] = made["StatefulSet", "trainyard"]["spec"]["template"]["spec"]["containers"]
    serve, *flags = container["args"]
    assert serve == "serve"
    services = {name.upper().replace("-", "_") + "_SERVICE_HOST": "10.96.0.9" for kind, name in made if kind == "Service"}
    values = {"NAMESPACE": "training", **services}
    return [re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], flag) for flag in flags]


def config(verb, *words):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return subprocess.run([PROGRAM, "config", verb, *map(str, words)], capture_output=True, text=True, env=environment, timeout=60)


def rights_of(rules):
    return {(verb, resource) for rule in rules for verb in rule["verbs"] for resource in rule["resources"]}


def documented_rights(what):
    """The rights that the commands of docs/kubernetes.md give."""
    page = (ROOT / "docs/kubernetes.md").read_text()
    return {(verb, resource) for verbs, resource in re.findall(rf"kubectl create {what} .*--verb=([\w,]+) --resource=(\w+)", page)
            for verb in verbs.split(",")}


def test_a_restricted_namespace_runs_the_server(restricted):
    made = create(restricted, MANIFESTS.read_text())
    claim = f"{restricted.path}/persistentvolumeclaims/data-trainyard-0"
    for path in (f"{restricted.path}/pods/trainyard-0", claim):
        wait_for(lambda path=path: True if restricted.api.call("GET", path)[0] == 200 else None,
                 lambda: f"no pod: {restricted.api.call('GET', restricted.path + '/events')}")
    assert rights_of(made["Role", "trainyard"]["rules"]) == documented_rights("role")
    for name in ("trainyard", "trainyard-agents"):
        assert made["Service", name]["spec"]["selector"] == made["StatefulSet", "trainyard"]["spec"]["template"]["metadata"]["labels"]


def test_the_program_takes_the_flags_and_its_account_has_the_rights(restricted, tmp_path):
    made = create(restricted, MANIFESTS.read_text())
    token = restricted.api.must("POST", f"{restricted.path}/serviceaccounts/trainyard/token", {"spec": {}})["status"]["token"]
    kubeconfig = restricted.cluster.make_kubeconfig("of-manifests", f"token: {token}", restricted.name)
    shown = config("show", *flags_of(made), f"--kubeconfig={kubeconfig}", f"--data={tmp_path}")
    assert shown.returncode == 0, shown
    file = tmp_path / "config.yaml"
    file.write_text(shown.stdout)

    def checked():
        found = config("check", file)
        return found if found.returncode == 0 else None
    wait_for(checked, lambda: config("check", file))
    restricted.api.must("DELETE", f"{RIGHTS}/namespaces/{restricted.name}/rolebindings/trainyard")

    def refused():
        found = config("check", file)
        return found if found.returncode != 0 else None
    assert "pods" in wait_for(refused, lambda: "rights without a binding").stderr


def test_the_right_to_list_nodes(restricted):
    made = create(restricted, NODES.read_text().replace("namespace: training", f"namespace: {restricted.name}"))
    assert rights_of(made["ClusterRole", "trainyard-nodes"]["rules"]) == documented_rights("clusterrole")
    asked = {"user": f"system:serviceaccount:{restricted.name}:trainyard", "resourceAttributes": {"resource": "nodes", "verb": "list"}}

    def is_allowed():
        answer = restricted.api.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": asked})
        return True if answer["status"]["allowed"] else None
    wait_for(is_allowed, lambda: "the account may not list nodes")


def test_agents_are_told_the_address_of_the_service(restricted, tmp_path, monkeypatch):
    """It stays when the server gets another one, at which it listens."""
    monkeypatch.setenv("KUBECONFIG", str(restricted.account()))
    holder, port = reserve_ports(1)
    with holder:
        server = Server(tmp_path / "data", "--engine=kubernetes", f"--agent-listen=0.0.0.0:{port}", "--agent-address=127.0.0.2:8471")
        try:
            assert "its agents connect to 127.0.0.2:8471" in server.stderr()
            socket.create_connection(("127.0.0.2", port), timeout=30).close()
        finally:
            server.stop()


# The chart.

def helm(*words):
    if not shutil.which("helm"):
        pytest.skip("no helm on PATH")
    done = subprocess.run(["helm", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


def without_server_fields(value):
    """An object without what the API server adds, and without the label and the namespace that only the chart writes."""
    added = {"uid", "creationTimestamp", "managedFields", "generation", "resourceVersion", "clusterIP", "clusterIPs", "status", LABEL + "instance"}
    if isinstance(value, list):
        return [without_server_fields(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: without_server_fields(one) for name, one in value.items() if name not in added and one != {}}
    if kept.get("kind") == "ServiceAccount" and "apiVersion" not in kept:
        kept.pop("namespace", None)
    return kept


def test_the_chart_says_what_the_manifests_say(restricted):
    rendered = helm("template", "trainyard", str(CHART), "--namespace", restricted.name)
    of_chart, of_manifests = (create(restricted, text, dry_run=True) for text in (rendered, MANIFESTS.read_text()))
    assert without_server_fields({str(key): one for key, one in of_chart.items()}) == \
        without_server_fields({str(key): one for key, one in of_manifests.items()})


def test_the_values_of_the_chart(restricted):
    values = {"pullSecret": "registry", "tlsSecret": "certificate", "hostNames": ["yard.example"], "listNodes": True,
              "service": {"type": "LoadBalancer"}, "storage": {"class": "fast"},
              "settings": {"audit-bytes": 2147483648, "kubernetes-node": ["pool=a", "zone=b"], "kubernetes-turn": 120}}
    words = [word for name, value in values.items() for word in ("--set-json", f"{name}={json.dumps(value)}")]
    helm("lint", "--strict", str(CHART), *words)
    made = create(restricted, helm("template", "my-yard", str(CHART), "--namespace", restricted.name, *words), dry_run=True)
    named = {(kind, name.replace("my-yard", "trainyard")): one for (kind, name), one in made.items()}
    assert ("ClusterRoleBinding", f"{restricted.name}-trainyard-nodes") in named
    flags = flags_of({**named, ("Service", "my-yard-agents"): {}})
    assert config("show", *flags).returncode == 0, flags
    assert {"--kubernetes-pull-secret=registry", "--tls-key=/etc/trainyard/tls/tls.key", "--host-name=yard.example", "--audit-bytes=2147483648",
            "--kubernetes-node=pool=a", "--kubernetes-node=zone=b", "--kubernetes-turn=120"} <= set(flags)


def test_the_texts_name_this_version():
    version = subprocess.run([PROGRAM, "version", "--format=value(version)"], capture_output=True, text=True, timeout=60).stdout.strip()
    for file in (MANIFESTS, CHART / "values.yaml"):
        assert set(re.findall(r"registry\.lab/trainyard:([\w.]+)", file.read_text())) == {version}, file
    assert re.findall(r"^\w*[vV]ersion: ([\d.]+)$", (CHART / "Chart.yaml").read_text(), re.MULTILINE) == [version, version]
