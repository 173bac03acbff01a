"""google-cloud-storage from PyPI, unmodified, pointed at the server by STORAGE_EMULATOR_HOST."""

import io
import os

import pytest

storage = pytest.importorskip("google.cloud.storage", reason="SKIPPED: google-cloud-storage is not installed")
from google.api_core import exceptions  # noqa: E402
from google.auth.credentials import AnonymousCredentials  # noqa: E402


@pytest.fixture
def client(server, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
    return storage.Client(project="p", credentials=AnonymousCredentials())


@pytest.fixture
def bucket(client):
    return client.create_bucket("bucket")


def test_round_trip(bucket, server):
    blob = bucket.blob("a/b ü.txt")
    blob.metadata = {"k": "v"}
    blob.upload_from_string("hello", content_type="text/plain")
    assert (server.data / "buckets/bucket/a/b ü.txt").read_bytes() == b"hello"
    got = bucket.get_blob("a/b ü.txt")
    assert (got.size, got.content_type, got.metadata, got.metageneration) == (5, "text/plain", {"k": "v"}, 1)
    assert got.download_as_bytes() == b"hello"
    assert got.download_as_bytes(start=1, end=3) == b"ell"
    assert got.time_created is not None and got.md5_hash == "XUFAKrxLKna5cZ2REBfFkg=="


@pytest.mark.parametrize("checksum", ["md5", "crc32c"])
def test_resumable_in_chunks(bucket, checksum):
    content = os.urandom(1_000_003)
    blob = bucket.blob("big", chunk_size=256 * 1024)
    blob.upload_from_file(io.BytesIO(content), checksum=checksum)
    assert bucket.blob("big", chunk_size=256 * 1024).download_as_bytes(checksum=checksum) == content


def test_writer_of_unknown_length(bucket):
    with bucket.blob("stream").open("wb", chunk_size=256 * 1024) as out:
        for _ in range(10):
            out.write(b"x" * 100_000)
    with bucket.blob("stream").open("rb") as back:
        back.seek(999_990)
        assert back.read() == b"x" * 10


def test_empty_object(bucket):
    bucket.blob("empty").upload_from_string(b"")
    assert bucket.get_blob("empty").size == 0
    assert bucket.blob("empty").download_as_bytes() == b""


def test_listing(bucket, client):
    for name in ["b", "a/1", "a/2", "a-"]:
        bucket.blob(name).upload_from_string(name)
    assert [blob.name for blob in client.list_blobs("bucket")] == ["a-", "a/1", "a/2", "b"]
    assert [blob.name for blob in client.list_blobs("bucket", page_size=1)] == ["a-", "a/1", "a/2", "b"]
    top = client.list_blobs("bucket", delimiter="/")
    assert ([blob.name for blob in top], top.prefixes) == (["a-", "b"], {"a/"})
    assert [found.name for found in client.list_buckets()] == ["bucket"]


def test_preconditions(bucket):
    blob = bucket.blob("x")
    blob.upload_from_string("one", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        blob.upload_from_string("two", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        blob.delete(if_generation_match=1)
    blob.delete(if_generation_match=blob.generation)
    with pytest.raises(exceptions.NotFound):
        blob.reload()
    assert not blob.exists()


def test_copy_rename_compose_patch(bucket):
    one, two = bucket.blob("one"), bucket.blob("two")
    one.upload_from_string("1", content_type="text/one")
    two.upload_from_string("2")
    assert bucket.copy_blob(one, bucket, "copy").content_type == "text/one"
    assert bucket.rename_blob(bucket.blob("copy"), "renamed").name == "renamed"
    target = bucket.blob("rewritten")
    target.rewrite(one)
    whole = bucket.blob("whole")
    whole.compose([one, two])
    assert whole.download_as_bytes() == b"12"
    whole.content_type = "text/whole"
    whole.metadata = {"k": "v", "gone": None}
    whole.patch()
    assert (whole.content_type, whole.metadata, whole.metageneration) == ("text/whole", {"k": "v"}, 2)
    whole.content_type = "text/again"
    whole.update()
    assert bucket.get_blob("whole").content_type == "text/again"


def test_wrong_checksum_is_refused(bucket):
    blob = bucket.blob("x")
    blob.md5_hash = "AAAAAAAAAAAAAAAAAAAAAA=="
    with pytest.raises(exceptions.BadRequest, match="doesn't match calculated MD5 hash"):
        blob.upload_from_string("hello")
    assert not bucket.blob("x").exists()


def test_buckets(client, bucket):
    with pytest.raises(exceptions.Conflict):
        client.create_bucket("bucket")
    bucket.blob("x").upload_from_string("x")
    with pytest.raises(exceptions.Conflict):
        bucket.delete()
    bucket.delete(force=True)
    assert client.lookup_bucket("bucket") is None


def test_a_file_that_changed_behind_our_back(bucket, server):
    bucket.blob("x").upload_from_string("one")
    (server.data / "buckets/bucket/x").write_bytes(b"by another program")
    assert bucket.get_blob("x").download_as_bytes(checksum="md5") == b"by another program"
