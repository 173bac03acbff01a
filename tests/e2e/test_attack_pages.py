"""A web page in the user's browser attacks the server: by DNS rebinding, by requests across sites, by its WebSocket, by pages that it
leaves in a bucket. Programs send neither Origin nor Sec-Fetch-Site, and go on working."""

import json
import socket

import pytest
import requests
import websocket

EVIL = "https://evil.example"
CROSS_SITE = {"Origin": EVIL, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
NAVIGATION = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}  # a link or an image: no Origin
JOBS = "/v1/projects/p/jobs"
JOB = {"jobId": "evil", "trainingInput": {"region": "us-central1", "packageUris": ["gs://bucket/evil.tar.gz"], "pythonModule": "evil.task"}}


def assert_refused(answer, status=403):
    assert answer.status_code == status, (answer.status_code, answer.text)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return answer.json()["error"]["message"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.evil.example:{port}", "127.0.0.1.evil.example",
                                  "localhost.evil.example:{port}", "0.0.0.0:{port}", "storage.googleapis.com"])
def test_a_rebound_name_reaches_nothing(server, host):
    """The browser believes that the page's own name has our address: same origin, so neither Origin nor Sec-Fetch-Site tells."""
    headers = {"Host": host.format(port=server.url.rsplit(":", 1)[1]), "Sec-Fetch-Site": "same-origin"}
    for path in (JOBS, "/storage/v1/b?project=p", "/metrics", "/$discovery/rest?version=v1", "/", "/healthz"):
        message = assert_refused(server.request("GET", path, headers=headers))
        assert "--host-name" in message
    assert_refused(server.request("POST", JOBS, json=JOB, headers=headers))


def test_a_request_without_a_host_is_refused(server):
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as client:
        client.sendall(f"GET {JOBS} HTTP/1.0\r\n\r\n".encode())
        assert client.recv(4096).startswith(b"HTTP/1.1 403 ")


def test_names_of_this_machine_and_given_ones_are_answered(make_server):
    server = make_server("--host-name", "Train.example.com")
    port = server.url.rsplit(":", 1)[1]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "LOCALHOST", f"ml.localhost:{port}", f"[::1]:{port}", f"127.9.9.9:{port}",
                 "train.example.com", f"TRAIN.example.com:{port}"):
        assert server.request("GET", JOBS, headers={"Host": host}).status_code == 200, host
    assert_refused(server.request("GET", JOBS, headers={"Host": "evil.train.example.com"}))


def test_pages_of_other_sites_write_nothing(server):
    """What ran code before: an upload as text/plain, which needs no leave of ours, and the job that runs it."""
    text = {**CROSS_SITE, "Content-Type": "text/plain"}
    upload = {"uploadType": "media", "name": "evil.tar.gz"}
    assert_refused(server.request("POST", "/upload/storage/v1/b/bucket/o", params=upload, data=b"x", headers=text))
    assert_refused(server.request("POST", "/upload/storage/v1/b/bucket/o", params=upload, data=b"x", headers={**text, "Origin": "null"}))
    assert_refused(server.request("POST", JOBS, data=json.dumps(JOB), headers=text))
    assert_refused(server.request("POST", "/storage/v1/b?project=p", data='{"name": "evil-bucket"}', headers=text))
    batch = {**CROSS_SITE, "Content-Type": "multipart/mixed; boundary=b"}
    part = f"--b\r\nContent-Type: application/http\r\n\r\nPOST {JOBS} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{json.dumps(JOB)}\r\n--b--"
    assert_refused(server.request("POST", "/batch/ml/v1", data=part, headers=batch))
    assert server.request("GET", "/storage/v1/b?project=p").json().get("items", []) == []
    assert server.request("GET", JOBS).json().get("jobs", []) == []


def test_pages_of_other_sites_change_nothing_that_is_there(server, upload):
    uri = upload(server, "probe")
    server.submit("honest", packageUris=[uri], pythonModule="probe.task", args=["forever"])
    for headers in (CROSS_SITE, {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}, {"Origin": "null"}, NAVIGATION):
        assert_refused(server.request("POST", JOBS + "/honest:cancel", headers=headers))
        assert_refused(server.request("POST", "/storage/v1/b/packages/o/probe.tar.gz/moveTo/o/gone", headers=headers))
        assert_refused(server.request("DELETE", "/storage/v1/b/packages/o/probe.tar.gz", headers=headers))
        form = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        assert_refused(server.request("POST", JOBS + "/honest:cancel", data="a=b", headers=form))
        assert_refused(server.request("POST", JOBS, data="a=b", headers={**form, "X-HTTP-Method-Override": "GET"}))
    assert server.get("honest")["state"] in ("QUEUED", "PREPARING", "RUNNING")
    server.cancel("honest")
    server.wait("honest")


