"""A job's log by the numbers of its lines: log:read, log:search, log:summarize and log:download of a real server."""

import http.client
import json

import pytest

from trainyard_server import Server, end_supervisors, wait_for

LINES = 1500
HOSTILE = ['<script>alert(1)</script><img src=x onerror=alert(2)>',
           "\x1b]0;title\x07\x1b[31mred\x1b[2J", "\u202eright to left\u2066", '"},{"number":"0"']


@pytest.fixture(scope="module")
def logs(tmp_path_factory, environments, packages):
    """A server with one job's log, for questions only."""
    server = Server(tmp_path_factory.mktemp("job_log"), environments=environments)
    uri = server.upload("packages", "probe.tar.gz", packages["probe"].read_bytes())
    printed = [word for text in HOSTILE for word in ("print", text)]
    server.submit("Asked", packageUris=[uri], pythonModule="probe.task",
                  args=[*printed, "log", "careful", "print", json.dumps({"message": "a\nb", "epoch": 3, "severity": "CRITICAL"}),
                        "shell", "head -c 1000000 /dev/zero | tr '\\0' x; echo; head -c 70000 /dev/zero | tr '\\0' y; echo",
                        "shell", "echo 10% >&2", "count", str(LINES)])
    server.wait("Asked")
    yield server
    server.stop()
    end_supervisors(server.data)


def ask(server, verb, job="Asked", status=200, **query):
    answer = server.request("GET", f"/trainyard/v1/projects/p/jobs/{job}/log:{verb}", params=query)
    assert answer.status_code == status, answer.text
    return answer


def windows(server, **query):
    """Line after line, window after window, from the first one."""
    first = 0
    while first >= 0:
        window = ask(server, "read", first=first, count=1000, **query).json()
        yield from window.get("lines", [])
        first = int(window["next"])


def text_of(entry):
    return entry["jsonPayload"]["message"]


def test_windows_have_the_lines_that_entries_list_has(logs):
    entries = logs.log_entries("Asked")
    lines = list(windows(logs, whole="true"))
    assert [int(line.get("number", 0)) for line in lines] == list(range(len(entries)))
    for line, entry in zip(lines, entries, strict=True):
        assert (line["time"], line.get("severity", "DEFAULT")) == (entry["timestamp"], entry.get("severity", "DEFAULT"))
        assert (line["replica"], line.get("text", "")) == (entry["resource"]["labels"]["task_name"], text_of(entry))
    assert [text for text in HOSTILE if text not in [line.get("text") for line in lines]] == []
    last = ask(logs, "read", last="true", count=5).json()
    assert last["lines"] == lines[-5:] and last["next"] == "-1" and int(last["previous"]) == len(lines) - 5
    middle = ask(logs, "read", time=lines[1000]["time"], count=1).json()
    assert middle["lines"] == [lines[1000]] and int(middle["total"]) == len(lines)


def test_windows_of_a_replica_and_a_severity(logs):
    lines = list(windows(logs))
    severe = [line for line in lines if line.get("severity") in ("WARNING", "ERROR", "CRITICAL")]
    assert {line["text"] for line in severe} >= {"careful", "a\nb"}
    assert list(windows(logs, severity="WARNING")) == severe
    assert list(windows(logs, replica="service")) == [line for line in lines if line["replica"] == "service"] != []
    assert not list(windows(logs, replica="worker-replica-7"))


def test_a_long_line_is_cut_and_there_whole(logs):
    long = next(line for line in windows(logs) if line.get("text", "").startswith("yyy"))
    assert long["text"] == "y" * 10_000 and int(long["textBytes"]) == 70_000
    whole = ask(logs, "read", first=long["number"], count=1, whole="true").json()["lines"]
    assert [line["text"] for line in whole] == ["y" * 70_000]


def test_searches_go_on_until_they_are_complete(logs):
    wanted = [int(line["number"]) for line in windows(logs) if "99" in line.get("text", "")]
    for words in ({"query": "LINE 00"}, {"query": "line 00", "matchCase": "true"}, {"query": "^line 0+[0-9]*$", "regex": "true"}):
        assert len(ask(logs, "search", count=1000, **words).json()["lines"]) == 1000
    for backward in ("false", "true"):
        found, more = [], {}
        while True:
            matches = ask(logs, "search", query="99", count=7, backward=backward, **more).json()
            found += [int(line["number"]) for line in matches.get("lines", [])]
            if matches.get("complete"):
                break
            more = {"from": matches["searchedTo"]}
        assert found == (wanted if backward == "false" else wanted[::-1])


