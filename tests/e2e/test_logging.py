"""Logs of the real server: entries:list as clients ask, entries:tail as server-sent events, and `stream-logs` over it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
import requests

from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM, wait_for

HISTORY = ' AND timestamp>="1970-01-01T00:00:00Z"'


class TailClient:
    """Reads events on a thread of its own, each with the time of its arrival; comments are kept as texts."""

    def __init__(self, server, filter_text, cursor=None, **query):
        headers = {"Last-Event-ID": cursor} if cursor else {}
        self.response = requests.get(server.url + "/v2/entries:tail", headers=headers, stream=True, timeout=(10, DEADLINE_S),
                                     params={"resourceNames": "projects/p", "filter": filter_text, **query})
        assert self.response.status_code == 200, self.response.text
        assert self.response.headers["Content-Type"] == "text/event-stream"
        self.events, self.comments, self.ended = [], [], False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        cursor = None
        try:
            for line in self.response.iter_lines(chunk_size=1):
                if line.startswith(b"id: "):
                    cursor = line[4:].decode()
                elif line.startswith(b"data: "):
                    self.events.append((time.time(), cursor, json.loads(line[6:])))
                elif line.startswith(b":"):
                    self.comments.append(line.decode())
        except (requests.RequestException, AttributeError):  # cut, or closed by us
            pass
        self.ended = True

    def texts(self):
        return [entry["jsonPayload"]["message"] for _, _, data in list(self.events) for entry in data["entries"]]

    def wait(self, count):
        wait_for(lambda: len(self.texts()) >= count or None, lambda: f"{len(self.texts())} lines, not {count}: {self.texts()[-5:]}")
        return self.texts()

    def close(self):
        self.response.raw._fp.fp.raw._sock.shutdown(2)
        self.thread.join(30)


def job_filter(job_id):
    return f'(resource.type="ml_job" OR resource.type="cloudml_job") AND resource.labels.job_id="{job_id}"'


def printed_by(job_id):
    """What the master's program wrote, without what the supervisor says around it."""
    return job_filter(job_id) + ' AND resource.labels.task_name="master-replica-0" AND jsonPayload.message=~"^(tick |line |Epoch |careful$|struct$)"'


def submit(server, upload, job_id, *args):
    server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=list(args))


@pytest.fixture(scope="module")
def logs(tmp_path_factory, environments, packages):
    """A server with one job's log, for questions only."""
    from trainyard_server import Server
    server = Server(tmp_path_factory.mktemp("logs"), environments=environments)
    uri = server.upload("packages", "probe.tar.gz", packages["probe"].read_bytes())
    server.submit("Asked", packageUris=[uri], pythonModule="probe.task",
                  args=["print", "Epoch 1: loss 0.25", "log", "careful", "print", json.dumps({"message": "struct", "epoch": 3, "severity": "ERROR"}),
                        "count", "120"])
    server.wait("Asked")
    yield server
    server.stop()


def list_texts(server, filter_text, **body):
    response = server.request("POST", "/v2/entries:list", json={"resourceNames": ["projects/p"], "filter": filter_text, "pageSize": 1000, **body})
    assert response.ok, response.text
    return [entry["jsonPayload"]["message"] for entry in response.json().get("entries", [])]


MASTER = printed_by("Asked")


@pytest.mark.parametrize("extra, texts", [
    ('"epoch 1"', ["Epoch 1: loss 0.25"]),
    ("loss", ["Epoch 1: loss 0.25"]),
    ('jsonPayload.message="epoch 1: LOSS 0.25"', ["Epoch 1: loss 0.25"]),
    ("jsonPayload.epoch>=3", ["struct"]),
    ("severity>=ERROR jsonPayload.epoch:*", ["struct"]),
    ("severity>=500 NOT careful", ["struct"]),
    (r'jsonPayload.message=~"^line 000011\d$"', [f"line 000011{digit}" for digit in range(10)]),
    ('jsonPayload.message=("line 0000007" OR "struct")', ["struct", "line 0000007"]),
    ('labels."ml.googleapis.com/job_id"="Asked" careful', ["careful"]),
    ('labels."ml.googleapis.com/job_id"="asked"', []),
    ('logName="projects/p/logs/master-replica-0" struct', ["struct"]),
    ('log_id("master-replica-0") struct', ["struct"]),
    ("-line -struct -careful loss -- and nothing else", ["Epoch 1: loss 0.25"]),
])
def test_list_understands_the_filter_language(logs, extra, texts):
    assert list_texts(logs, f"{MASTER} AND ({extra}\n)") == texts


