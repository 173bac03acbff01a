"""Floods: whoever opens, sends or asks for a great deal is bounded, and an honest client is answered meanwhile.

Nothing here is timed: an honest client's answer may take as long as any answer in these tests. What a flood costs others is in the
benchmarks; that no single piece of work held up the rest is what the server itself says (`/metrics`, `--loop-turn-max`)."""

import contextlib
import gzip
import json
import os
import re
import resource
import socket
import subprocess
import threading

import pytest
import requests

from trainyard_server import PROGRAM, wait_for

TURN_MAX_MS = 3000  # with sanitizers, on a machine that runs other tests; quadratic work took far longer
WAIT_S = 120
MIB = 1 << 20


@pytest.fixture
def server(make_server):
    return make_server("--loop-turn-max", str(TURN_MAX_MS))


@pytest.fixture(autouse=True)
def many_descriptors():
    """A flood is made of sockets; the servers that the tests start inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip(f"this machine allows {hard} descriptors to a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def address(server):
    host, port = server.url.removeprefix("http://").split(":")
    return host, int(port)


def connect(server):
    return socket.create_connection(address(server), timeout=WAIT_S)


@contextlib.contextmanager
def flood(server, count, *first_bytes):
    """So many connections, each of which has sent this much."""
    with contextlib.ExitStack() as stack:
        sockets = []
        for _ in range(count):
            sockets.append(stack.enter_context(connect(server)))
            for data in first_bytes:
                with contextlib.suppress(OSError):  # closed for others by now
                    sockets[-1].sendall(data)
        yield sockets


def answered(sockets):
    """Each has the first byte of its answer, or was closed for others. Until then its request is in flight, which keeps its place."""
    for opened in sockets:
        with contextlib.suppress(ConnectionResetError):
            opened.recv(1)


def head(method, path, *fields):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *fields, "", ""]).encode()


def metrics(server):
    text = server.request("GET", "/metrics").text
    return {name: float(value) for name, value in re.findall(r"^(trainyard_(?:loop|http)[^ {]*(?:\{.*\})?) (\S+)$", text, re.MULTILINE)}


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def honest_client_is_served(server):
    """On connections of its own, and nobody else's work held up the loop."""
    for number in range(5):
        assert requests.get(server.url + "/v1/projects/p/jobs", timeout=WAIT_S).status_code == 200
        name = f"honest{number}"
        server.upload("honest", name, b"x" * 1000)
        got = requests.get(f"{server.url}/download/storage/v1/b/honest/o/{name}?alt=media", timeout=WAIT_S)
        assert (got.status_code, got.content) == (200, b"x" * 1000)
    nobody_stalled(server)


def nobody_stalled(server):
    figures = metrics(server)
    assert figures["trainyard_loop_turn_longest_seconds"] > 0, "the watch is on"
    stalls = {name: value for name, value in figures.items() if name.startswith("trainyard_loop_stalls_total")}
    assert not stalls and "the loop stood still" not in server.stderr(), (stalls, server.stderr()[-2000:])


@pytest.mark.parametrize("sent", [
    pytest.param([], id="nothing"),
    pytest.param([b"GET /v1/projects/p/jobs HT"], id="a slow head"),
    pytest.param([head("GET", "/healthz")], id="one request"),
])
def test_two_thousand_idle_connections(server, sent):
    before = resident_bytes(server)
    with flood(server, 2000, *sent):
        honest_client_is_served(server)
        assert resident_bytes(server) - before < 200 * MIB


def test_more_idle_connections_than_descriptors(make_server):
    """With 1,024 descriptors at most, as many services start."""
    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    server = make_server("--loop-turn-max", str(TURN_MAX_MS), preexec=limited)
    keep_alive = requests.Session()
    assert keep_alive.get(server.url + "/healthz", timeout=WAIT_S).ok
    with flood(server, 1100) as sockets:
        honest_client_is_served(server)
        assert keep_alive.get(server.url + "/healthz", timeout=WAIT_S).ok
        figures = metrics(server)
        assert figures["trainyard_http_connections"] < 400
        assert figures["trainyard_http_connections_closed_total"] >= 700
        assert figures["trainyard_http_connections_refused_total"] == 0
        assert sockets[0].recv(1) == b"", "the oldest one goes first"
    with flood(server, 600, head("GET", "/healthz")) as sockets:
        answered(sockets)
        honest_client_is_served(server)
    assert "1024 descriptors" in server.stderr()