def test_pages_of_other_sites_read_nothing_but_what_is_public(server):
    server.upload("bucket", "page.html", b"<script>alert(1)</script>")
    for headers in (CROSS_SITE, NAVIGATION, {"Origin": EVIL}, {"Sec-Fetch-Site": "same-site"}):
        for path in (JOBS, JOBS + "/none", "/storage/v1/b/bucket/o", "/storage/v1/b/bucket/o/page.html?alt=media",
                     "/download/storage/v1/b/bucket/o/page.html",
                     "/metrics", "/v2/entries:tail", "/trainyard/v1/projects/p/jobs/none", "/computeMetadata/v1/project/project-id"):
            assert_refused(server.request("GET", path, headers=headers))
        for path in ("/", "/healthz", "/$discovery/rest?version=v1", "/discovery/v1/apis", "/discovery/v1/apis/ml/v1/rest"):
            answer = server.request("GET", path, headers=headers)
            assert answer.status_code == 200 and "Access-Control-Allow-Origin" not in answer.headers


def test_a_page_of_the_servers_own_may_ask(server):
    own = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    assert server.request("GET", JOBS, headers=own).status_code == 200
    assert server.request("POST", "/storage/v1/b?project=p", json={"name": "own-bucket"}, headers=own).status_code == 200
    assert server.request("GET", JOBS, headers={"Sec-Fetch-Site": "none"}).status_code == 200, "typed by the user"


def test_json_methods_want_json(server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", None):
        headers = {"Content-Type": kind} if kind else {}
        for path, body in ((JOBS, JOB), ("/storage/v1/b?project=p", {"name": "plain-bucket"}), ("/v2/entries:list", {})):
            message = assert_refused(server.request("POST", path, data=json.dumps(body).encode(), headers=headers), 400)
            assert "Content-Type" in message
    assert server.request("GET", "/storage/v1/b?project=p").json().get("items", []) == []
    # What clients send for a GET whose URL would be too long.
    long_query = {"X-HTTP-Method-Override": "GET", "Content-Type": "application/x-www-form-urlencoded"}
    assert server.request("POST", JOBS, data="pageSize=5", headers=long_query).status_code == 200
    # Without a body there is nothing to say.
    assert server.request("POST", JOBS + "/none:cancel", headers={"Content-Type": "text/plain"}).status_code == 404


def test_the_shell_is_for_no_foreign_page(server, upload):
    server.submit("open", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
    server.wait("open", lambda job: job["state"] == "RUNNING")
    uri = server.get("open")["trainingOutput"]["webAccessUris"]["master-replica-0"].replace("http://", "ws://")
    for origin in (EVIL, "null", "http://localhost:3000", "http://127.0.0.1"):
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            websocket.create_connection(uri, timeout=60, origin=origin)
        assert refused.value.status_code == 403, origin
    for options in ({"suppress_origin": True}, {"origin": server.url}):
        websocket.create_connection(uri, timeout=60, **options).close()
    answer = server.request("GET", uri.replace("ws://", "http://").removeprefix(server.url))
    assert answer.headers["Cache-Control"] == "no-store"
    assert server.request("GET", JOBS + "/open").headers["Cache-Control"] == "no-store"
    server.cancel("open")
    server.wait("open")


TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"


def test_a_token_is_for_who_asks_as_a_google_client_does(server):
    assert_refused(server.request("GET", TOKEN))
    assert_refused(server.request("GET", TOKEN, headers={"Metadata-Flavor": "Google", **CROSS_SITE}))
    answer = server.request("GET", TOKEN, headers={"Metadata-Flavor": "Google"})
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"


def test_the_front_answers_under_googles_names_alone(server):
    place = server.front()
    if not place:
        pytest.skip("the front has no address here")
    front = f"http://{place[0]}:{place[2]}"

    def ask(host, **headers):
        return requests.get(front + TOKEN, headers={"Host": host, "Metadata-Flavor": "Google", **headers}, timeout=60)

    try:
        assert ask("metadata.google.internal").status_code == 200
    except requests.ConnectionError:
        pytest.skip("the front has no port 80 here")
    assert_refused(ask("evil.example"))
    assert_refused(ask("metadata.google.internal.evil.example"))
    assert_refused(ask("metadata.google.internal", **CROSS_SITE))


def test_every_answer_tells_browsers_not_to_guess(server):
    server.upload("bucket", "page", b"<script>alert(1)</script>")
    for path in (JOBS, "/none", "/healthz", "/storage/v1/b/bucket/o/page?alt=media", "/storage/v1/b/absent", "/$discovery/rest"):
        assert server.request("GET", path).headers["X-Content-Type-Options"] == "nosniff", path
