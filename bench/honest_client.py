#!/usr/bin/env python3
"""A client within all limits: sends requests at a steady pace and notes how long each answer takes, in a process of its
own.

usage: honest_client.py KIND PORT SECONDS [BODY]      kinds: get, create, upload
BODY: what create sends; {n} becomes a number.

A request's time begins when it was due, so that those which had to wait behind a slow one count too. Every
fifth request opens a connection, as a command line tool does. Prints one line of JSON: times in seconds, and
how many were refused: another status than 200, or no answer in WAIT_S."""

import http.client
import json
import sys
import time

PER_S = {"get": 50, "create": 50, "upload": 20}
FRESH_EVERY = 5
WAIT_S = 30
JOB = "blocker"
BUCKET = "floods"


def request_of(kind, number, body):
    if kind == "get":
        return "GET", f"/v1/projects/p/jobs/{JOB}", None
    if kind == "create":
        return "POST", "/v1/projects/p/jobs", body.replace("{n}", str(number))
    return "POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=honest", "x"


class Client:
    def __init__(self, port):
        self.port, self.connection = port, None

    def ask(self, method, path, body):
        """The status; 0 where there was no answer. A connection that was kept may have been closed meanwhile:
        then once more, by a new one, as all clients do."""
        kept = self.connection is not None
        try:
            self.connection = self.connection or http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=WAIT_S
            )
            self.connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            answer = self.connection.getresponse()
            answer.read()
            return answer.status
        except ConnectionError:
            self.close()
            return self.ask(method, path, body) if kept else 0
        except (OSError, http.client.HTTPException):
            self.close()
            return 0

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


def main():
    kind, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    body = sys.argv[4] if len(sys.argv) > 4 else ""
    client, times, refused = Client(port), [], 0
    client.ask("GET", "/healthz", None)
    begin = time.monotonic()
    for number in range(int(seconds * PER_S[kind])):
        due = begin + number / PER_S[kind]
        time.sleep(max(0, due - time.monotonic()))
        if time.monotonic() > begin + seconds:  # the flood is over, and this one had not even its turn
            times.append(time.monotonic() - due)
            continue
        if number % FRESH_EVERY == 0:
            client.close()
        status = client.ask(*request_of(kind, number, body))
        if status in (200, 409):  # 409: the first of two attempts had arrived
            times.append(time.monotonic() - due)
        else:
            refused += 1
    print(json.dumps({"times": times, "refused": refused}))


if __name__ == "__main__":
    main()
