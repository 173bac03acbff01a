"""A process that says nothing fails a test, with what it has said before."""

import os

import pytest

import process_output
from process_output import Output


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    with open(reader, "rb") as source, open(writer, "wb", buffering=0) as sink:
        yield source, sink


def test_it_reads_by_piece_and_by_line(pipe):
    source, sink = pipe
    output = Output(source)
    sink.write(b"one, two\nthree\nfour")
    assert output.until(b"one") == b"one"
    assert output.line() == ", two\n" and output.line() == "three\n"
    sink.close()
    assert output.line() == "four" and output.line() == "" and output.rest() == b""
    with pytest.raises(AssertionError, match="ended without b'five': b'one, two"):
        output.until(b"five")


def test_it_waits_no_longer_than_the_limit(pipe, monkeypatch):
    monkeypatch.setattr(process_output, "DEADLINE_S", 0)
    pipe[1].write(b"begun")
    for read in (lambda output: output.until(b"ended"), lambda output: output.line(), lambda output: output.rest()):
        output = Output(pipe[0])
        output.seen = b"said before"
        with pytest.raises(AssertionError, match="waited in vain for .*said before"):
            while True:
                read(output)
