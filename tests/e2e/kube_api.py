"""Requests to the API server of the tests' own Kubernetes, as its administrator."""

import http.client
import json
import ssl
import threading

TIMEOUT_S = 30
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"  # lists of conditions and containers are merged by their names


class KubeApi:
    """Any thread: each has a connection of its own."""

    def __init__(self, port, authority, token):
        """`authority`: the file with the certificate of who has signed the API server's."""
        self.port, self.token = port, token
        self.context = ssl.create_default_context(cafile=str(authority))
        self.local = threading.local()

    def connect(self, timeout=TIMEOUT_S):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=timeout)

    def headers(self):
        return {"Authorization": "Bearer " + self.token}

    def call(self, method, path, body=None, kind=STRATEGIC):
        """(status, the answer as an object); OSError: nobody answered. `kind`: of a PATCH."""
        kept = getattr(self.local, "connection", None)
        for connection in ([kept] if kept else []) + [self.connect()]:  # the server may have closed the kept one
            self.local.connection = None
            headers = {**self.headers(), "Content-Type": kind if method == "PATCH" else "application/json"}
            try:
                connection.request(method, path, json.dumps(body) if body is not None else None, headers)
                answer = connection.getresponse()
                said = answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if connection is kept:
                    continue
                raise OSError(f"{method} {path}: {error!r}") from error
            self.local.connection = connection
            return answer.status, json.loads(said) if said.startswith(b"{") else {"text": said.decode(errors="replace")}
        raise AssertionError("there is always a new connection")

    def must(self, method, path, body=None, kind=STRATEGIC):
        """The answer; the request has to succeed."""
        status, answer = self.call(method, path, body, kind)
        assert status < 300, (method, path, status, answer)
        return answer

    def watch(self, path, version):
        """Yields the events since the version, until the server ends the watch. OSError: it is lost."""
        connection = self.connect()
        try:
            connection.request("GET", f"{path}&watch=1&allowWatchBookmarks=true&timeoutSeconds=20&resourceVersion={version}", headers=self.headers())
            answer = connection.getresponse()
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise OSError(f"{path}: {event['object']}")
                yield event
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"{path}: {error!r}") from error
        finally:
            connection.close()
