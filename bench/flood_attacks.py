#!/usr/bin/env python3
"""One flood against a server on loopback, in a process of its own, for so many seconds.

usage: flood_attacks.py NAME PORT SECONDS       names: those of FLOODS

Prints `begun` when it sends its first byte, and at the end one line of JSON: connections opened, those that
the server closed, and its answers by status. Everything is bounded: connections, how many are opened in a
second, time."""

import gzip
import http.client
import json
import os
import select
import socket
import sys
import threading
import time
import urllib.parse

OPENS_PER_S = 1_000
PRIORITY = (
    10  # the other processes get the processors first: what is measured is the server, not this program
)
BUCKET = "floods"
DEEP_BUCKET = "floods-deep"
HUGE_FILES = ("huge-0", "huge-1")
CHATTY_JOB = "blocker"
GLOB_CLIENTS = 4
JSON_CLIENTS = 4
KEYS = 75_000  # a body of about 900 KB: a job may have 1 MiB
# Every state of the pattern is alive for every character of every name, and no name matches. 64 alternatives.
GLOB = "{a,a}{a,a}{a,a}{a,a}{a,a}{a,a}" + "**/a" * 200 + "**/no"


class Tally:
    """The result of the flood. Shared by threads: a lost count does no harm."""

    def __init__(self):
        self.opened = self.closed = 0
        self.answers = {}

    def answer(self, status):
        self.answers[status] = self.answers.get(status, 0) + 1

    def print(self):
        print(json.dumps({"opened": self.opened, "closed": self.closed, "answers": self.answers}), flush=True)


class Connections:
    """A number of connections, each with its opening bytes, then `drip` every second; a closed one is opened again.
    What the server sends is read and dropped."""

    def __init__(self, tally, port, count, opening, drip=b""):
        self.tally, self.port, self.count, self.opening, self.drip = tally, port, count, opening, drip
        self.open = {}  # descriptor -> (socket, drips)
        self.silent = set()  # descriptors of those that had no answer yet
        self.poll = select.epoll()

    def run(self, end):
        begun = next_drip = time.monotonic()
        while (now := time.monotonic()) < end:
            allowed = int((now - begun + 0.1) * OPENS_PER_S) - self.tally.opened
            for _ in range(min(self.count - len(self.open), allowed)):
                self.connect()
            for descriptor, events in self.poll.poll(0.02):
                if events & select.EPOLLOUT:
                    self.begin(descriptor)
                if events & ~select.EPOLLOUT:
                    self.read(descriptor)
            if self.drip and now >= next_drip:
                next_drip += 1
                for descriptor in list(self.open):
                    self.send(descriptor, self.drip)

    def connect(self):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.port))
        self.open[connection.fileno()] = connection
        self.silent.add(connection.fileno())
        self.poll.register(connection.fileno(), select.EPOLLIN | select.EPOLLOUT)
        self.tally.opened += 1

    def begin(self, descriptor):
        self.poll.modify(descriptor, select.EPOLLIN)
        self.send(descriptor, self.opening(self.tally.opened))

    def send(self, descriptor, data):
        try:
            self.open[descriptor].send(data)
        except BlockingIOError:
            pass  # it does not read: as good
        except OSError:
            self.close(descriptor)

    def read(self, descriptor):
        if descriptor not in self.open:
            return
        try:
            data = self.open[descriptor].recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if descriptor in self.silent and data.startswith(b"HTTP/1.1 "):
            self.silent.discard(descriptor)
            self.tally.answer(data[9:12].decode())
        if not data:
            self.close(descriptor)

    def close(self, descriptor):
        self.open.pop(descriptor).close()
        self.silent.discard(descriptor)
        self.tally.closed += 1


def head(method, path, **fields):
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def idle(tally, port, end):
    Connections(tally, port, 2_000, lambda number: b"").run(end)


def slow_loris(tally, port, end):
    """Heads that never end, a byte a second each."""
    opening = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    Connections(tally, port, 500, lambda number: opening, b"x").run(end)


