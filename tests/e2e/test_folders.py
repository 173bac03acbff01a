"""Folders of buckets: counted, downloaded as archives that no unpacker is led astray by, deleted part by part."""

import http.client
import io
import os
import subprocess
import tarfile
import zipfile
from urllib.parse import quote

import pytest

from trainyard_server import Server, wait_for

HOSTILE = {"../../../tmp/escape": "%2E%2E/%2E%2E/%2E%2E/tmp/escape", "/etc/passwd": "%2F/etc/passwd", "a//b": "a/%2F/b", "./c": "%2E/c",
           "..\\..\\windows": "..%5C..%5Cwindows", "C:\\d": "C%3A%5Cd", "tab\there": "tab%09here", "\x1b[31mred": "%1B[31mred",
           "%2E%2E/e": "%252E%252E/e", "\u00fcber/\u202egnp.exe": "\u00fcber/\u202egnp.exe", "both": "both", "both/more": "both%2F/more"}


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("folders"), environments=environments)
    yield server
    server.stop()


class Bucket:
    """One of its own for each test."""
    made = 0

    def __init__(self, server):
        Bucket.made += 1
        self.server, self.name = server, f"bucket-{Bucket.made}"
        self.folder = f"/trainyard/v1/buckets/{self.name}/folder"
        self.path = server.data / "buckets" / self.name
        self.put("keep")

    def put(self, name, content=b"x"):
        path = f"/upload/storage/v1/b/{self.name}/o?uploadType=media&name={quote(name, safe='')}"
        answer = self.server.request("POST", path, data=content)
        assert answer.ok, (name, answer.text)

    def names(self):
        return [item["name"] for item in self.server.request("GET", f"/storage/v1/b/{self.name}/o").json()["items"]]

    def ask(self, verb, method="GET", **params):
        return self.server.request(method, self.folder + verb, params=params)

    def download(self, prefix, form):
        answer = self.ask(":download", prefix=prefix, format=form)
        assert answer.ok, answer.text
        return answer

    def connect(self, target):
        host, port = self.server.url.removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        connection.request("GET", self.folder + target)
        return connection


@pytest.fixture
def bucket(server):
    return Bucket(server)


def contents(archive, form):
    """By name. Folders are None."""
    if form == "zip":
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            assert zipped.testzip() is None
            return {info.filename: None if info.is_dir() else zipped.read(info) for info in zipped.infolist()}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() if member.isfile() else None for member in tar}


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_archives_unpack_where_they_are_unpacked(bucket, tmp_path, form):
    for name in HOSTILE:
        bucket.put("run/" + name, name.encode())
    bucket.put("run/large", os.urandom(3_000_000))
    bucket.put("run/empty/", b"")
    bucket.put("running", b"no")
    answer = bucket.download("run/", form)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="run.{form}"'
    found = contents(answer.content, form)
    assert {name: content for name, content in found.items() if name.removeprefix("run/") in HOSTILE.values()} == \
        {"run/" + entry: name.encode() for name, entry in HOSTILE.items()}
    assert len(found) == len(HOSTILE) + 2 and len(found["run/large"]) == 3_000_000 and found.get("run/empty/", found.get("run/empty")) is None
    file, out = tmp_path / f"run.{form}", tmp_path / "out"
    file.write_bytes(answer.content)
    out.mkdir()
    subprocess.run(["tar", "xf", file] if form == "tar" else ["python3", "-m", "zipfile", "-e", file, "."], cwd=out, check=True)
    assert [path.name for path in out.iterdir()] == ["run"] and not os.path.exists("/tmp/escape")
    assert sum(path.is_file() for path in out.rglob("*")) == len(HOSTILE) + 1


def test_the_whole_bucket_and_nothing(bucket):
    bucket.put("a", b"1")
    bucket.put("d/b", b"22")
    assert contents(bucket.download("", "zip").content, "zip") == \
        {f"{bucket.name}/{name}": content for name, content in (("a", b"1"), ("d/b", b"22"), ("keep", b"x"))}
    for form in ("zip", "tar"):
        assert contents(bucket.download("nowhere/", form).content, form) == {}
    summary = bucket.ask(":summarize", prefix="").json()
    assert (summary["objects"], summary["bytes"]) == ("3", "4") and summary["newest"].endswith("Z") and "more" not in summary


