"""Thousands of requests made from the discovery documents: the server answers every one of them, none with a 5xx, and every error
is one that google-api-python-client can show. TRAINYARD_REQUEST_SEED makes others."""

import http.client
import json
import os

import httplib2
from googleapiclient.errors import HttpError

from request_generator import Generator

COUNT = 10_000 if os.environ.get("TRAINYARD_LONG") else 2_000  # ./dev test --long
REFRESH = 100  # requests, after which the objects that they ask for are put back
SHOWN_MAX = 20
NAMES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}


class Connection:
    """One kept-alive connection; a new one only after the server said that it closes."""

    def __init__(self, url):
        self.address = url.removeprefix("http://")
        self.connection = http.client.HTTPConnection(self.address, timeout=30)
        self.opened = 1

    def send(self, request):
        self.connection.putrequest(request.verb, request.target, skip_accept_encoding=True)
        for name, value in request.headers.items():
            self.connection.putheader(name, value)
        if request.body or request.verb in ("POST", "PUT", "PATCH"):
            self.connection.putheader("Content-Length", str(len(request.body)))
        self.connection.endheaders(request.body or None)
        response = self.connection.getresponse()
        body = response.read()
        if response.will_close:
            self.connection.close()
            self.connection = http.client.HTTPConnection(self.address, timeout=30)
            self.opened += 1
        return response, body


def wrong(request, response, body):
    """What is wrong with an answer; None if nothing is."""
    if response.status >= 500:
        return f"{response.status}"
    if response.status < 400 or request.verb == "HEAD":
        return None
    if request.headers.get("X-HTTP-Method-Override") == "HEAD" and not body:
        return None
    try:
        error = json.loads(body)["error"]
        assert error["code"] == response.status, "the code is not the status"
        assert error["message"].strip(), "no message"
        assert "status" in error or "errors" in error, "neither status nor errors"
        if "status" in error and error["code"] in NAMES and error["status"] != NAMES[error["code"]]:
            assert (error["code"], error["status"]) == (400, "FAILED_PRECONDITION"), "the status is not that of the code"
        shown = HttpError(httplib2.Response({"status": str(response.status), "reason": response.reason}), body, uri=request.target)
        assert shown.reason == error["message"].strip(), f"shown as {shown.reason!r}"
        str(shown)
    except Exception as mistake:
        return f"{response.status} {type(mistake).__name__} {mistake}"
    return None


def put_back(server, upload):
    """Some of the requests delete what others ask for."""
    server.upload("bucket", "object", b"content")
    server.upload("bucket", "a/b", b"content")
    studies = "/v1/projects/p/locations/us-central1/studies"
    study = {"studyConfig": {"metrics": [{"metric": "m"}], "parameters": [
        {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}}]}}
    server.request("POST", studies, params={"studyId": "known"}, json=study)
    server.request("POST", f"{studies}/known/trials:suggest", json={"clientId": "c", "suggestionCount": 2})
    return upload(server, "probe")


def test_every_request_is_answered(server, upload):
    program = {"region": "us-central1", "packageUris": [put_back(server, upload)], "pythonModule": "probe.task", "args": ["print", "x"]}
    server.submit("known", **program)
    server.wait("known")
    seed = int(os.environ.get("TRAINYARD_REQUEST_SEED", "1"))
    generator, connection = Generator(seed, {"trainingInput": program}), Connection(server.url)
    statuses, mistakes = {}, []
    for number in range(COUNT):
        if number % REFRESH == 0:
            put_back(server, upload)
        request = generator.next()
        try:
            response, body = connection.send(request)
            statuses[response.status] = statuses.get(response.status, 0) + 1
            mistake = wrong(request, response, body)
            if mistake:
                mistake += f" {body[:300]!r}"
        except (http.client.HTTPException, OSError) as failure:
            mistake = f"dropped: {failure!r}"
            connection = Connection(server.url)
        if mistake:
            mistakes.append(f"{number}: {mistake}\n    {request}")
    print("seed", seed, "statuses", dict(sorted(statuses.items())), "connections", connection.opened)
    assert not mistakes, f"seed {seed}: {len(mistakes)} of {COUNT}\n" + "\n".join(mistakes[:SHOWN_MAX])
    assert server.process.poll() is None and server.request("GET", "/healthz").ok
    # The generator is worth something only while it gets through to the methods.
    assert statuses.get(200, 0) > COUNT / 20 and statuses.get(400, 0) > COUNT / 10 and statuses.get(404, 0) > COUNT / 20, statuses
    assert connection.opened < COUNT / 100, "refusals should leave the connection usable"