@pytest.mark.parametrize("filter_text, message", [
    ("severity>=", "Unparseable filter: syntax error at line 1, column 11, unexpected end of filter"),
    ("a.b=1", "Field not found: 'a.b'"),
    ("severity=350", "Invalid value for field 'severity': '350'"),
    ("sample(insertId, 0.5)", "Unparseable filter: function 'sample' at line 1, column 1 is not supported; log_id is"),
    ('ip_in_range(jsonPayload.ip, "10.0.0.0/8")', "Unparseable filter: function 'ip_in_range' at line 1, column 1 is not supported; log_id is"),
    ('textPayload=~"("', "Unparseable filter: regular expressions must be valid RE2: missing ): ("),
    pytest.param("x" * 20001, "Filter is longer than 20000 characters", id="long"),
])
def test_list_and_tail_refuse_a_bad_filter_alike(logs, filter_text, message):
    asked = logs.request("POST", "/v2/entries:list", json={"resourceNames": ["projects/p"], "filter": filter_text})
    followed = logs.request("POST", "/v2/entries:tail", json={"resourceNames": ["projects/p"], "filter": filter_text})
    for response in (asked, followed):
        assert response.status_code == 400 and response.json()["error"]["status"] == "INVALID_ARGUMENT"
        assert response.json()["error"]["message"] == "Field: filter Error: " + message


