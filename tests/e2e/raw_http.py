"""HTTP byte for byte, as no library would send it."""

import re
import socket
import ssl

import pytest


def converse(server, request):
    """All that comes back until the server closes; our side is closed once everything is sent."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        said = b""
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while data := connection.recv(1 << 16):
                said += data
        except ConnectionError:
            pass  # it has closed while we still sent
    return said


def ask_front(server, target, *fields):
    """What storage.googleapis.com, as replicas know it, says to a GET: status and all bytes."""
    front = server.front()
    if not front:
        pytest.skip("Google's names are not served: the front has no address here")
    context = ssl.create_default_context(cafile=server.data / "front/ca.pem")
    with (
        socket.create_connection(front[:2], timeout=30) as plain,
        context.wrap_socket(
            plain, server_hostname="storage.googleapis.com", suppress_ragged_eofs=True
        ) as connection,
    ):
        connection.sendall(
            lines(f"GET {target} HTTP/1.1", "Host: storage.googleapis.com", "Connection: close", *fields, "")
        )
        said = b""
        while data := connection.recv(1 << 16):
            said += data
    return int(said[9:12]), said


def statuses(said):
    """Of all answers, one behind the other."""
    found = []
    while said:
        head, _, rest = said.partition(b"\r\n\r\n")
        assert re.match(rb"HTTP/1\.1 \d\d\d ", head), said[:200]
        found.append(int(head[9:12]))
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        assert length or found[-1] in (204, 304, 100), head
        said = rest[int(length[1]) if length else 0 :]
    return found


def lines(*texts):
    return b"".join(text.encode("latin-1") + b"\r\n" for text in texts)
