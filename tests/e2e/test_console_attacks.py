"""What others wrote is text, wherever the console shows it."""

import json

import pytest

import event_files
from console_world import run
from trainyard_server import Server, end_supervisors

JOB = "/ui/p/p/jobs"
MARKUP = "<img src=x onerror=window.hurt=1><script>window.hurt=1</script>"
HOSTILE = [MARKUP, "javascript:window.hurt=1", "\x1b]0;title\x07\x1b[2Jcleared\x1b[31m", "\u202egnp.exe\u2066", "'\"`${window.hurt=1}",
           "x" * 1_000_000]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, environments, packages):
    server = Server(tmp_path_factory.mktemp("hostile") / "data", environments=environments)

    def upload(on, name):
        return on.upload("packages", f"{name}.tar.gz", packages[name].read_bytes())

    words = [word for text in HOSTILE[:-1] for word in ("print", text)]
    run(server, upload, "lines", *words, "shell", "head -c 1000000 /dev/zero | tr '\\0' x; echo", "log", MARKUP, "raise", MARKUP, jobDir="gs://models/lines")
    server.upload("models", "lines/" + MARKUP.replace("/", "") + "/events.out.tfevents.1700000000.host",
                  event_files.event_file([(step, event_files.scalar(tag, step)) for step in range(5) for tag in HOSTILE[:-1]]
                                         + [(9, event_files.text(MARKUP, MARKUP))]))
    for name in HOSTILE[:-1]:
        server.upload("data", f"folder/{name}", MARKUP.encode())
    server.upload("data", "page.html", MARKUP.encode())
    server.upload("data", "picture.svg", b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hurt=1"/>')
    server.upload("data", "data.json", json.dumps({MARKUP: HOSTILE[:-1]}).encode())
    server.wait("lines")
    server.request("PATCH", "/v1/projects/p/jobs/lines?updateMask=labels", json={"labels": {"team": "b-script-b"}})
    yield server
    server.stop()
    end_supervisors(server.data)


@pytest.mark.parametrize("path", [
    JOB, f"{JOB}/lines", f"{JOB}/lines/logs", f"{JOB}/lines/logs?wrap=on", f"{JOB}/lines/metrics", f"{JOB}/lines/config", "/ui/p/p/new?from=lines",
    "/ui/p/p/compare?jobs=lines," + MARKUP, f"{JOB}?filter=" + MARKUP, f"{JOB}/" + MARKUP.replace("/", "%2F"),
    "/ui/buckets/data/folder/", "/ui/buckets/data/page.html", "/ui/buckets/data/picture.svg", "/ui/buckets/data/data.json"])
def test_is_text(hostile, open_console, path):
    page = open_console(hostile, path, expect_errors=("the server responded with a status of 4",))
    page.wait_for_function("() => document.querySelector('main') !== null && document.querySelector('.notice.loading') === null")
    page.locator("main *").last.wait_for(state="attached")
    assert page.evaluate("() => window.hurt") is None
    assert not page.locator("main img[src=x]").count() and not page.locator("main script").count()
    assert page.title().isprintable()


def test_a_log_of_hostile_lines(hostile, open_console):
    page = open_console(hostile, f"{JOB}/lines/logs?line=0")
    page.get_by_role("button", name="To the end", exact=True).click()  # before it may be dozens of lines of an environment's build
    page.get_by_text(MARKUP).first.wait_for()
    text = page.get_by_role("list", name="Lines in view").inner_text()
    assert "\u202e" not in text and "\x1b" not in text and "202E" in text
    assert page.evaluate("() => window.hurt") is None
