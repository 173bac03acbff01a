"""One kept-alive connection, with little between the test and the socket: for tests that ask many thousand times."""

import re
import socket
from dataclasses import dataclass

STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) ")
LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
CHUNKED = re.compile(rb"(?i)\r\ntransfer-encoding: *chunked")
CLOSES = re.compile(rb"(?i)\r\nconnection: *close")
NO_BODY = (204, 304)


@dataclass
class Answer:
    status: int
    head: bytes
    body: bytes


class KeptConnection:
    """To an http:// server. A new connection is made when the server has closed the one before."""

    def __init__(self, url, source=None, name=None):
        """`url`: or the path of a socket, with the `name` of the host. `source`: the address that it comes from, such as 127.0.0.9."""
        text = str(url)
        self.address: str | tuple[str, int] = text
        if text.startswith("http://"):
            name = text.removeprefix("http://")
            host, port = name.split(":")
            self.address = (host, int(port))
        self.host = name.encode()
        self.source = (source, 0) if source else None
        self.socket = None
        self.opened = 0
        self.left = b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.left = None, b""

    def ask(self, method, target, token="", body=b"", headers=(), stream=False):
        """`stream`: the answer has no end; its head is enough."""
        lines = [f"{method} {target} HTTP/1.1".encode("latin-1", "replace"), b"Host: " + self.host]
        if token:
            lines.append(b"Authorization: Bearer " + (token if isinstance(token, bytes) else token.encode()))
        lines += [f"{name}: {value}".encode() for name, value in headers]
        if body or method in ("POST", "PUT", "PATCH"):
            lines.append(b"Content-Length: %d" % len(body))
        request = b"\r\n".join(lines) + b"\r\n\r\n" + body
        if self.socket is None:
            self._open()
        try:
            self.socket.sendall(request)
            return self._answer(method, stream)
        except (ConnectionError, EOFError):
            self.close()
            self._open()  # it was idle for too long, or a refusal closed it
            self.socket.sendall(request)
            return self._answer(method, stream)

    def _open(self):
        if isinstance(self.address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(60)
            self.socket.connect(self.address)
        else:
            self.socket = socket.create_connection(self.address, timeout=60, source_address=self.source)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.opened += 1
        self.left = b""

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError("the server closed the connection before its answer")
        self.left += data

    def _answer(self, method, stream):
        while b"\r\n\r\n" not in self.left:
            self._more()
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        head += b"\r\n"
        status = int(STATUS.match(head)[1])
        if stream and status == 200:
            self.close()
            return Answer(status, head, b"")
        body = b"" if method == "HEAD" or status in NO_BODY else self._body(head)
        if CLOSES.search(head):
            self.close()
        return Answer(status, head, body)

    def _body(self, head):
        if CHUNKED.search(head):
            return self._chunks()
        length = LENGTH.search(head)
        return self._take(int(length[1])) if length else b""

    def _take(self, size):
        while len(self.left) < size:
            self._more()
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def _chunks(self):
        body = b""
        while True:
            while b"\r\n" not in self.left:
                self._more()
            size, _, self.left = self.left.partition(b"\r\n")
            body += self._take(int(size.split(b";")[0], 16))
            self._take(2)
            if int(size.split(b";")[0], 16) == 0:
                return body