def test_events_make_room_for_requests(make_server):
    """Streams that a client can take up again do not keep anybody out."""
    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    server = make_server("--loop-turn-max", str(TURN_MAX_MS), preexec=limited)
    with flood(server, 500, head("GET", "/v2/entries:tail?resourceNames=projects/p")) as sockets:
        answered(sockets)
        honest_client_is_served(server)


def test_handshakes_that_do_not_go_on(server):
    port = int(server.presence["tls_url"].rsplit(":", 1)[1])
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            opened = stack.enter_context(socket.create_connection(("localhost", port), timeout=WAIT_S))
            opened.sendall(b"\x16\x03\x01")
        honest_client_is_served(server)


@pytest.mark.parametrize("path, fields", [
    pytest.param("/upload/storage/v1/b/flood/o?uploadType=media&name=x", [], id="media"),
    pytest.param("/upload/storage/v1/b/flood/o?uploadType=multipart", ["Content-Type: multipart/related; boundary=b"], id="multipart"),
    pytest.param("/v1/projects/p/jobs", ["Content-Type: application/json"], id="json"),
])
def test_a_thousand_uploads_of_a_few_bytes_hold_little(server, path, fields):
    server.upload("flood", "first", b"x")
    before = resident_bytes(server)
    with flood(server, 1000, head("POST", path, "Content-Length: 1000000000" if "upload" in path else "Content-Length: 1000000", *fields),
               b"a few bytes"):
        honest_client_is_served(server)
        assert resident_bytes(server) - before < 300 * MIB


def many_labels(bytes_max):
    text, number = ['{"jobId":"a","labels":{"x":""'], 0
    while number * 12 < bytes_max - 100:
        text.append(f',"k{number:06d}":""')
        number += 1
    return "".join([*text, "}}"]).encode()


def ask(server, method, path, body, **headers):
    return requests.request(method, server.url + path, data=body, headers={"Content-Type": "application/json", **headers}, timeout=WAIT_S)


def test_many_keys_are_refused_by_the_name_of_their_field(server):
    body = many_labels(900_000)
    answer = ask(server, "POST", "/v1/projects/p/jobs", body)
    assert answer.status_code == 400
    assert "More than 20000 values, at 'job.labels'" in answer.json()["error"]["message"]
    zipped = ask(server, "POST", "/v1/projects/p/jobs", gzip.compress(body), **{"Content-Encoding": "gzip"})
    assert (zipped.status_code, zipped.json()) == (400, answer.json())
    server.upload("keys", "object", b"x")
    for method, path, name in (("PATCH", "/storage/v1/b/keys", "labels"), ("PATCH", "/storage/v1/b/keys/o/object", "metadata"),
                               ("POST", "/storage/v1/b?project=p", "labels")):
        refused = ask(server, method, path, body.replace(b'"jobId":"a",', b"").replace(b"labels", name.encode()))
        assert refused.status_code == 400 and "More than 20000 values" in refused.text, (method, path, refused.text[:500])
    honest_client_is_served(server)


@pytest.mark.parametrize("make", [
    pytest.param(lambda: b'{"labels":{' + b",".join(b'"%d":""' % number for number in range(1_000_000)) + b"}}", id="keys"),
    pytest.param(lambda: b"[" * 50_000_000, id="nesting"),
    pytest.param(lambda: b'{"jobId":"' + b"x" * 50_000_000 + b'"}', id="one string"),
])
def test_a_gzip_bomb_of_json_is_not_unpacked(server, make):
    before = resident_bytes(server)
    answer = ask(server, "POST", "/v1/projects/p/jobs", gzip.compress(make()), **{"Content-Encoding": "gzip"})
    assert answer.status_code in (400, 413), answer.text
    honest_client_is_served(server)
    assert resident_bytes(server) - before < 200 * MIB


