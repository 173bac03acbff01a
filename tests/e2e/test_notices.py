"""Notices about jobs: a webhook with a signature, e-mail, tries after failures, and a server that is killed in between."""

import base64
import contextlib
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import queue
import socketserver
import ssl
import subprocess
import threading
from typing import Any

import pytest

SECRET = "a secret of the operator"


class Hook(http.server.ThreadingHTTPServer):
    """Keeps what is posted; answers with the next of `answers`, then with 200."""

    def __init__(self, answers=(), port=0):
        self.got, self.answers = queue.Queue(), list(answers)
        super().__init__(("127.0.0.1", port), _Request)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/in?key=1"


class _Request(http.server.BaseHTTPRequestHandler):
    server: Any

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(answer)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.got.put((answer, self.path, self.headers, body))

    def log_message(self, *_):
        pass


class MailServer(socketserver.ThreadingTCPServer):
    """As much of SMTP as a client needs; with a TLS context it offers STARTTLS, and after that a login."""

    daemon_threads = True

    def __init__(self, tls=None):
        self.mails, self.tls = queue.Queue(), tls
        super().__init__(("127.0.0.1", 0), _Session)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Session(socketserver.StreamRequestHandler):
    server: Any

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        self.say("220 mail.test ready")
        envelope = []
        while line := self.rfile.readline():
            words = line.decode().strip()
            if words.startswith("EHLO"):
                is_tls = isinstance(self.request, ssl.SSLSocket)
                self.say("250-mail.test")
                self.say("250 AUTH LOGIN PLAIN" if is_tls else "250 STARTTLS" if self.server.tls else "250 8BITMIME")
            elif words == "STARTTLS":
                self.say("220 go ahead")
                self.request = self.server.tls.wrap_socket(self.request, server_side=True)
                self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", 0)
            elif words == "DATA":
                self.say("354 go on")
                text = b""
                while (part := self.rfile.readline()) != b".\r\n":
                    text += part
                self.server.mails.put((envelope, email.message_from_bytes(text, policy=email.policy.default)))
                self.say("250 kept")
            elif words == "QUIT":
                self.say("221 bye")
                return
            else:
                envelope.append(words)
                self.say("235 ok" if words.startswith("AUTH") else "250 ok")


@pytest.fixture
def serving():
    with contextlib.ExitStack() as stack:

        def keep(server):
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return server

        yield keep


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET + "\n")
    return f"--notify-secret-file={path}"


def drain(server):
    """From now on nothing starts: jobs end, or wait, at once."""
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok


def cancelled(server, upload, job_id, **labels):
    uri = upload(server, "probe")
    body = {"jobId": job_id, "labels": labels, "trainingInput": {"region": "us-central1", "packageUris": [uri], "pythonModule": "a.b"}}
    answer = server.request("POST", "/v1/projects/p/jobs", json=body)
    if answer.ok:
        server.cancel(job_id)
        server.wait(job_id)
    return answer


def test_a_failed_and_a_succeeded_job_are_told(make_server, serving, secret, upload):
    hook = serving(Hook())
    server = make_server("--notify", f"ops={hook.url} events=failed,succeeded", secret)
    for words in (["exit", "3"], ["print", "done"]):
        server.submit("job_" + words[0], packageUris=[upload(server, "probe")], pythonModule="probe.task", args=words)
    told = [hook.got.get(timeout=60) for _ in range(2)]
    notices = {json.loads(body)["jobId"]: json.loads(body) for _, _, _, body in told}
    assert {name: (notice["event"], notice["state"]) for name, notice in notices.items()} == {
        "job_exit": ("failed", "FAILED"), "job_print": ("succeeded", "SUCCEEDED")}
    job = server.get("job_exit")
    assert notices["job_exit"]["errorMessage"] == job["errorMessage"] and notices["job_exit"]["endTime"] == job["endTime"]
    for _, path, headers, body in told:
        assert path == "/in?key=1"
        signed = headers["X-Trainyard-Timestamp"].encode() + b"." + body
        assert headers["X-Trainyard-Signature"] == "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()