def test_the_summary_says_what_is_where(logs):
    lines = list(windows(logs))
    severe = [line for line in lines if line.get("severity") in ("ERROR", "CRITICAL") and not line.get("severityOfStream")]
    assert [line["text"] for line in lines if line.get("severityOfStream")] == ["10%"]
    summary = ask(logs, "summarize", buckets=10).json()
    assert sum(int(part["lines"]) for part in summary["buckets"]) == len(lines) == int(summary["total"])
    assert sum(int(part.get("errors", 0)) for part in summary["buckets"]) == len(severe)
    assert summary["firstError"] == severe[0]["number"] and summary["replicas"] == ["master-replica-0", "service"]
    assert len(summary["buckets"]) == 10 and "partial" not in summary


def test_a_download_is_whole(logs):
    lines = list(windows(logs, whole="true"))
    text = ask(logs, "download")
    assert text.headers["Content-Disposition"] == 'attachment; filename="Asked.log"'
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8" and "sandbox" in text.headers["Content-Security-Policy"]
    printed = [f"{line['time']} {line.get('severity', 'DEFAULT')} {line['replica']} " + line.get("text", "").replace("\n", "\n\t") for line in lines]
    assert text.content.decode() == "".join(line + "\n" for line in printed)
    objects = ask(logs, "download", format="json")
    assert objects.headers["Content-Disposition"] == 'attachment; filename="Asked.jsonl"'
    assert [json.loads(line) for line in objects.content.decode().split("\n")[:-1]] == lines
    assert ask(logs, "download", severity="EMERGENCY").content == b""


@pytest.mark.parametrize("verb, query, field, message", [
    ("read", {"first": "-1"}, "first", "Must be the number of a line: 0 or more"),
    ("read", {"first": "1", "before": "2"}, "before", "This cannot be combined with first: a window has only one start"),
    ("read", {"severity": "BAD"}, "severity", "Must be one of DEFAULT, DEBUG, INFO"),
    ("search", {}, "query", "Must not be empty"),
    ("search", {"query": "(", "regex": "true"}, "query", "missing ): ("),
    ("search", {"query": "x" * 2001}, "query", "Must not be longer than 2000 bytes"),
    ("summarize", {"buckets": "none"}, "buckets", "Must be a number of at least 1"),
    ("download", {"format": "xml"}, "format", "Must be text or json"),
    ("read", {"frist": "1"}, "frist", "Cannot bind query parameter."),
])
def test_wrong_parameters_are_named(logs, verb, query, field, message):
    error = ask(logs, verb, status=400, **query).json()["error"]
    assert error["status"] == "INVALID_ARGUMENT" and message in error["message"] and field in error["message"], error
    assert len(error["message"]) < 1000


def test_jobs_without_a_log(logs):
    assert ask(logs, "read", job="Absent", status=404).json()["error"]["status"] == "NOT_FOUND"
    assert logs.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    logs.submit("Waits", packageUris=["gs://packages/probe.tar.gz"], pythonModule="probe.task")
    assert logs.request("GET", "/v1/projects/p/jobs/Waits").json()["state"] == "QUEUED"
    for verb, query in (("read", {}), ("search", {"query": "nowhere"}), ("summarize", {}), ("download", {})):
        ask(logs, verb, job="Waits", **query)


def test_a_download_while_the_job_writes(server, upload):
    server.submit("writes", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["tick", "150"])
    total = wait_for(lambda: (lambda count: count if count > 20 else None)(int(ask(server, "read", job="writes").json().get("total", 0))),
                     server.stderr)
    lines = ask(server, "download", job="writes").content.count(b"\n")
    server.wait("writes")
    assert total <= lines <= int(ask(server, "read", job="writes").json()["total"])


def test_a_reader_who_goes_away_ends_its_download(logs):
    host, port = logs.url.removeprefix("http://").split(":")
    for _ in range(20):
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.request("GET", "/trainyard/v1/projects/p/jobs/Asked/log:download")
        assert connection.getresponse().read(10)
        connection.close()
    assert ask(logs, "read").json()["total"]
