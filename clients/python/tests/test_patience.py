"""A server that goes away while it is asked: a made-up one, and a made-up clock."""

import contextlib
import http.client
import json

import pytest

from trainyard import Error, Unreachable, _patience
from trainyard._logs import Log


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_patience, "time", clock)
    return clock


def asked(clock, *errors, answers_at=float("inf")):
    def question():
        if clock.now >= answers_at:
            return "answer"
        raise errors[0]
    return _patience.ask(question)


def test_it_asks_again_for_half_a_minute(clock):
    assert asked(clock, Unreachable("away"), answers_at=29.0) == "answer"
    clock.now = 0.0
    with pytest.raises(Unreachable):
        asked(clock, Unreachable("away"))
    assert clock.now == _patience.PATIENCE_S == 30.0


def test_what_does_not_pass_is_not_asked_again(clock):
    for error in (Error("none", 404), Error("no"), ValueError("ours")):
        with pytest.raises(type(error)):
            asked(clock, error)
    assert clock.now == 0.0
    assert asked(clock, Error("starting", 503), answers_at=1.0) == asked(clock, Error("busy", 429), answers_at=9.0) == "answer"


def entry(number):
    return {"insertId": str(number), "timestamp": f"2026-01-01T00:00:0{number}Z", "textPayload": f"line {number}"}


def event(number):
    return [b"id: c%d\n" % number, b"data: " + json.dumps({"entries": [entry(number)]}).encode() + b"\n", b"\n"]


class Breaks:
    """Its stream breaks off within an event, behind the event's cursor; the next one goes on behind the cursor that it is asked for."""

    def __init__(self, *streams):
        self.streams, self.cursors = list(streams), []

    def unreachable(self, why):
        return Unreachable(str(why))

    @contextlib.contextmanager
    def open(self, path, headers=None):
        self.cursors.append((headers or {}).get("Last-Event-ID"))
        yield self.lines(self.streams.pop(0) if self.streams else [])

    def lines(self, lines):
        yield from lines
        raise http.client.IncompleteRead(b"")

    def json(self, path, body):
        return {"entries": [entry(number) for number in range(4)]}


def test_an_event_that_breaks_off_is_asked_for_again():
    server = Breaks(event(0) + event(1)[:1], event(1) + event(2)[:2], event(2))
    log = Log(server, "p", "j", lambda: len(server.cursors) > 3)
    assert [line.text for line in log.follow("2026-01-01T00:00:00Z")] == [f"line {number}" for number in range(4)]
    assert server.cursors[:4] == [None, "c0", "c1", "c2"]


def test_an_error_of_the_stream_ends_it():
    said = json.dumps({"error": {"code": 500, "message": "the log holds a damaged chunk"}}).encode()
    server = Breaks([b"event: error\n", b"data: " + said + b"\n", b"\n"])
    with pytest.raises(Error, match="the log holds a damaged chunk"):
        list(Log(server, "p", "j", lambda: False).follow("2026-01-01T00:00:00Z"))
