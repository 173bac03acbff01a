"""Framing and smuggling against the real server: what has always held. The same tables without a server
behind them: net/http/connection_test.cc, net/http/chunk_decoder_test.cc, net/http/head_test.cc."""

import pytest

from raw_http import ask_front, converse, lines, statuses
from trainyard_server import Server, end_supervisors

CONTENT = bytes(range(256)) * 4


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    """One for all tests of this file: none of them may harm it."""
    server = Server(tmp_path_factory.mktemp("framing") / "data", environments=environments)
    server.upload("bkt", "content", CONTENT)
    yield server
    assert server.process.poll() is None, server.stderr()
    server.stop()
    end_supervisors(server.data)


def upload_head(name, *fields):
    return lines(
        f"POST /upload/storage/v1/b/bkt/o?uploadType=media&name={name} HTTP/1.1",
        "Host: localhost",
        *fields,
        "",
    )


# What is smuggled makes an object, so that it shows if it was ever taken for a request.
SMUGGLED = upload_head("smuggled", "Content-Length: 3") + b"bad"
JSON = "Content-Type: application/json"
CHUNKED, END = "Transfer-Encoding: chunked", b"0\r\n\r\n"


def length(number):
    return f"Content-Length: {number}"


FRAMING = {  # what is sent in front of the smuggled request; the only status that may come back
    "length_and_chunked": (upload_head("x", length(5), CHUNKED) + END, 400),
    "chunked_and_length": (upload_head("x", CHUNKED, length(5)) + END, 400),
    "length_0_and_chunked": (upload_head("x", length(0), CHUNKED) + b"3\r\nabc\r\n" + END, 400),
    "two_lengths": (upload_head("x", length(0), length(len(SMUGGLED))), 400),
    "two_lengths_in_a_list": (upload_head("x", "Content-Length: 0, 10"), 400),
    "length_negative": (upload_head("x", length(-1)), 400),
    "length_plus": (upload_head("x", length("+0")), 400),
    "length_hex": (upload_head("x", length("0x0")), 400),
    "length_of_30_digits": (upload_head("x", length("9" * 30)), 400),
    "length_2_to_the_64": (upload_head("x", length(1 << 64)), 400),
    "length_beyond_the_limit": (upload_head("x", length((1 << 63) - 1)), 413),
    "length_empty": (upload_head("x", "Content-Length:"), 400),
    "length_with_space_before_colon": (upload_head("x", "Content-Length : 0"), 400),
    "length_with_nul": (upload_head("x", "Content-Length: 0\0"), 400),
    "coding_with_tab": (upload_head("x", "Transfer-Encoding:\x0bchunked") + END, 400),
    "coding_unknown": (upload_head("x", "Transfer-Encoding: x-chunked"), 501),
    "coding_chunked_first": (upload_head("x", "Transfer-Encoding: chunked, identity") + END, 501),
    "coding_twice": (upload_head("x", CHUNKED, CHUNKED) + END, 400),
    "coding_in_http_1_0": (upload_head("x", CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0") + END, 400),
    "folded_field": (upload_head("x", "Transfer-Encoding:", " chunked") + END, 400),
    "folded_first_field": (
        lines("POST /upload/storage/v1/b/bkt/o?uploadType=media&name=x HTTP/1.1", " Host: localhost", ""),
        400,
    ),
    "bare_lf_ends_lines": (upload_head("x", length(0)).replace(b"\r\n", b"\n"), 400),
    "bare_lf_hides_a_field": (upload_head("x", f"A: b\n{CHUNKED}", length(0)), 400),
    "bare_cr_hides_a_field": (upload_head("x", f"A: b\r{CHUNKED}", length(0)), 400),
    "chunk_size_negative": (upload_head("x", CHUNKED) + b"-1\r\n" + END, 400),
    "chunk_size_overflows": (upload_head("x", CHUNKED) + b"10000000000000003\r\nabc\r\n" + END, 400),
    "chunk_size_hex_prefix": (upload_head("x", CHUNKED) + b"0x3\r\nabc\r\n" + END, 400),
    "chunk_size_spaces": (upload_head("x", CHUNKED) + b"3 \r\nabc\r\n" + END, 400),
    "chunk_size_none": (upload_head("x", CHUNKED) + b"\r\n" + END, 400),
    "chunk_ends_in_bare_lf": (upload_head("x", CHUNKED) + b"3\nabc\n0\n\n", 400),
    "chunk_longer_than_it_says": (upload_head("x", CHUNKED) + b"3\r\nabcd\r\n" + END, 400),
    "chunk_extension_with_lf": (upload_head("x", CHUNKED) + b"3;a\nb\r\nabc\r\n" + END, 400),
    "chunk_extensions_without_end": (upload_head("x", CHUNKED) + b"3;" + b"x" * 100_000, 400),
    "trailer_without_end": (upload_head("x", CHUNKED) + b"0\r\nA: " + b"x" * 100_000, 400),
    "trailer_with_bare_lf": (upload_head("x", CHUNKED) + b"0\r\nA: b\nB: c\r\n\r\n", 400),
    "no_host": (upload_head("x", length(0)).replace(b"Host: localhost\r\n", b""), 400),
    "two_hosts": (upload_head("x", "Host: localhost", length(0)), 400),
    "field_without_name": (upload_head("x", ": b", length(0)), 400),
    "two_spaces": (upload_head("x", length(0)).replace(b"POST ", b"POST  "), 400),
    "http_0_9": (b"GET /storage/v1/b/bkt/o/content?alt=media\r\n", 400),
    "http_2_preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "head_without_end": (upload_head("x")[:-2] + b"A: " + b"x" * 100_000, 431),
    "upload_of_unknown_coding": (upload_head("x", length(0), "Expect: miracles"), 417),
}


@pytest.mark.parametrize("name", FRAMING)
def test_nothing_is_smuggled(server, name):
    """A request whose end is in doubt ends the connection: what follows it is never a request."""
    request, status = FRAMING[name]
    assert statuses(converse(server, request + SMUGGLED)) == [status]
    for made in ("smuggled", "x"):
        assert server.request("GET", f"/storage/v1/b/bkt/o/{made}").status_code == 404


def test_requests_one_behind_the_other_stay_apart(server):
    """Bodies that look like requests are bodies, whatever an answer was."""
    inner = SMUGGLED + lines("DELETE /storage/v1/b/bkt/o/content HTTP/1.1", "Host: localhost", "")
    chunk = b'%x;name="value"\r\n%s\r\n' % (len(inner), inner)
    requests = [
        (upload_head("one", length(len(inner))) + inner, 200),
        (upload_head("two", CHUNKED) + chunk + b"0;end\r\nTrailer: POST / HTTP/1.1\r\n\r\n", 200),
        (
            upload_head("one", length(len(inner)), "If-Match: none").replace(
                b"uploadType=media", b"uploadType=nonsense"
            )
            + inner,
            400,
        ),
        (
            lines("GET /storage/v1/b/bkt/o/content HTTP/1.1", "Host: localhost", JSON, length(len(inner)), "")
            + inner,
            200,
        ),
        (lines("POST /v1/nothing HTTP/1.1", "Host: localhost", JSON, length(len(inner)), "") + inner, 404),
        (upload_head("three", length(2), length(2)) + b"ok", 200),
    ]
    assert statuses(converse(server, b"".join(request for request, _ in requests))) == [
        status for _, status in requests
    ]
    for name in ("one", "two"):
        assert server.request("GET", f"/storage/v1/b/bkt/o/{name}?alt=media").content == inner
    assert server.request("GET", "/storage/v1/b/bkt/o/smuggled").status_code == 404
    assert server.request("GET", "/storage/v1/b/bkt/o/content?alt=media").content == CONTENT


def test_nothing_of_a_request_gets_into_an_answers_head(server):
    for target in ("/storage/v1/b/bkt/o/x%0d%0aX-Evil:%201", "/x%0d%0aX-Evil:%201"):
        head = converse(
            server, lines(f"GET {target} HTTP/1.1", "Host: localhost", "Connection: close", "")
        ).partition(b"\r\n\r\n")[0]
        assert b"\nX-Evil" not in head
    server.upload("bkt", "typed", b"x")
    server.request(
        "PATCH",
        "/storage/v1/b/bkt/o/typed",
        json={
            "contentType": "text/plain\r\nX-Evil: 1",
            "contentLanguage": "x\nX-Evil: 1",
            "metadata": {"a\r\nX-Evil": "1\r\nX-Evil: 1"},
        },
    )
    answer = server.request("GET", "/storage/v1/b/bkt/o/typed?alt=media")
    assert "X-Evil" not in answer.headers and (answer.status_code, answer.content) == (200, b"x")
    said = ask_front(server, "/bkt/typed")[1]
    assert b"\nX-Evil" not in said and said.endswith(b"\r\n\r\nx")