def test_pages_in_both_orders_and_by_project_ids(logs):
    texts = list_texts(logs, MASTER)
    assert len(texts) == 123
    assert list_texts(logs, MASTER, orderBy="timestamp desc") == texts[::-1]
    assert list_texts(logs, MASTER, resourceNames=[], projectIds=["p"]) == texts
    body, pages = {"resourceNames": ["projects/p"], "filter": MASTER, "orderBy": "timestamp asc", "pageSize": 50}, []
    while True:
        page = logs.request("POST", "/v2/entries:list", json=body).json()
        pages += [entry["jsonPayload"]["message"] for entry in page["entries"]]
        if "nextPageToken" not in page:
            break
        body |= {"pageToken": page["nextPageToken"], "pageSize": body["pageSize"] // 2}  # a token fits every page size
    assert pages == texts


def test_tail_shows_lines_as_they_come_to_many(server, upload, shared_folder):
    tails = [TailClient(server, printed_by("live")) for _ in range(60)]  # more than are served each on its own
    all_of_it = TailClient(server, "")
    go = shared_folder / "go"
    submit(server, upload, "live", "tick", "25", "await", str(go), "1", "count", "25")
    first = [f"tick {number:07d}" for number in range(25)]
    for tail in tails:
        assert tail.wait(25) == first  # while the program waits
    go.write_text("!")
    for tail in tails:
        assert tail.wait(50) == first + [f"line {number:07d}" for number in range(25)]
    server.wait("live")
    texts = server.texts("live")
    assert sorted(all_of_it.wait(len(texts))) == sorted(texts)
    for tail in [*tails, all_of_it]:
        assert not tail.ended
        tail.close()


def test_a_tail_goes_on_where_a_cursor_says_over_kill_9(server, upload):
    submit(server, upload, "resumed", "tick", "300")
    follow = printed_by("resumed")
    tail = TailClient(server, follow + HISTORY)
    texts = tail.wait(20)
    server.kill()
    wait_for(lambda: tail.ended or None, lambda: "the tail did not end with the server")
    texts, cursor = tail.texts(), tail.events[-1][1]
    server.start()
    again = TailClient(server, follow + HISTORY, cursor)
    again.wait(max(1, 100 - len(texts)))
    again.close()  # in the middle, by the client
    texts, cursor = texts + again.texts(), again.events[-1][1]
    last = TailClient(server, follow + HISTORY, cursor)
    texts += last.wait(300 - len(texts))
    assert texts == [f"tick {number:07d}" for number in range(300)]
    refused = server.request("GET", "/v2/entries:tail", params={"resourceNames": "projects/p", "filter": "x", "cursor": cursor})
    assert refused.status_code == 400


def test_the_server_notices_clients_that_go_and_stops_at_once(server):
    def sockets():
        targets = []
        for link in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                targets.append(os.readlink(link))
        return sum("socket" in target for target in targets)
    before = sockets()
    tails = [TailClient(server, job_filter(f"none_{number}")) for number in range(20)]
    assert sockets() >= before + 20
    for tail in tails[:10]:
        tail.close()
    wait_for(lambda: sockets() <= before + 10 or None, lambda: f"{sockets()} sockets, {before} before")
    server.stop()
    assert server.process.returncode == 0, "it waited for its clients until it was killed"
    wait_for(lambda: all(tail.ended for tail in tails) or None, lambda: "a tail goes on")


def test_a_slow_client_is_served_from_the_store(server, upload):
    submit(server, upload, "flood", "count", "60000")
    tail = requests.get(server.url + "/v2/entries:tail", stream=True, timeout=(10, DEADLINE_S),
                        params={"resourceNames": "projects/p", "filter": printed_by("flood") + HISTORY})
    server.wait("flood")  # nothing was read meanwhile
    def memory():
        return int(next(line for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmRSS")).split()[1])
    assert memory() < 600 << 10, "KiB"
    texts = []
    for line in tail.iter_lines(chunk_size=1 << 16):
        if line.startswith(b"data: "):
            texts += [entry["jsonPayload"]["message"] for entry in json.loads(line[6:])["entries"]]
        if len(texts) >= 60000:
            break
    assert texts == [f"line {number:07d}" for number in range(60000)]


def stream(server, *words, **options):
    environment = {**os.environ, "TRAINYARD_SERVER": server.url, "CLOUDSDK_CORE_PROJECT": "p", "TZ": "UTC"}
    return subprocess.Popen([PROGRAM, "jobs", "stream-logs", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment, **options)


def messages(printed, prefix=""):
    return [text for text in (line.split("\t", 4)[4] for line in printed.splitlines()) if text.startswith(prefix)]


def test_a_progress_bar_is_a_line_a_second_and_no_error(server, upload):
    server.submit("bar", packageUris=[upload(server, "probe")], pythonModule="probe.bar")
    assert server.wait("bar")["state"] == "SUCCEEDED", server.texts("bar")
    entries = [entry for entry in server.log_entries("bar") if entry["resource"]["labels"]["task_name"] == "master-replica-0"]
    bar = [entry for entry in entries if entry["labels"].get("redraw") == "true"]
    assert 3 <= len(bar) <= 6 and {entry["severity"] for entry in bar} == {"INFO"}, bar
    assert bar[-1]["jsonPayload"]["message"] == "100%|##########| 30/30", "the last state is kept"
    assert not [entry for entry in entries if "\r" in entry["jsonPayload"]["message"]]
    texts = {entry["jsonPayload"]["message"]: entry["labels"].get("continued") for entry in entries}
    assert texts["Reading"] is None and texts[" done"] == "true", "a line is not held until its end comes"


def test_stream_logs_ends_with_the_job(server, upload):
    submit(server, upload, "streamed", "tick", "30")
    process = stream(server, "streamed")
    server.wait("streamed")
    printed, complaint = process.communicate(timeout=30)  # it ends with the job, not some day
    assert process.returncode == 0 and complaint == ""
    assert messages(printed) == [line for text in server.texts("streamed") for line in text.splitlines() or [""]]


def test_stream_logs_lives_through_kill_9(server, upload):
    submit(server, upload, "survivor", "tick", "200")
    process = stream(server, "survivor", "--task-name=master-replica-0")
    shown = Output(process.stdout)
    for _ in range(50):
        shown.line()
    for _ in range(2):
        server.kill()
        server.start()
        for _ in range(20):
            shown.line()
    shown.rest()
    assert process.wait(DEADLINE_S) == 0, process.stderr.read()
    assert messages(shown.seen.decode(), "tick ") == [f"tick {number:07d}" for number in range(200)]


def test_stream_logs_ends_on_ctrl_c(server, upload):
    submit(server, upload, "endless", "print", "begun", "forever")
    process = stream(server, "endless")
    Output(process.stdout).until(b"begun")
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and "keyboard interrupt" in complaint
    server.cancel("endless")


def test_stream_logs_of_an_unknown_job(server):
    process = stream(server, "nobody")
    printed, complaint = process.communicate(timeout=30)
    assert process.returncode == 1 and printed == "" and "NOT_FOUND" in complaint
