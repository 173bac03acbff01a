"""Attacks that have always held against the real server, so that they stay held: traversal, names that are no
names, ranges, options in place of names, forged locks, many idle connections. Framing and images have files
of their own (test_attack_held_framing.py, test_attack_held_images.py).

The tables of single rules are unit tests: net/http/uri_test.cc, base/wire/utf8_test.cc, base/wire/json_test.cc,
rules/objects/path_escape_test.cc, stores/storage/buckets_test.cc, stores/storage/uploads_test.cc, rules/jobs/image_reference_test.cc,
api/storage/storage_handlers_range_test.cc. Here the whole program is attacked, and what is looked at is what came of
it, not only the status."""

import os
import re
import socket
import subprocess
import time
import urllib.parse

import pytest

from raw_http import ask_front, converse, lines
from trainyard_server import Server, end_supervisors, kill, processes_with, wait_for

CANARY = b"CANARY-0b5e-outside-of-all-buckets"
CONTENT = bytes(range(256)) * 4


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    """One for all tests of this file: none of them may harm it."""
    server = Server(tmp_path_factory.mktemp("held") / "data", environments=environments)
    server.data.joinpath("canary").write_bytes(CANARY)
    server.data.parent.joinpath("canary").write_bytes(CANARY)
    server.upload("bkt", "content", CONTENT)
    yield server
    assert server.process.poll() is None, server.stderr()
    server.stop()
    end_supervisors(server.data)


# Traversal: to the canaries beside the buckets' folder, to the server's secret, to the machine.

UP = [
    "..",
    "%2e%2e",
    "..%2f..",
    "%2e%2e%2f%2e%2e",
    "..%5c..",
    "%252e%252e%252f..",
    ".%2e",
    "..;",
    "%c0%ae%c0%ae",
    "%c0%ae%c0%ae%c0%af",
]
FILES = ["canary", "run%2fsecret", "run/secret", "..%2fcanary", "etc%2fpasswd", "etc/passwd"]
READS = [
    "/storage/v1/b/{up}/o/{file}?alt=media",
    "/storage/v1/b/bkt/o/{up}%2f{file}?alt=media",
    "/storage/v1/b/bkt/o/{up}/{file}?alt=media",
    "/download/storage/v1/b/bkt/o/{up}%2f{file}?alt=media",
    "/{up}/{file}",
    "//{file}",
    "/storage/v1/b/%2f/o/{file}?alt=media",
    "/v1/projects/p/jobs/{up}%2f{file}",
    "/v1/projects/{up}/jobs/{file}",
    "/storage/v1/b/bkt/o?prefix={up}/{file}",
    "/storage/v1/b/{up}/o?prefix={file}",
    "/storage/v1/b/bkt/o?matchGlob={up}/**",
]


XML_READS = [
    "/{up}/{file}",
    "/bkt/{up}/{file}",
    "/bkt/{up}%2f{file}",
    "/bkt/%2f{file}",
    "//{file}",
    "/%2f/{file}",
]


def secrets_of(server):
    """What no answer may contain."""
    secret = server.data / "run/secret"
    return [
        CANARY,
        b"root:x:0:0",
        b"PRIVATE KEY",
        *([secret.read_bytes().strip()] if secret.exists() else []),
    ]


def tree(server):
    """Every path around the buckets, but for what the server itself writes while it works."""
    found = set()
    for where, folders, files in os.walk(server.data.parent):
        folders[:] = [name for name in folders if name not in ("buckets", "uploads", "environments", "front")]
        found |= {
            os.path.join(where, name)
            for name in (*folders, *files)
            if not re.search(r"\.(db|log)\b|-(wal|shm)$|/attempts/", name)
        }
    return found


