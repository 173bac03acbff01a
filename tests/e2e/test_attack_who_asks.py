"""Who asks: connections that no process owns, names that others can read, proxies, and names that mean this server to a browser alone."""

import json
import os
import pathlib
import re
import socket
import subprocess

import pytest
import requests

import orphan_connection
from orphan_connection import head, orphan
from test_attack_doors import ask
from trainyard_server import Server, end_supervisors

TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
JOBS = "/v1/projects/p/jobs"
FLAVOR = {"Metadata-Flavor": "Google"}
PROXY = "127.9.9.9"
FORWARDED = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Host": "localhost", "Forwarded": "for=192.0.2.7", "Via": "1.1 proxy",
             "X-Real-IP": "192.0.2.7"}


def shared(tmp_path_factory, environments, *flags):
    server = Server(tmp_path_factory.mktemp("who") / "data", "--host-name", "yard.test", "--trusted-proxy", PROXY, *flags,
                    environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    """Accounts decide."""
    yield from shared(tmp_path_factory, environments)


@pytest.fixture(scope="module")
def team(tmp_path_factory, environments):
    """Tokens decide."""
    yield from shared(tmp_path_factory, environments, "--auth", "on")


def place(url):
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


def administration(server):
    """Where users ask: an address, and a name under which it answers."""
    workstation = server.presence.get("workstation", {})
    named = [((workstation["address"], workstation["plain_port"]), "metadata.google.internal")] if workstation.get("plain_port") else []
    return [(place(server.url), "localhost"), *named]


def replicas(server):
    front = server.front()
    return [(place(server.replica_url), "localhost"), *([((front[0], front[2]), "metadata.google.internal")] if front else [])]


def status(answer):
    return int(answer[9:12])


def get(address, path, host, **headers):
    return requests.get("http://%s:%d%s" % (*address, path), headers={"Host": host, **FLAVOR, **headers}, timeout=60)


def test_a_connection_that_nobody_owns_is_nobodys(server):
    for address, host in administration(server) + replicas(server):
        for path in (TOKEN, "/computeMetadata/v1/project/project-id"):
            assert get(address, path, host).status_code == 200, (address, path)
            assert status(orphan(address, head(path, host))) == 403, (address, path)
    assert server.request("GET", JOBS).ok
    refused = orphan(place(server.url), head(JOBS, "localhost"))
    assert status(refused) == 403 and "the system does not know" in refused, refused


def test_no_connection_of_the_network_makes_an_administrator(team):
    """Not of the server's own account, which this is, nor of root."""
    for address, host in administration(team):
        assert status(orphan(address, head(TOKEN, host))) == 401, address
        refused = get(address, TOKEN, host)
        assert refused.status_code == 401 and "admin.sock" in refused.json()["error"]["message"], refused.text
        assert get(address, "/computeMetadata/v1/project/project-id", host).text == "trainyard"
    tls = requests.get(team.presence["tls_url"].replace("localhost", "127.0.0.1") + TOKEN, headers=FLAVOR, timeout=60, verify=False)
    assert tls.status_code == 401


def who_is(team, token):
    return team.request("GET", "/trainyard/v1/whoami", token=token).json()["principal"]


def test_the_local_account_asks_by_its_socket(team):
    admin = team.data / "run/admin.sock"
    answer, text = ask(admin, "GET", TOKEN, **{"Metadata-Flavor": "Google"})
    assert answer == 200 and who_is(team, json.loads(text)["access_token"]).startswith("user:admin@"), text
    assert ask(admin, "GET", TOKEN, **{"Metadata-Flavor": "Google", "X-Forwarded-For": "192.0.2.7"})[0] == 401, "nor through a proxy"
    # Who connected has ended, and its connection is another's: of an attempt, for all that is known.
    passed = ("import socket, sys\nclient = socket.socket(socket.AF_UNIX)\nclient.connect(sys.argv[1])\n"
              "socket.send_fds(socket.socket(fileno=0), [b'x'], [client.fileno()])")
    one, other = socket.socketpair()
    with one, other:
        subprocess.run(["python3", "-c", passed, str(admin)], stdin=other.fileno(), check=True)
        descriptors = socket.recv_fds(one, 1, 1)[1]
    with socket.socket(fileno=descriptors[0]) as client:
        client.sendall(head(TOKEN, "localhost"))
        assert status(client.recv(1 << 16)) == 401


def test_what_a_proxy_passes_on_is_no_local_account(server):
    for name, value in FORWARDED.items():
        for address, host in administration(server) + replicas(server):
            assert get(address, TOKEN, host, **{name: value}).status_code == 403, (address, name)
        refused = server.request("GET", JOBS, headers={name: value})
        assert refused.status_code == 403 and "--auth on" in refused.json()["error"]["message"], refused.text
    with requests.Session() as by_proxy:
        by_proxy.mount("http://", From(PROXY))
        assert server.request("GET", JOBS, session=by_proxy).status_code == 403, "also where it says nothing of whom it speaks for"
    assert server.request("GET", JOBS).ok


class From(requests.adapters.HTTPAdapter):
    """From another address of this machine."""

    def __init__(self, address):
        self.address = address
        super().__init__()

    def init_poolmanager(self, *args, **kwargs):
        super().init_poolmanager(*args, source_address=(self.address, 0), **kwargs)


def test_a_rebound_name_gets_nothing_where_tokens_decide(team):
    """What is answered without a token, and what is not."""
    for host in ("evil.example", "evil.example:8470", "localhost.evil.example", "evil.yard.test", "0.0.0.0", ""):
        for path in ("/", "/healthz", "/readyz", "/$discovery/rest?version=v1", "/ui/", TOKEN, "/computeMetadata/v1/project/project-id", JOBS):
            answer = team.request("GET", path, headers={"Host": host, **FLAVOR})
            assert answer.status_code == 403, (host, path, answer.text)
        for path in ("/token", "/v1/token", "/v1/introspect", "/trainyard/v1/session"):
            kind = "application/json" if "session" in path else "application/x-www-form-urlencoded"
            answer = team.request("POST", path, token="", data="{}", headers={"Host": host, "Content-Type": kind})
            assert answer.status_code == 403, (host, path, answer.text)
    for host in ("localhost", "127.0.0.1:1", "ml.localhost:8471", "yard.test", "YARD.test:443"):
        assert team.request("GET", JOBS, headers={"Host": host}).ok, host


def package(folder, name, **files):
    (folder / name).mkdir(parents=True)
    for file, text in {"__init__": "", **files}.items():
        (folder / f"{name}/{file}.py").write_text(text)
    (folder / "setup.py").write_text(f"from setuptools import setup\nsetup(name='{name}', version='1', packages=['{name}'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
    return next((folder / "dist").glob("*.tar.gz")).read_bytes()


ASKER = '''
import http.client, json, os, sys
from asker.orphan_connection import head, orphan

TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
others, places = sys.argv[1], json.loads(sys.argv[2])
own, front = os.environ["GCE_METADATA_HOST"], (os.environ["GCE_METADATA_IP"], 80)

def get(address, host, path=TOKEN, **headers):
    client = http.client.HTTPConnection(*address, timeout=60)
    client.request("GET", path, headers={"Host": host, "Metadata-Flavor": "Google", **headers})
    answer = client.getresponse()
    return answer.status, answer.read().decode()

def owner(answer):
    """Whose token it is, or the status."""
    return json.loads(answer[1])["access_token"].split(".")[2] if answer[0] == 200 else answer[0]

seen = {"own": owner(get(front, own)), "google": owner(get(front, "metadata.google.internal")), "others": owner(get(front, others)),
        "instance": get(front, others, "/computeMetadata/v1/instance/name")[0],
        "administration": [[int(orphan(tuple(address), head(TOKEN, host))[9:12]), get(address, host)[0]] for address, host in places]}
if places:
    status, _, body = orphan(front, head(TOKEN, others)).partition("\\r\\n\\r\\n")
    seen["orphan"] = owner((int(status[9:12]), body))
    nobody = json.loads(body)["access_token"]
    host, port = os.environ["STORAGE_EMULATOR_HOST"].removeprefix("http://").split(":")
    bearer = head("/storage/v1/b/p-data/o", host, "Authorization: Bearer " + nobody)
    seen["worth"] = int(orphan((host, int(port)), bearer)[9:12])
print("RESULT " + json.dumps(seen), flush=True)
'''


@pytest.mark.skipif(os.geteuid() != 0, reason="the front's port 80 and isolated networks need root")
@pytest.mark.parametrize("network", ["host", "isolated"])
def test_a_program_is_its_own_attempt_whatever_it_says(make_server, upload, tmp_path, network):
    server = make_server("--auth", "on", "--network", network)
    assert server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "p-data"}).ok
    own = server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"})
    assert own.ok, own.text
    server.submit("victim", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["shell", "env", "print", "told", "forever"])
    server.wait_for_text("victim", "told")
    manifest = (server.data.resolve() / "attempts/1-master-replica-0-1/manifest.pb").read_bytes()
    others = re.search(rb"1-master-replica-0-1\.[0-9a-f]+\.metadata\.trainyard", manifest)[0].decode()
    asker = package(tmp_path / "asker", "asker", task=ASKER, orphan_connection=pathlib.Path(orphan_connection.__file__).read_text())
    uri = server.upload("p-data", "asker.tar.gz", asker)
    where = json.dumps(administration(server) if network == "host" else [])
    server.submit("asker", packageUris=[uri], pythonModule="asker.task", args=[others, where])
    assert server.wait("asker")["state"] == "SUCCEEDED", server.texts("asker")
    seen = next(json.loads(text.removeprefix("RESULT ")) for text in server.texts("asker") if text.startswith("RESULT "))
    assert seen["own"] == seen["google"] == "2-master-replica-0-1", seen
    assert seen["others"] == seen["instance"] == 403, seen
    assert all(pair == [401, 401] for pair in seen["administration"]), seen
    if network == "host":
        assert (seen["orphan"], seen["worth"]) == ("any-replica", 401), "a name is worth nothing, nor is what nobody is given"
    # Outside of any attempt the name proves nothing either.
    text = ask(server.data / "run/front.sock", "GET", TOKEN, Host=others, **FLAVOR)[1]
    assert ".any-replica." in text, text
    shown = server.texts("victim")
    assert not [text for text in shown if others.split(".")[1] in text], "its log says it to nobody"
    assert "GCE_METADATA_HOST=1-master-replica-0-1.***.metadata.trainyard" in shown
    server.cancel("victim")
    server.wait("victim")
