"""Another account of the machine attacks the server: its API, its front, its files. The server is root's, or an ordinary user's; who
attacks is nobody. Only root can play both."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
import requests

from server_of_account import ServerOfAccount, become
from trainyard_server import end_supervisors

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becoming another user needs root and setpriv")

NOBODY, ORDINARY = 65534, 64322
PYTHON = "/usr/bin/python3"  # nobody may not enter the folder of the tests' own
TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"


def as_nobody(program, *words):
    """Runs a Python program as nobody; what it printed, as JSON."""
    done = subprocess.run(become(NOBODY, PYTHON, "-c", program, *words), capture_output=True, text=True, timeout=120, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def make_owned():
    """Below /var/tmp, where nobody may enter: what keeps him out must be the server's doing."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-accounts-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        servers = []

        def make(uid, *flags):
            servers.append(ServerOfAccount(folder, uid, *flags))
            return servers[-1]

        yield make
        for server in servers:
            server.stop()
            end_supervisors(server.data)


@pytest.fixture(params=[0, ORDINARY], ids=["of_root", "of_a_user"])
def server(request, make_owned):
    return make_owned(request.param)


ASK = """
import json, ssl, sys, urllib.error, urllib.request
answers = {}
tls = ssl._create_unverified_context()
for line in sys.argv[1:]:
    method, url, host, body = line.split(" ", 3)
    headers = {"Metadata-Flavor": "Google", **({"Host": host} if host != "-" else {}), **({"Content-Type": "application/json"} if body else {})}
    request = urllib.request.Request(url, body.encode() or None, headers, method=method)
    try:
        answers[line] = [urllib.request.urlopen(request, timeout=60, context=tls if url.startswith("https") else None).status, ""]
    except urllib.error.HTTPError as error:
        answers[line] = [error.code, error.read().decode()]
    except OSError as error:
        answers[line] = [0, str(error)]
print(json.dumps(answers))
"""


def api_requests(server):
    job = json.dumps({"jobId": "nobodys", "trainingInput": {"region": "us-central1", "packageUris": ["gs://bucket/x"], "pythonModule": "a.b"}})
    url, tls = server.url, server.presence["tls_url"].replace("localhost", "127.0.0.1")
    return [f"GET {url}/v1/projects/p/jobs - ", f"POST {url}/v1/projects/p/jobs - {job}", f"GET {url}/storage/v1/b/bucket/o/secret?alt=media - ",
            f'POST {url}/storage/v1/b?project=p - {{"name": "nobodys"}}', f"POST {url}/upload/storage/v1/b/bucket/o?name=x&uploadType=media - x",
            f"GET {url}{TOKEN} - ", f"GET {url}/healthz - ", f"GET {url}/metrics - ", f"GET {url}/replica/v1/attach - ",
            f"GET {tls}/v1/projects/p/jobs - ", f"GET {tls}/storage/v1/b?project=p - "]


def front_requests(server):
    front = server.front()
    if not front:
        return []
    address, tls_port, plain_port = front
    port = server.presence.get("replica_port")
    replicas = [f"GET http://127.0.0.1:{port}/storage/v1/b/bucket/o/secret?alt=media - ", f"GET http://127.0.0.1:{port}{TOKEN} - "] if port else []
    return [*replicas, f"GET http://{address}:{plain_port}{TOKEN} metadata.google.internal ",
            f"GET https://{address}:{tls_port}/storage/v1/b?project=p storage.googleapis.com ",
            f"POST https://{address}:{tls_port}/token oauth2.googleapis.com ",
            f"GET https://{address}:{tls_port}/bucket/secret storage.googleapis.com "]


def test_the_api_and_the_front_answer_no_other_account(server):
    server.upload("bucket", "secret", b"nobody knows")
    wanted = api_requests(server) + front_requests(server)
    answers = as_nobody(ASK, *wanted)
    assert {line: status for line, (status, _) in answers.items() if status != 403 and not (status == 0 and "refused" in answers[line][1])} == {}
    message = json.loads(answers[wanted[0]][1])["error"]["message"]
    for part in (f"uid {server.uid}", f"uid {NOBODY}", "--allow-local-users", "authentication"):
        assert part in message, message
    assert server.request("GET", "/v1/projects/p/jobs").json().get("jobs", []) == []
    assert [bucket["name"] for bucket in server.request("GET", "/storage/v1/b?project=p").json()["items"]] == ["bucket"]


def test_the_owner_and_root_are_answered(server):
    server.upload("bucket", "secret", b"nobody knows")
    for uid in (server.uid, 0):
        asked = subprocess.run(become(uid, PYTHON, "-c", ASK, *api_requests(server)[:1], *front_requests(server)[:4]), capture_output=True, text=True)
        answers = json.loads(asked.stdout)
        assert {status for status, _ in answers.values()} <= {200, 0} and answers[api_requests(server)[0]][0] == 200, answers


IN_A_USER_NAMESPACE = """
import json, os, subprocess, sys
done = subprocess.run(["unshare", "-Ur", sys.executable, "-c", sys.argv[1], *sys.argv[2:]], capture_output=True, text=True)
print(done.stdout if done.returncode == 0 else json.dumps({"left out": done.stderr}))
"""


def test_root_of_a_user_namespace_is_who_he_is_outside(server):
    answers = as_nobody(IN_A_USER_NAMESPACE, ASK, *api_requests(server)[:2])
    if "left out" in answers:
        pytest.skip("nobody makes no user namespace here: " + answers["left out"])
    assert {status for status, _ in answers.values()} == {403}, answers


