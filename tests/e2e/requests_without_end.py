"""Runs beside a server that is restarted: asks until a line comes on stdin, then prints what came of it as JSON.

requests_without_end.py HOST PORT: two clients with a new connection for each request, two that keep theirs. Only Python's own library."""

import http.client
import json
import sys
import threading


class Clients:
    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.counts = {"answered": 0, "refused": 0, "cut": 0, "failed": 0}
        self.lock = threading.Lock()
        self.done = threading.Event()

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def ask(self, keep: bool) -> None:
        connection = None
        while not self.done.is_set():
            connection = connection or http.client.HTTPConnection(self.host, self.port, timeout=60)
            try:
                connection.request("GET", "/healthz")
                answer = connection.getresponse()
                answer.read()
                self.count("answered" if answer.status == 200 else "failed")
                if keep and answer.getheader("Connection", "").lower() != "close":
                    continue
            except ConnectionRefusedError:
                self.count("refused")
            except (OSError, http.client.HTTPException):
                self.count("cut")
            connection.close()
            connection = None


def main() -> None:
    clients = Clients(sys.argv[1], int(sys.argv[2]))
    threads = [threading.Thread(target=clients.ask, args=(number % 2 == 1,)) for number in range(4)]
    for thread in threads:
        thread.start()
    sys.stdin.readline()
    clients.done.set()
    for thread in threads:
        thread.join()
    print(json.dumps(clients.counts))


if __name__ == "__main__":
    main()