@pytest.mark.parametrize("method, verb, params, message", [
    ("DELETE", "", {}, "This parameter is required"),
    ("GET", ":summarize", {"prefix": "run"}, 'Must end in "/"'),
    ("GET", ":download", {"prefix": "", "format": "rar"}, "Must be zip or tar"),
    ("GET", ":summarize", {"prefix": "n" * 2000 + "/"}, "Must not be longer than 1024 bytes"),
    ("GET", ":summarize", {"prefix": "", "prefx": "run/"}, "prefx"),
])
def test_mistakes_are_named(bucket, method, verb, params, message):
    bucket.put("run/a")
    answer = bucket.ask(verb, method, **params)
    assert answer.status_code == 400 and message in answer.json()["error"]["message"], answer.text
    assert bucket.names() == ["keep", "run/a"]


def test_a_name_of_a_megabyte_is_refused(server, bucket):
    bucket.put("a")
    assert bucket.ask(":summarize", prefix="n" * (1 << 20) + "/").status_code in (400, 414, 431)
    assert server.request("GET", "/healthz").ok


def test_an_object_that_shrinks_cuts_the_archive(server, bucket):
    """The client sees that it does not have all: the last chunk never comes."""
    bucket.put("run/a", b"a")
    large = bucket.path / "run/z"
    with open(large, "wb") as file:
        file.truncate(200 << 20)
    connection = bucket.connect(":download?prefix=run/&format=tar")
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read(10_000)
    os.truncate(large, 1 << 20)
    with pytest.raises(http.client.IncompleteRead):
        while answer.read(1 << 20):
            pass
    connection.close()
    assert server.request("GET", "/healthz").ok


def test_replaced_objects_are_whole(bucket):
    """What an object was when its turn came."""
    contents_seen = set()
    for number in range(5):
        content = bytes([65 + number]) * 300_000
        bucket.put("run/a", content)
        contents_seen.add(contents(bucket.download("run/", "tar").content, "tar")["run/a"] == content)
    assert contents_seen == {True}


def test_delete_goes_on_until_nothing_is_left(bucket):
    folder = bucket.path / "run/deep"
    folder.mkdir(parents=True)
    for number in range(5200):
        (folder / str(number)).write_bytes(b"x")
    removed, more, asked = 0, True, 0
    while more:
        answer = bucket.ask("", "DELETE", prefix="run/")
        assert answer.ok, answer.text
        removed, more, asked = removed + int(answer.json().get("objects", 0)), answer.json().get("more", False), asked + 1
    assert removed == 5200 and asked > 1
    assert bucket.names() == ["keep"]


@pytest.mark.long  # two minutes
@pytest.mark.parametrize("form", ["zip", "tar"])
def test_beyond_four_gigabytes_in_bounded_memory(server, bucket, tmp_path, form):
    bucket.put("run/first")
    with open(bucket.path / "run/sparse", "wb") as file:
        file.truncate((4 << 30) + (64 << 20))
    for number in range(70_000 if form == "zip" else 10):
        (bucket.path / f"run/{number:07d}").write_bytes(b"")
    before = resident(server)
    file = tmp_path / f"run.{form}"
    asked = server.request("GET", bucket.folder + ":download", params={"prefix": "run/", "format": form}, stream=True)
    assert asked.ok, asked.text
    with asked as answer, open(file, "wb") as out:
        peak = 0
        for piece in answer.iter_content(1 << 20):
            out.write(piece)
            peak = max(peak, resident(server))
    assert peak - before < 1 << 30, (before, peak)  # with a sanitizer, which keeps what was freed
    if form == "zip":
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None and len(archive.infolist()) == 70_002
            assert archive.getinfo("run/sparse").file_size == (4 << 30) + (64 << 20)
    else:
        with tarfile.open(file) as archive:
            assert sum(member.size for member in archive) == (4 << 30) + (64 << 20) + 1


def resident(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_readers_who_go_away_leave_nothing(server, bucket):
    bucket.put("run/a", os.urandom(20_000_000))
    for _ in range(10):
        connection = bucket.connect(":download?prefix=run/")
        assert connection.getresponse().read(10)
        connection.close()
    wait_for(lambda: True if not open_objects(server) else None, lambda: f"open: {open_objects(server)}")


def open_objects(server):
    fds = f"/proc/{server.process.pid}/fd"
    found = []
    for fd in os.listdir(fds):
        try:
            target = os.readlink(f"{fds}/{fd}")
        except OSError:
            continue
        found += [target] if "/buckets/bucket-" in target and "/run/" in target else []
    return found