RUN_AWAY = """
import json, socket, struct, sys
port = int(sys.argv[1])
request = (f"POST /storage/v1/b?project=p HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
           f"Content-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s")
for number in range(300):
    body = json.dumps({"name": f"ran-away-{number}"})
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall((request % (len(body), body)).encode())
        if number % 3 == 1:
            client.shutdown(socket.SHUT_WR)
        if number % 3 == 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
print(json.dumps("ran away"))
"""


def test_who_asks_and_runs_away_is_not_taken_for_root(server):
    """The kernel says uid 0 of a socket that its process has closed."""
    assert as_nobody(RUN_AWAY, server.url.rsplit(":", 1)[1]) == "ran away"
    assert server.request("GET", "/storage/v1/b?project=p").json().get("items", []) == []


TOUCH = """
import errno, fcntl, json, os, socket, subprocess, sys
data, *names = sys.argv[1:]
got = {}
def attempt(what, function):
    try:
        function()
        got[what] = "done"
    except OSError as error:
        got[what] = errno.errorcode.get(error.errno, str(error))
def lock(path):
    with open(path, "rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 128)
def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
attempt("list", lambda: os.listdir(data))
for name in names:
    path = os.path.join(data, name)
    attempt("read " + name, lambda: open(path, "rb").read(1))
    attempt("write " + name, lambda: open(path, "ab"))
    attempt("lock " + name, lambda: lock(path))
    attempt("connect " + name, lambda: connect(path))
    attempt("run " + name, lambda: subprocess.run([path, "-c", "id -u"], check=False))
print(json.dumps(got))
"""


def test_no_file_of_the_data_directory_is_another_accounts(server):
    server.upload("bucket", "secret", b"nobody knows")
    tool = server.data / "buckets/bucket/tool"
    shutil.copy("/bin/sh", tool)  # as a job leaves it behind
    os.chown(tool, server.uid, server.uid)
    tool.chmod(0o4755)
    (server.data / "server.log").chmod(0o644)
    files = [str(path.relative_to(server.data)) for path in server.data.rglob("*") if not path.is_dir()]
    assert {"trainyard.db-shm", "logs.db-shm", "buckets/bucket/secret", "buckets/bucket/tool", "run/secret"} <= set(files), files
    got = as_nobody(TOUCH, str(server.data), *files)
    assert {what: how for what, how in got.items() if how != "EACCES"} == {}
    assert server.data.stat().st_mode & 0o7777 == 0o700
    for name in ("trainyard.db", "trainyard.db-wal", "trainyard.db-shm", "logs.db", "objects.db", "metrics.db", "studies.db", "run/secret"):
        assert (server.data / name).stat().st_mode & 0o077 == 0, name
    server.upload("bucket", "written", b"still")


def test_a_data_directory_that_was_open_is_shut_with_a_line(server):
    assert "was open to other accounts" in server.stderr(), "the tests make it with mode 0755"
    server.stop()
    before = len(server.stderr())
    server.data.chmod(0o755)
    for name in ("trainyard.db", "logs.db"):
        (server.data / name).chmod(0o644)
    (server.data / "uploads").chmod(0o755)
    server.start()
    said = server.stderr()[before:]
    assert f"{server.data} was open to other accounts (mode 0755)" in said, said
    for name, mode in ((".", 0o700), ("buckets", 0o755), ("uploads", 0o700), ("trainyard.db", 0o600), ("logs.db", 0o600)):
        assert (server.data / name).stat().st_mode & 0o7777 == mode, name
    server.stop()
    before = len(server.stderr())
    server.start()
    assert "was open" not in server.stderr()[before:]


def test_everybody_is_answered_where_the_operator_says_so(make_owned):
    server = make_owned(ORDINARY, "--allow-local-users")
    assert "--allow-local-users: every account of this machine" in server.stderr()
    wanted = api_requests(server)[:1]
    assert [status for status, _ in as_nobody(ASK, *wanted).values()] == [200]
    assert requests.get(server.url + "/v1/projects/p/jobs", headers={"Origin": "https://evil.example"}, timeout=60).status_code == 403
    assert as_nobody(TOUCH, str(server.data), "trainyard.db")["read trainyard.db"] == "EACCES", "by the API, not by its files"


def test_the_command_line_says_who_is_answered(server):
    program = server.program.parent / "program"
    for words in (["jobs", "list"], ["env"]):
        done = subprocess.run(become(NOBODY, str(program), *words, "--server", server.url), capture_output=True, text=True, timeout=120, cwd="/",
                              env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "CLOUDSDK_CORE_PROJECT": "p"})
        assert done.returncode != 0
        assert f"uid {server.uid}" in done.stderr and "--allow-local-users" in done.stderr, done.stderr
    found = server.owner(str(program), "env", "--data", str(server.data))
    assert found.returncode == 0 and server.url in found.stdout, found.stderr


def test_ipv6_and_ipv4_through_ipv6_are_looked_up_too(make_owned):
    """What Java's and Node's clients do: an IPv6 socket that speaks IPv4."""
    server = make_owned(ORDINARY)
    port = server.url.rsplit(":", 1)[1]
    program = ("import json, socket, sys\nclient = socket.socket(socket.AF_INET6)\nclient.connect(('::ffff:127.0.0.1', int(sys.argv[1])))\n"
               "client.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')\nprint(json.dumps(client.recv(99).decode()))")
    assert as_nobody(program, port).startswith("HTTP/1.1 403 ")
    own = server.owner(PYTHON, "-c", program, port)
    assert json.loads(own.stdout).startswith("HTTP/1.1 200 "), own