def test_a_destination_that_answers_500_twice_is_told_at_the_third_try(make_server, serving, secret, upload):
    hook = serving(Hook([500, 500]))
    server = make_server("--notify", f"ops={hook.url}", secret)
    drain(server)
    cancelled(server, upload, "a")
    tries = [hook.got.get(timeout=60) for _ in range(3)]
    assert [answer for answer, *_ in tries] == [500, 500, 200]
    assert len({body for *_, body in tries}) == 1
    counted = server.request("GET", "/metrics").text
    assert 'trainyard_notices_total{outcome="failed"} 2' in counted and 'trainyard_notices_total{outcome="given_up"} 0' in counted
    assert "answered 500. It is tried again for 24 hours" in server.stderr()


def test_a_killed_server_tells_later_and_once(make_server, serving, secret, upload):
    closed = Hook()
    closed.shutdown()
    closed.server_close()
    server = make_server("--notify", f"ops={closed.url}", secret)
    drain(server)
    cancelled(server, upload, "a")
    server.kill()
    hook = serving(Hook(port=closed.server_port))
    server.start()
    _, _, _, body = hook.got.get(timeout=60)
    assert json.loads(body)["event"] == "cancelled"
    cancelled(server, upload, "b")
    _, _, _, body = hook.got.get(timeout=60)
    assert json.loads(body)["jobId"] == "b" and hook.got.empty()


def test_mail_says_what_a_job_waits_for(make_server, serving, upload):
    mails = serving(MailServer())
    server = make_server("--notify", "team=mailto:team@example.com events=waiting", "--notify-after", "1s",
                         "--smtp-server", f"smtp://127.0.0.1:{mails.server_address[1]}", "--smtp-from", "trainyard@example.com")
    drain(server)
    server.submit("a", packageUris=[upload(server, "probe")], pythonModule="probe.task")
    envelope, mail = mails.mails.get(timeout=60)
    assert envelope == ["MAIL FROM:<trainyard@example.com>", "RCPT TO:<team@example.com>"]
    assert mail["Subject"] == "Job a still waits to start (project p)"
    assert "drain" in mail.get_content() and "/ui/p/p/jobs/a" in mail.get_content()
    server.cancel("a")


def test_mail_with_a_password_goes_over_tls(make_server, serving, upload, tmp_path, monkeypatch):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=mail", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    (tmp_path / "password").write_text("secret\n")
    mails = serving(MailServer(tls))
    server = make_server("--notify", "team=mailto:team@example.com", "--smtp-server", f"smtp://robot@127.0.0.1:{mails.server_address[1]}",
                         "--smtp-from", "trainyard@example.com", "--smtp-password-file", str(tmp_path / "password"))
    drain(server)
    cancelled(server, upload, "a")
    envelope, mail = mails.mails.get(timeout=60)
    assert envelope[0] == "AUTH PLAIN " + base64.b64encode(b"\0robot\0secret").decode()
    assert mail["Subject"] == "Job a was cancelled (project p)"


def test_a_job_chooses_a_destination_by_its_label(make_server, serving, secret, upload, tmp_path):
    pager, other = serving(Hook()), serving(Hook())
    server = make_server("--notify", f"pager={pager.url} jobs=named", "--notify", f"other={other.url} projects=q", secret)
    drain(server)
    refused = cancelled(server, upload, "c", **{"trainyard-notify": "other"})
    assert refused.status_code == 400 and "Destinations of the project: pager." in refused.text
    cancelled(server, upload, "a")
    cancelled(server, upload, "b", **{"trainyard-notify": "pager"})
    *_, body = pager.got.get(timeout=60)
    assert json.loads(body)["jobId"] == "b" and json.loads(body)["labels"] == {"trainyard-notify": "pager"}
    patched = server.request("PATCH", "/v1/projects/p/jobs/b", params={"updateMask": "labels"}, json={"labels": {"trainyard-notify": "pager"}})
    assert patched.ok, patched.text  # a job that changes after its end is not told again
    (tmp_path / "run").mkdir()
    (tmp_path / "run/train.py").write_text("")
    sent = server.trainyard("run", "--async", "--notify", "pager", "--name", "d", str(tmp_path / "run/train.py"))
    assert sent.returncode == 0, sent.stderr
    server.cancel("d")
    *_, body = pager.got.get(timeout=60)
    assert json.loads(body)["jobId"] == "d"
    assert pager.got.empty() and other.got.empty()