@pytest.mark.parametrize("body", [
    pytest.param('{"trainingInput":{"args":[' + ",".join(['""'] * 300_000) + "]}}", id="elements"),
    pytest.param("{a:[" + ",".join(["1"] * 300_000) + "]}", id="names without quotes"),
    pytest.param('{"jobId":' + "1" * 900_000 + "}", id="a long number"),
    pytest.param("{" + ",".join(['"x":1'] * 100_000) + "}", id="one name again and again"),
    pytest.param('{"trainingInput":{"scheduling":{"maxWaitTime":"' + "1" * 900_000 + 's"}}}', id="a long time"),
])
def test_json_of_other_bad_shapes(server, body):
    assert ask(server, "POST", "/v1/projects/p/jobs", body).status_code == 400
    honest_client_is_served(server)


@pytest.mark.parametrize("pattern", [
    pytest.param("a?" * 4000 + "a" * 4000, id="optional letters"),
    pytest.param(r"\pL{9}" * 2000, id="classes"),
    pytest.param(r"(\pL\pN\pM\pS){9}" * 150, id="groups"),
])
def test_patterns_that_take_long_to_compile(server, pattern):
    answer = requests.get(server.url + "/v1/projects/p/jobs", params={"filter": f'jobId=~"{pattern}"'}, timeout=WAIT_S)
    assert answer.status_code == 400 and "regular expressions of more than 2000 characters" in answer.text, answer.text[:500]
    honest_client_is_served(server)


@pytest.mark.parametrize("count, readers", [pytest.param(1000, 0, id="that nobody reads"), pytest.param(300, 300, id="that are read")])
def test_tails_beside_a_chatty_job(server, upload, count, readers):
    job_filter = 'resource.type="ml_job" AND resource.labels.job_id="chatty" AND timestamp>="1970-01-01T00:00:00Z"'
    path = requests.Request("GET", server.url + "/v2/entries:tail",
                            params={"resourceNames": "projects/p", "filter": job_filter}).prepare().path_url
    before = resident_bytes(server)
    with flood(server, count, head("GET", path)) as sockets:
        server.submit("chatty", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["count", "40000"])
        threads = [threading.Thread(target=drain, args=(opened, b"line 0039999"), daemon=True) for opened in sockets[:readers]]
        for thread in threads[:20]:  # these have to come to the end; the others hold their places
            thread.start()
        server.wait_for_text("chatty", "line 0002000")
        honest_client_is_served(server)
        server.wait("chatty")
        for thread in threads[:20]:
            thread.join(WAIT_S)
            assert not thread.is_alive(), "its tail did not reach the last line"
        honest_client_is_served(server)
        assert resident_bytes(server) - before < 700 * MIB


def drain(opened, until):
    kept = b""
    while until not in kept:
        got = opened.recv(1 << 20)
        if not got:
            return
        kept = kept[-len(until):] + got


def test_programs_of_users_keep_the_limit_of_descriptors(make_server, upload):
    """Ours is raised; some programs cannot use more than 1,024."""
    def low():
        resource.setrlimit(resource.RLIMIT_NOFILE, (900, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    server = make_server("--loop-turn-max", str(TURN_MAX_MS), preexec=low)
    with open(f"/proc/{server.process.pid}/limits", encoding="ascii") as file:
        limits = file.read()
    assert int(re.search(r"Max open files\s+(\d+)", limits)[1]) > 900
    server.submit("limits", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["descriptors"])
    server.wait_for_text("limits", "DESCRIPTORS 900")


def test_a_stall_is_named(make_server):
    """With a limit of 1 ms there is always something that takes longer."""
    server = make_server("--loop-turn-max", "1")
    body = json.dumps({"jobId": "a", "trainingInput": {"args": ["x"] * 15_000}})

    def named():
        ask(server, "POST", "/v1/projects/p/jobs", body)
        return metrics(server).get('trainyard_loop_stalls_total{cause="POST /v1/projects/{project}/jobs"}')

    assert wait_for(named, lambda: str(metrics(server))) >= 1
    assert re.search(r"WARNING the loop stood still for \d+ ms in POST /v1/projects/\{project\}/jobs", server.stderr())
    assert subprocess.run([PROGRAM, "serve", "--data", str(server.data) + "x", "--loop-turn-max", "0"], capture_output=True,
                          env=os.environ).returncode != 0
