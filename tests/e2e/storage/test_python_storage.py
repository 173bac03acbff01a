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


def test_batch(bucket, client):
    blobs = [bucket.blob(f"b/{i}") for i in range(20)]
    for blob in blobs:
        blob.upload_from_string("x")
    with client.batch():
        for blob in blobs:
            blob.metadata = {"k": "v"}
            blob.patch()
    assert all(blob.metadata == {"k": "v"} and blob.metageneration == 2 for blob in blobs)
    with pytest.raises(exceptions.NotFound), client.batch():
        blobs[0].delete()
        bucket.blob("nothing").delete()
        blobs[1].delete()
    assert len(list(client.list_blobs("bucket"))) == 18
    bucket.delete_blobs(blobs, on_error=lambda blob: None)
    with client.batch(raise_exception=False) as batch:
        bucket.blob("gone").delete()
    assert batch._responses[0].status_code == 404


def test_conditional_reads(bucket):
    blob = bucket.blob("x")
    blob.upload_from_string("one")
    blob.reload()
    assert blob.download_as_bytes(if_etag_match=blob.etag) == b"one"
    with pytest.raises(exceptions.PreconditionFailed):
        blob.download_as_bytes(if_etag_match="other")
    with pytest.raises(exceptions.NotModified):
        blob.reload(if_generation_not_match=blob.generation)
    with pytest.raises(exceptions.NotModified):
        bucket.blob("x").download_as_bytes(if_metageneration_not_match=1)
    old = blob.generation
    blob.upload_from_string("two")
    with pytest.raises(exceptions.NotFound):
        bucket.blob("x", generation=old).download_as_bytes()
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("y").compose([blob], if_source_generation_match=[old])
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.copy_blob(blob, bucket, "y", if_source_generation_match=old)


def test_gzip_object(bucket):
    import gzip

    blob = bucket.blob("z")
    blob.content_encoding = "gzip"
    blob.upload_from_string(gzip.compress(b"text " * 1000), content_type="text/plain")
    assert bucket.blob("z").download_as_bytes() == b"text " * 1000
    raw = bucket.blob("z").download_as_bytes(raw_download=True)
    assert gzip.decompress(raw) == b"text " * 1000


def test_globs_and_offsets(bucket, client):
    for name in ["a/1.csv", "a/b/2.csv", "c.csv", "d.txt"]:
        bucket.blob(name).upload_from_string(name)
    names = lambda **query: [blob.name for blob in client.list_blobs("bucket", **query)]  # noqa: E731
    assert names(match_glob="**.csv") == ["a/1.csv", "a/b/2.csv", "c.csv"]
    assert names(match_glob="*.{csv,txt}") == ["c.csv", "d.txt"]
    assert names(start_offset="a/b", end_offset="d") == ["a/b/2.csv", "c.csv"]
    assert names(fields="items(name),nextPageToken", page_size=1) == ["a/1.csv", "a/b/2.csv", "c.csv", "d.txt"]
    assert names(versions=True) == names()


def test_bucket_labels_and_refusals(client, bucket):
    bucket.labels = {"team": "x", "b": "c"}
    bucket.patch()
    again = client.get_bucket("bucket")
    labels = again.labels
    del labels["b"]
    again.labels = labels
    again.update()
    assert client.get_bucket("bucket").labels == {"team": "x"}
    owners = {member for one in bucket.get_iam_policy().bindings for member in one["members"] if "legacyBucketOwner" in one["role"]}
    assert owners == {"projectEditor:p", "projectOwner:p"}, "what a new bucket has in Cloud Storage, too"
    assert bucket.test_iam_permissions(["storage.objects.get"]) == ["storage.objects.get"]
    bucket.versioning_enabled = True
    with pytest.raises(exceptions.BadRequest, match="versioning is not supported"):
        bucket.patch()
    with pytest.raises(exceptions.BadRequest, match="Access control lists are not supported"):
        list(bucket.acl)
    with pytest.raises(exceptions.BadRequest, match="HMAC keys are not supported"):
        list(client.list_hmac_keys())
    assert list(bucket.list_notifications()) == []


def test_an_upload_goes_on_after_the_server_was_killed(bucket, server, client, monkeypatch):
    """What a client does by itself when its connection breaks: it asks how much is there and sends the rest."""
    import requests

    chunk = 256 * 1024
    content = os.urandom(2 * chunk + 5)
    url = bucket.blob("big").create_resumable_upload_session(size=len(content))
    put = lambda a, b: requests.put(url, data=content[a:b],  # noqa: E731
                                    headers={"Content-Range": f"bytes {a}-{b - 1}/{len(content)}"})
    first = put(0, chunk)
    assert (first.status_code, first.headers["Range"]) == (308, f"bytes=0-{chunk - 1}")
    server.kill()
    server.start()
    url = server.url + url[url.index("/", 8):]
    asked = requests.put(url, headers={"Content-Range": f"bytes */{len(content)}"})
    assert (asked.status_code, asked.headers["Range"]) == (308, f"bytes=0-{chunk - 1}")
    done = put(chunk, len(content))
    assert done.status_code == 200 and (server.data / "buckets/bucket/big").read_bytes() == content
    assert put(chunk, len(content)).json()["generation"] == done.json()["generation"]
    assert requests.delete(url).status_code == 404
