"""Uploads over several requests belong to one bucket and to whoever may write to it now, and are counted from their first byte on."""

import json
import re

import pytest

from kept_connection import KeptConnection
from trainyard_server import Server

CHUNK = 256 << 10
UPLOADS_MAX = 1000


class Team:
    """Ann owns project one, Eve project two, each with a bucket; eve is who attacks."""

    def __init__(self, server):
        self.server = server
        self.connection = KeptConnection(server.url)
        self.tokens = {"root": server.token}
        for name, project in (("ann", "one"), ("eve", "two")):
            self.tokens[name] = server.token_for(f"user:{name}@example.com", "roles/trainyard.member", "roles/storage.admin", project=project)
            self.make_bucket(name, project, f"{name}-data")

    def ask(self, who, method, target, body=b"", headers=(), ok=None):
        answer = self.connection.ask(method, target, self.tokens[who], body, headers)
        assert ok is None or answer.status == ok, (target, answer)
        return answer

    def must(self, who, method, target, body):
        content = b"" if body is None else json.dumps(body).encode()
        return json.loads(self.ask(who, method, target, content, (("Content-Type", "application/json"),), ok=200).body)

    def make_bucket(self, who, project, bucket):
        self.must(who, "POST", f"/storage/v1/b?project={project}", {"name": bucket})

    def begin(self, who, bucket, name="o"):
        """The id of an upload of three chunks."""
        answer = self.ask(who, "POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=resumable&name={name}", b"", ok=200)
        return re.search(rb"X-GUploader-UploadID: (\w+)", answer.head)[1].decode()

    def send(self, who, bucket, upload, first, total):
        """A chunk, from `first` on."""
        headers = (("Content-Range", f"bytes {first}-{first + CHUNK - 1}/{total}"),)
        return self.ask(who, "PUT", f"/upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={upload}", b"x" * CHUNK, headers)

    def names(self, bucket):
        return [each["name"] for each in json.loads(self.ask("root", "GET", f"/storage/v1/b/{bucket}/o", ok=200).body).get("items", [])]


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("uploads") / "data", "--auth", "on", "--quota", f"project:two:bucket-bytes={4 * CHUNK}")
    yield Team(server)
    server.stop()


def test_anothers_upload_is_none_below_a_bucket_of_ones_own(team):
    upload = team.begin("ann", "ann-data")
    absent = team.send("eve", "eve-data", "0" * 32, 0, CHUNK)
    for answer in (team.send("eve", "eve-data", upload, 0, CHUNK),
                   team.ask("eve", "DELETE", f"/upload/storage/v1/b/eve-data/o?uploadType=resumable&upload_id={upload}")):
        assert (answer.status, answer.body) == (404, absent.body)
    assert team.send("eve", "ann-data", upload, 0, CHUNK).status == 404  # a bucket that eve does not know
    assert team.names("ann-data") == []
    assert team.send("ann", "ann-data", upload, 0, CHUNK).status == 200
    assert team.names("ann-data") == ["o"]
    assert team.send("eve", "eve-data", upload, 0, CHUNK).status == 404, "a finished one tells nothing of its object"


def test_an_upload_ends_with_the_role_that_began_it(team):
    policy = team.must("ann", "GET", "/storage/v1/b/ann-data/iam", None)
    shared = {"bindings": [*policy["bindings"], {"role": "roles/storage.objectAdmin", "members": ["user:eve@example.com"]}]}
    team.must("ann", "PUT", "/storage/v1/b/ann-data/iam", shared)
    upload = team.begin("eve", "ann-data", "of-eve")
    assert team.send("eve", "ann-data", upload, 0, 2 * CHUNK).status == 308
    # Who may add objects, and replace none, does not finish what was begun by who may.
    shared["bindings"][-1]["role"] = "roles/storage.objectCreator"
    team.must("ann", "PUT", "/storage/v1/b/ann-data/iam", shared)
    refused = team.send("eve", "ann-data", upload, CHUNK, 2 * CHUNK)
    assert refused.status == 403 and b"storage.objects.delete" in refused.body, refused
    team.must("ann", "PUT", "/storage/v1/b/ann-data/iam", {"bindings": policy["bindings"]})
    assert team.send("eve", "ann-data", upload, CHUNK, 2 * CHUNK).status == 404
    assert "of-eve" not in team.names("ann-data")