def tiny_uploads(tally, port, end):
    """Uploads that announce a megabyte, send ten bytes and stall: half of them simple, half resumable."""
    path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType="
    sessions = []
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for number in range(500):
        client.request(
            "POST", f"{path}resumable&name=tiny-{number}", b"{}", {"Content-Type": "application/json"}
        )
        answer = client.getresponse()
        answer.read()
        sessions.append(
            urllib.parse.urlsplit(str(answer.getheader("Location")))._replace(scheme="", netloc="").geturl()
        )

    def opening(number):
        fields = {"Content_Length": 1_000_000, "Content_Type": "application/octet-stream"}
        if number % 2:
            return head("POST", f"{path}media&name=tiny-{number}", **fields) + b"0123456789"
        return head("PUT", sessions[number // 2 % len(sessions)], **fields) + b"0123456789"

    Connections(tally, port, 1_000, opening).run(end)


def tails(tally, port, end):
    """All of one job that prints much."""
    query = urllib.parse.urlencode(
        {
            "resourceNames": "projects/p",
            "filter": f'resource.labels.job_id="{CHATTY_JOB}" AND timestamp>="1970-01-01T00:00:00Z"',
        }
    )
    opening = head("GET", f"/v2/entries:tail?{query}")
    Connections(tally, port, 1_000, lambda number: opening).run(end)


def repeat(tally, port, end, requests):
    """One client for each request; each asks again as soon as it has its answer."""

    def ask(method, path, body, fields):
        while time.monotonic() < end:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            tally.opened += 1
            try:
                client.request(method, path, body, fields)
                answer = client.getresponse()
                answer.read()
                tally.answer(str(answer.status))
            except OSError:
                tally.closed += 1
            finally:
                client.close()

    for request in requests:
        threading.Thread(target=ask, args=request, daemon=True).start()
    time.sleep(end - time.monotonic())


def hashing(tally, port, end):
    """The checksums of files that were put into a bucket's folder by hand."""
    repeat(tally, port, end, [("GET", f"/storage/v1/b/{BUCKET}/o/{name}", None, {}) for name in HUGE_FILES])


def deep_globs(tally, port, end):
    query = urllib.parse.urlencode({"matchGlob": GLOB, "maxResults": 1000})
    repeat(tally, port, end, [("GET", f"/storage/v1/b/{DEEP_BUCKET}/o?{query}", None, {})] * GLOB_CLIENTS)


def many_keys(tally, port, end):
    """Creates with as many labels as a body holds; every second client sends them packed."""
    labels = {f"k{number}": "" for number in range(KEYS)}
    body = json.dumps({"jobId": "keys", "labels": labels}, separators=(",", ":")).encode()
    fields = {"Content-Type": "application/json"}
    plain = ("POST", "/v1/projects/p/jobs", body, fields)
    packed = ("POST", "/v1/projects/p/jobs", gzip.compress(body), fields | {"Content-Encoding": "gzip"})
    repeat(tally, port, end, [plain, packed] * (JSON_CLIENTS // 2))


FLOODS = {  # by name: what it is, and what does it
    "idle": ("2,000 idle connections", idle),
    "slow-loris": ("500 heads, a byte a second", slow_loris),
    "tiny-uploads": ("1,000 uploads that stall", tiny_uploads),
    "tails": ("1,000 tails of a chatty job", tails),
    "hashing": ("checksums of two 12 GiB files", hashing),
    "deep-globs": ("4 deep globs", deep_globs),
    "many-keys": (f"4 creates of {KEYS:,} keys", many_keys),
}


def main():
    name, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    os.nice(PRIORITY)
    tally = Tally()
    print("begun", flush=True)
    FLOODS[name][1](tally, port, time.monotonic() + seconds)
    tally.print()
    os._exit(0)  # clients may still wait for an answer


if __name__ == "__main__":
    main()
