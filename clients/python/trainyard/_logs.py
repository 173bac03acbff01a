"""A job's log: what is there, and what comes."""

from __future__ import annotations

import dataclasses
import http.client
import json
import queue
import threading
import urllib.parse
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, List, Set

from trainyard import _errors, _patience
from trainyard._transport import Transport

_PAGE_SIZE = 1000
_REMEMBERED_MAX = 100_000  # entries: more than can be on their way when a job ends
_FIRST_CHECK_S = 0.05
_CHECK_PAUSE_MAX_S = 5.0


@dataclasses.dataclass(frozen=True)
class LogLine:
    """One line of a job's log."""

    time: str  # RFC 3339, nanoseconds
    severity: str
    task: str  # "master-replica-0", or "service"
    text: str

    def __str__(self) -> str:
        return "%s %s" % (self.task, self.text) if self.task else self.text


class Log:
    """The log of one job."""

    def __init__(self, transport: Transport, project: str, job_id: str, has_ended: Callable[[], bool]) -> None:
        self._transport = transport
        self._project = project
        self._filter = 'resource.type="ml_job" AND resource.labels.job_id="%s"' % job_id
        self._has_ended = has_ended
        self._seen: Set[str] = set()
        self._remembered: Deque[Dict[str, Any]] = deque()

    def read(self) -> Iterator[LogLine]:
        """All lines that are there, oldest first."""
        for entry in self._pages(self._filter):
            yield _line(entry)

    def follow(self, since: str) -> Iterator[LogLine]:
        """All lines from `since` on, as they come, until the job has ended. A lost connection is made again."""
        tail = _Tail(self._transport, self._project, '%s AND timestamp>="%s"' % (self._filter, since))
        try:
            pause = _FIRST_CHECK_S
            while True:
                entries = tail.next(pause)
                yield from self._new(entries)
                if entries:
                    pause = _FIRST_CHECK_S
                elif _patience.ask(self._has_ended):
                    break
                else:
                    pause = min(pause * 2, _CHECK_PAUSE_MAX_S)
        finally:
            tail.close()
        rest = self._remembered[0]["timestamp"] if self._remembered else since
        yield from self._new(self._pages('%s AND timestamp>="%s"' % (self._filter, rest)))

    def _new(self, entries: Any) -> Iterator[LogLine]:
        for entry in entries:
            if entry["insertId"] in self._seen:
                continue
            self._seen.add(entry["insertId"])
            self._remembered.append(entry)
            if len(self._remembered) > _REMEMBERED_MAX:
                self._seen.discard(self._remembered.popleft()["insertId"])
            yield _line(entry)

    def _pages(self, text: str) -> Iterator[Dict[str, Any]]:
        token = ""
        while True:
            body = {"resourceNames": ["projects/" + self._project], "filter": text, "orderBy": "timestamp asc", "pageSize": _PAGE_SIZE}
            asked = dict(body, pageToken=token) if token else body
            page = _patience.ask(lambda: self._transport.json("/v2/entries:list", asked))
            yield from page.get("entries", [])
            token = page.get("nextPageToken", "")
            if not token:
                return


def _line(entry: Dict[str, Any]) -> LogLine:
    payload = entry.get("jsonPayload", {})
    return LogLine(time=entry["timestamp"], severity=entry.get("severity", "DEFAULT"),
                   task=entry.get("resource", {}).get("labels", {}).get("task_name", ""),
                   text=str(payload.get("message", entry.get("textPayload", ""))))


class _Tail:
    """The server's stream of events, read by a thread: a read that times out would break the stream."""

    def __init__(self, transport: Transport, project: str, text: str) -> None:
        self._transport = transport
        self._path = "/v2/entries:tail?" + urllib.parse.urlencode({"resourceNames": "projects/" + project, "filter": text})
        self._arrived: "queue.Queue[Any]" = queue.Queue(maxsize=1000)
        self._closed = threading.Event()
        self._cursor = ""  # of the last event; where a new connection goes on
        threading.Thread(target=self._run, daemon=True).start()

    def next(self, timeout: float) -> List[Dict[str, Any]]:
        """The next entries; none if none came in time."""
        try:
            found = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return []
        if isinstance(found, Exception):
            raise found
        return list(found)

    def close(self) -> None:
        """The thread ends with the next line or comment from the server."""
        self._closed.set()

    def _put(self, item: Any) -> None:
        while not self._closed.is_set():
            try:
                self._arrived.put(item, timeout=1)
                return
            except queue.Full:
                continue

    def _run(self) -> None:
        absence = _patience.Absence()
        while not self._closed.is_set():
            lost: _errors.Error = self._transport.unreachable("the stream of the log broke off")
            try:
                with self._transport.open(self._path, headers={"Last-Event-ID": self._cursor} if self._cursor else None) as stream:
                    self._take_events(stream, absence)
            except _errors.Error as error:
                lost = error
            except (OSError, http.client.HTTPException):
                pass  # it broke off
            pause = absence.next_pause() if _patience.may_pass(lost) else None
            if pause is None:
                self._put(lost)
                return
            self._closed.wait(pause)

    def _take_events(self, stream: Any, absence: _patience.Absence) -> None:
        """Hands on what the events have, until the stream ends. What has begun when it does is sent again after the cursor."""
        kind, cursor = "", self._cursor
        data: List[str] = []
        for raw in stream:
            if self._closed.is_set():
                return
            absence.is_over()
            line = raw.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].lstrip(" "))
            elif line.startswith("id:"):
                cursor = line[3:].strip()
            elif line.startswith("event:"):
                kind = line[6:].strip()
            elif not line and data:
                body = "\n".join(data)
                if kind == "error":
                    raise _errors.Error(str(_errors.from_answer(body.encode(), 500)))
                try:
                    self._put(json.loads(body).get("entries", []))
                except ValueError:
                    raise _errors.Error("the stream of the log is damaged") from None
                kind, self._cursor, data = "", cursor, []