def test_rights_are_asked_again_when_the_bytes_have_come(team):
    """A body that takes hours: the role goes while it is under way."""
    policy = team.must("ann", "GET", "/storage/v1/b/ann-data/iam", None)
    shared = {"bindings": [*policy["bindings"], {"role": "roles/storage.objectAdmin", "members": ["user:eve@example.com"]}]}
    team.must("ann", "PUT", "/storage/v1/b/ann-data/iam", shared)
    upload = team.begin("eve", "ann-data", "resumable")
    targets = {"POST /upload/storage/v1/b/ann-data/o?uploadType=media&name=media": b"",
               f"PUT /upload/storage/v1/b/ann-data/o?uploadType=resumable&upload_id={upload}": b"Content-Range: bytes 0-1/2\r\n"}
    waiting = []
    for line, header in targets.items():
        slow = KeptConnection(team.server.url)
        slow._open()
        slow.socket.sendall(line.encode() + b" HTTP/1.1\r\nHost: " + slow.host + b"\r\nAuthorization: Bearer " + team.tokens["eve"].encode() +
                            b"\r\n" + header + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        while b"100 Continue\r\n\r\n" not in slow.left:  # the door let it pass, and the handler reads
            slow._more()
        slow.left = b""
        waiting.append(slow)
    team.must("ann", "PUT", "/storage/v1/b/ann-data/iam", {"bindings": policy["bindings"]})
    for slow in waiting:
        slow.socket.sendall(b"xx")
        answer = slow._answer("POST", False)
        assert answer.status in (401, 403, 404), answer
        slow.close()
    assert not {"media", "resumable"} & set(team.names("ann-data"))


def test_an_upload_ends_with_its_bucket(team):
    team.make_bucket("eve", "two", "passed-on")
    upload = team.begin("eve", "passed-on")
    assert team.send("eve", "passed-on", upload, 0, 2 * CHUNK).status == 308
    team.ask("eve", "DELETE", "/storage/v1/b/passed-on", ok=204)
    team.make_bucket("ann", "one", "passed-on")
    policy = team.must("ann", "GET", "/storage/v1/b/passed-on/iam", None)
    policy["bindings"].append({"role": "roles/storage.objectAdmin", "members": ["user:eve@example.com"]})
    team.must("ann", "PUT", "/storage/v1/b/passed-on/iam", {"bindings": policy["bindings"]})
    assert team.send("eve", "passed-on", upload, CHUNK, 2 * CHUNK).status == 404, "though eve may write to the new one"
    assert team.names("passed-on") == []


def test_unfinished_uploads_count_in_the_quota(team):
    uploads = [team.begin("eve", "eve-data", f"part-{i}") for i in range(5)]
    statuses = [team.send("eve", "eve-data", upload, 0, 2 * CHUNK).status for upload in uploads]
    assert statuses == [308] * 4 + [507]
    refused = team.ask("eve", "POST", "/upload/storage/v1/b/eve-data/o?uploadType=media&name=more", b"x")
    assert refused.status == 507 and b"Quota failure for project two" in refused.body, refused
    for upload in uploads:
        team.ask("eve", "DELETE", f"/upload/storage/v1/b/eve-data/o?uploadType=resumable&upload_id={upload}", ok=499)
    team.ask("eve", "POST", "/upload/storage/v1/b/eve-data/o?uploadType=media&name=more", b"x", ok=200)


def test_an_object_is_replaced_once_at_a_time(team):
    """What fills the quota can be replaced and moved, but not be credited to each upload of its name, nor once it is gone."""
    def send_all(upload, chunks=4):
        """How many of them it takes."""
        for i in range(chunks):
            status = team.send("eve", "eve-data", upload, i * CHUNK, 8 * CHUNK).status
            if status != 308:
                assert status == 507
                return i
        return chunks

    def put(name):
        return team.ask("eve", "POST", f"/upload/storage/v1/b/eve-data/o?uploadType=media&name={name}", b"y" * (4 * CHUNK)).status

    for name in team.names("eve-data"):
        team.ask("eve", "DELETE", f"/storage/v1/b/eve-data/o/{name}", ok=204)
    assert (put("o"), put("o")) == (200, 200)
    uploads = [team.begin("eve", "eve-data") for _ in range(3)]
    assert [send_all(upload, 1) for upload in uploads[1:]] == [1, 1]
    assert send_all(uploads[0]) == 2
    assert put("o") == 507, "an upload in one request counts as well"
    team.ask("eve", "POST", "/storage/v1/b/eve-data/o/o/moveTo/o/p", ok=200)
    assert [team.send("eve", "eve-data", upload, CHUNK, 8 * CHUNK).status for upload in uploads[1:]] == [507, 507]
    team.ask("eve", "DELETE", "/storage/v1/b/eve-data/o/p", ok=204)
    assert put("q") == 507, "of the bytes of two uploads, and of half of a third"
    for upload in uploads:
        team.ask("eve", "DELETE", f"/upload/storage/v1/b/eve-data/o?uploadType=resumable&upload_id={upload}", ok=499)
    assert put("q") == 200
    team.ask("eve", "DELETE", "/storage/v1/b/eve-data/o/q", ok=204)

    uploads = []
    for name in ("a", "b", "c"):
        assert put(name) == 200
        uploads.append(team.begin("eve", "eve-data", name))
        team.ask("eve", "DELETE", f"/storage/v1/b/eve-data/o/{name}", ok=204)
    assert [send_all(upload) for upload in uploads] == [4, 0, 0]
    for upload in uploads:
        team.ask("eve", "DELETE", f"/upload/storage/v1/b/eve-data/o?uploadType=resumable&upload_id={upload}", ok=499)


def test_a_project_has_so_many_unfinished_uploads(team):
    target = "/upload/storage/v1/b/eve-data/o?uploadType=resumable&name="
    for i in range(UPLOADS_MAX):
        team.ask("eve", "POST", f"{target}{i}", b"", ok=200)
    refused = team.ask("eve", "POST", target + "more", b"")
    assert refused.status == 507, refused
    assert b"Project two has 1000 unfinished resumable uploads" in refused.body, refused
    team.begin("ann", "ann-data", "of-another-project")