@pytest.mark.parametrize("read", READS)
def test_no_path_leads_out_of_a_bucket(server, read):
    paths = {read.replace("{up}", up).replace("{file}", file) for up in UP for file in FILES}
    said = b"".join(
        converse(server, lines(f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close", ""))
        for path in paths
    )
    assert not [secret for secret in secrets_of(server) if secret in said]
    assert b'"kind": "storage#object"' not in said


@pytest.mark.parametrize("read", XML_READS)
def test_no_path_of_the_xml_api_leads_out_of_a_bucket(server, read):
    for path in {read.replace("{up}", up).replace("{file}", file) for up in UP[:4] for file in FILES}:
        status, said = ask_front(server, path)
        assert status in (400, 404) and not [secret for secret in secrets_of(server) if secret in said], (
            path,
            said,
        )


def names_outside(server):
    return [
        "../canary",
        "../../canary",
        "../../../canary",
        "/canary",
        f"{server.data}/canary",
        "a/../../../canary",
        "..",
        "./..",
        "../run/secret",
        "....//canary",
        "..\\..\\canary",
        ".%dotdot/canary",
    ]


def test_written_names_stay_inside_too(server):
    """Uploads, copies, moves, composed objects, buckets: names are names, never paths."""
    before = tree(server)
    for name in names_outside(server):
        quoted = urllib.parse.quote(name, safe="")
        attacks = [
            ("POST", f"/upload/storage/v1/b/bkt/o?uploadType=media&name={quoted}", b"evil"),
            ("POST", f"/upload/storage/v1/b/{quoted}/o?uploadType=media&name=evil", b"evil"),
            ("POST", f"/storage/v1/b/bkt/o/content/copyTo/b/bkt/o/{quoted}", {}),
            ("POST", f"/storage/v1/b/bkt/o/content/rewriteTo/b/{quoted}/o/evil", {}),
            ("POST", f"/storage/v1/b/bkt/o/{quoted}/copyTo/b/bkt/o/copied", {}),
            ("POST", f"/storage/v1/b/bkt/o/{quoted}/compose", {"sourceObjects": [{"name": "content"}]}),
            ("POST", f"/storage/v1/b/bkt/o/{quoted}/moveTo/o/moved", {}),
            ("DELETE", f"/storage/v1/b/bkt/o/{quoted}", None),
            ("DELETE", f"/storage/v1/b/{quoted}", None),
            ("POST", "/storage/v1/b?project=p", {"name": name}),
        ]
        for method, path, body in attacks:
            options = (
                {"data": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
            )
            answer = server.request(method, path, **options)
            assert answer.status_code < 500 and CANARY not in answer.content, (method, path, answer.text)
    assert tree(server) == before
    assert (server.data / "canary").read_bytes() == (server.data.parent / "canary").read_bytes() == CANARY
    assert server.request("GET", "/storage/v1/b/bkt/o/content?alt=media").content == CONTENT


@pytest.mark.parametrize(
    "upload_id",
    [
        "../canary",
        "..%2fcanary",
        "%2e%2e%2fcanary",
        "../run/secret",
        "..",
        ".",
        "",
        "%2f",
        "a%00b",
        "%c0%ae%c0%ae%c0%afcanary",
        "0123456789abcdef0123456789abcdef",
        "x" * 5000,
    ],
)
def test_upload_ids_are_not_paths(server, upload_id):
    for method, more in (
        ("PUT", {"Content-Range": "bytes */*"}),
        ("PUT", {"Content-Range": "bytes 0-3/4"}),
        ("DELETE", {}),
    ):
        answer = server.request(
            method,
            f"/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id={upload_id}",
            headers=more,
            data=b"evil" if "0-3" in str(more) else b"",
        )
        assert 400 <= answer.status_code < 500 and CANARY not in answer.content, answer.text
    assert (server.data / "canary").read_bytes() == CANARY and not (server.data / "uploads/../evil").exists()


GOOD = {"packageUris": ["gs://bkt/content"], "pythonModule": "probe.task"}
NOT_FOR_JOBS = [
    {"packageUris": ["gs://../canary"]},
    {"packageUris": ["gs://bkt/../canary"]},
    {"packageUris": ["gs://bkt/../../canary"]},
    {"packageUris": ["gs://bkt"]},
    {"packageUris": ["gs:///etc/passwd"]},
    {"packageUris": ["file:///etc/passwd"]},
    {"packageUris": ["/etc/passwd"]},
    {"packageUris": ["gs://bkt/%2e%2e%2fcanary"]},
    {"packageUris": ["--help"]},
    {"packageUris": ["-rx"]},
    {"packageUris": ["gs://-b/x.tar.gz"]},
    {"packageUris": ["gs://bkt/content\0"]},
    {"packageUris": ["gs://bkt/a\nb"]},
    {"pythonModule": "--help"},
    {"pythonModule": "-c"},
    {"pythonModule": "../probe"},
    {"pythonModule": "a b"},
    {"pythonModule": "a\0b"},
    {"pythonModule": "/etc/passwd"},
    {"jobDir": "gs://../canary"},
    {"jobDir": "/etc"},
    {"jobDir": "file:///etc"},
    {"runtimeVersion": "../canary"},
    {"runtimeVersion": "--help"},
    {"pythonVersion": "../3.11"},
    {"region": "../us-central1"},
]


@pytest.mark.parametrize("bad", NOT_FOR_JOBS, ids=str)
def test_jobs_name_no_paths_and_no_options(server, bad):
    answer = server.create("held", **{**GOOD, **bad})
    assert answer.status_code == 400 and CANARY not in answer.content, answer.text
    assert server.request("GET", "/v1/projects/p/jobs/held").status_code == 404


@pytest.mark.parametrize(
    "image",
    [
        "-x",
        "--help",
        "--authfile=/etc/passwd",
        "-",
        "docker://--help",
        "docker://-x/y",
        "oci:-x",
        "oci-archive:--help",
        "dir:/etc",
        "docker-daemon:-x",
        "containers-storage:[/etc]x",
        "a b",
        "a;b",
        "$(id)",
        "`id`",
        "a\nb",
        "a\0b",
        "../../etc",
        "/etc/passwd",
        "a/../b",
        "https://a/b",
    ],
)
def test_images_are_no_options(server, image):
    """For skopeo, crun and the engine a reference is one word that begins with a letter or digit."""
    answer = server.create("held", masterConfig={"imageUri": image})
    assert answer.status_code == 400, answer.text
    if not image.startswith("-"):  # which the command line takes for an option of its own
        run = server.trainyard("images", "pull", image.replace("\0", "\x01"), "--data", str(server.data))
        assert run.returncode == 1 and "is not the name of a container image" in run.stderr, run


@pytest.mark.parametrize(
    "job_id", ["..", "../x", "%2e%2e", "a%00b", "-x", "--help", "a%0ab", "%c0%ae", "a%2f..%2fb", "a;b"]
)
def test_job_ids_are_no_paths(server, job_id):
    for method, path in (
        ("GET", f"/v1/projects/p/jobs/{job_id}"),
        ("POST", f"/v1/projects/p/jobs/{job_id}:cancel"),
        ("GET", f"/trainyard/v1/projects/p/jobs/{job_id}"),
        ("GET", f"/v1/projects/{job_id}/jobs/x"),
    ):
        said = converse(
            server,
            lines(
                f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Length: 0", "Connection: close", ""
            ),
        )
        assert said[9:12] in (b"400", b"404"), said
    assert server.create(urllib.parse.unquote(job_id, errors="replace"), **GOOD).status_code == 400


# Names that are no names.

BAD_NAMES = [
    "%00",
    "a%00b",
    "%ff",
    "%c0%af",
    "%c0%80",
    "%e0%80%af",
    "%f0%80%80%af",
    "%ed%a0%80",
    "%ed%b0%80",
    "%f4%90%80%80",
    "%f5%80%80%80",
    "%80",
    "a%c3",
    "%",
    "%2",
    "%zz",
    "%0",
    "%-1",
    "%u0041",
    "a%0ab",
    "a%0db",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bytes_that_are_no_name_are_refused(server, name):
    """NUL, line ends, overlong forms, surrogates, half characters, broken percent signs: 400 wherever a name
    may stand."""
    before = sorted((server.data / "buckets").rglob("*"))
    for method, path in (
        ("GET", f"/storage/v1/b/bkt/o/{name}"),
        ("DELETE", f"/storage/v1/b/bkt/o/{name}"),
        ("POST", f"/upload/storage/v1/b/bkt/o?uploadType=media&name={name}"),
        ("POST", f"/storage/v1/b/bkt/o/content/copyTo/b/bkt/o/{name}"),
        ("GET", f"/v1/projects/p/jobs/{name}"),
    ):
        said = converse(
            server,
            lines(
                f"{method} {path} HTTP/1.1",
                "Host: localhost",
                "Content-Type: application/json",
                "Content-Length: 2",
                "Connection: close",
                "",
            )
            + b"{}",
        )
        assert said[9:12] in ((b"400", b"404") if "jobs" in path else (b"400",)), (method, path, said[:300])
    assert sorted((server.data / "buckets").rglob("*")) == before


@pytest.mark.parametrize(
    "body",
    [
        rb'{"jobId": "a\u0000b"}',
        rb'{"jobId": "\ud800"}',
        rb'{"jobId": "\udc00\ud800"}',
        b'{"jobId": "\xc0\xaf"}',
        b'{"jobId": "\xed\xa0\x80"}',
        b'{"jobId": "a\0b"}',
        b'{"jobId": "\xff"}',
        rb'{"jobId": "\u12"}',
        b'{"labels": {"a\xc0\xaf": "b"}, "jobId": "held"}',
        b'\xef\xbb\xbf{"jobId": "held"',
        b'{"jobId": "a\nb"}',
        b'{"jobId": "held", "jobId": "held2"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_json_that_is_none(server, body):
    answer = server.request(
        "POST", "/v1/projects/p/jobs", data=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400 and answer.json()["error"]["status"] == "INVALID_ARGUMENT"


# Ranges.

WHOLE, NOTHING = (200, CONTENT), (416, None)
RANGES = {
    "bytes=0-18446744073709551615": (206, CONTENT),
    "bytes=0-99999999999999999999999": WHOLE,
    "bytes=1-0": WHOLE,
    "bytes=18446744073709551615-": NOTHING,
    "bytes=18446744073709551616-": WHOLE,
    "bytes=1024-": NOTHING,
    "bytes=-0": NOTHING,
    "bytes=-18446744073709551615": (206, CONTENT),
    "bytes=--1": WHOLE,
    "bytes=-1--1": WHOLE,
    "bytes=0--1": WHOLE,
    "bytes=+0-+1": WHOLE,
    "bytes=0x0-0x1": WHOLE,
    "bytes= 0-1": (206, CONTENT[:2]),
    "bytes=0-1,2-3": WHOLE,
    "bytes=0-,0-,0-": WHOLE,
    "bytes=" + "0-," * 5_000 + "0-": WHOLE,
    "bytes=1023-1023": (206, CONTENT[-1:]),
    "bytes=": WHOLE,
    "bytes": WHOLE,
    "octets=0-1": WHOLE,
    "": WHOLE,
}


@pytest.mark.parametrize("value", RANGES, ids=lambda value: value[:30] or "empty")
def test_ranges(server, value):
    """Of several ranges none is served apart: no answer is longer than the object."""
    status, content = RANGES[value]
    answer = server.request("GET", "/storage/v1/b/bkt/o/content?alt=media", headers={"Range": value})
    assert answer.status_code == status and (content is None or answer.content == content), answer.headers
    front_status, said = ask_front(server, "/bkt/content", f"Range: {value}")
    assert front_status == status and (content is None or said.partition(b"\r\n\r\n")[2] == content)


@pytest.mark.parametrize(
    "value",
    [
        "bytes 5-3/10",
        "bytes -1-3/4",
        "bytes 0-18446744073709551615/*",
        "bytes 0-18446744073709551616/*",
        "bytes 18446744073709551615-18446744073709551615/*",
        "bytes 9223372036854775807-9223372036854775807/*",
        "bytes 0-3/2",
        "bytes 0-3",
        "0-3/4",
        "bytes 1000000000000-1000000000003/1000000000004",
    ],
)
def test_ranges_of_uploads(server, value):
    session = server.request(
        "POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=held", json={}
    ).headers["Location"]
    path = session.removeprefix(server.url)
    assert path.startswith("/"), session
    answer = server.request("PUT", path, data=b"evil", headers={"Content-Range": value})
    assert answer.status_code >= 300, answer.text
    assert server.request("GET", "/storage/v1/b/bkt/o/held").status_code == 404
    assert (
        max((path.stat().st_blocks * 512 for path in (server.data / "uploads").rglob("*")), default=0)
        < 1 << 20
    )
    assert server.request("DELETE", path).status_code in (204, 404, 499)


# Locks.


def test_a_forged_lock_kills_nobody(make_server, upload):
    """The pid in an attempt's lock is its supervisor's only if that process holds the lock. Whoever writes
    another pid into it, or makes attempts of his own, lets the server signal nobody else and hides no job
    from it."""
    server = make_server("--stop-grace", "1")
    server.submit(
        "victim",
        packageUris=[upload(server, "probe")],
        pythonModule="probe.task",
        args=["print", "up", "forever"],
    )
    server.wait_for_text("victim", "up")
    with subprocess.Popen(["sleep", "1000"]) as bystander:
        try:
            (attempt,) = (server.data / "attempts").iterdir()
            server.kill()
            (attempt / "lock").write_text(f"{bystander.pid}\n")
            forged = server.data / "attempts/1-worker-replica-0-1"
            forged.mkdir()
            (forged / "lock").write_text(f"{bystander.pid}\n")
            (forged / "manifest.pb").write_bytes((attempt / "manifest.pb").read_bytes())
            server.start()
            assert server.get("victim")["state"] == "RUNNING"
            server.cancel("victim")
            assert server.wait("victim")["state"] == "CANCELLED"
            wait_for(
                lambda: not processes_with(f"{attempt}") or None,
                lambda: f"left: {processes_with(f'{attempt}')}",
            )
            assert bystander.poll() is None, "the server has killed a process that is none of its"
        finally:
            kill(bystander.pid)


# Connections.


def test_idle_and_half_open_connections_keep_nobody_out(server):
    host, port = server.url.removeprefix("http://").split(":")
    crowd = []
    try:
        for number in range(400):
            crowd.append(socket.create_connection((host, int(port)), timeout=30))
            if number % 2:
                crowd[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        for _ in range(50):
            begin = time.monotonic()
            assert server.request("GET", "/storage/v1/b/bkt/o/content").status_code == 200
            assert time.monotonic() - begin < 10
    finally:
        for connection in crowd:
            connection.close()
