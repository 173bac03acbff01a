"""gsutil from PyPI, unmodified, over TLS: its JSON client speaks nothing else."""

import os


def test_round_trip_and_listing(gsutil, server, tmp_path):
    gsutil("mb", "gs://bucket")
    content = os.urandom(300_000)
    (tmp_path / "x.bin").write_bytes(content)
    gsutil("cp", tmp_path / "x.bin", "gs://bucket/a/x.bin")
    assert (server.data / "buckets/bucket/a/x.bin").read_bytes() == content
    gsutil("cp", "gs://bucket/a/x.bin", tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == content
    assert gsutil("cat", "-r", "5-9", "gs://bucket/a/x.bin").stdout == content[5:10]
    assert gsutil("ls", "gs://bucket").stdout.split() == [b"gs://bucket/a/"]
    assert gsutil("ls", "-a", "gs://bucket/a/**").stdout.startswith(b"gs://bucket/a/x.bin#")
    long = gsutil("ls", "-L", "gs://bucket/a/x.bin").stdout
    assert b"Hash (md5):" in long and b"300000" in long
    assert b"300000" in gsutil("du", "-s", "gs://bucket").stdout
    assert gsutil("stat", "gs://bucket/nothing", check=False).returncode == 1


def test_resumable_and_streamed(gsutil, server, tmp_path):
    gsutil("mb", "gs://bucket")
    content = os.urandom(5_000_001)
    (tmp_path / "big").write_bytes(content)
    gsutil("cp", tmp_path / "big", "gs://bucket/big")
    assert (server.data / "buckets/bucket/big").read_bytes() == content
    gsutil("cp", "-", "gs://bucket/streamed", stdin=content)
    assert (server.data / "buckets/bucket/streamed").read_bytes() == content


def test_gzip(gsutil, server, tmp_path):
    gsutil("mb", "gs://bucket")
    text = b"text " * 50_000
    (tmp_path / "x.txt").write_bytes(text)
    gsutil("cp", "-Z", tmp_path / "x.txt", "gs://bucket/stored.txt")
    assert (server.data / "buckets/bucket/stored.txt").read_bytes()[:2] == b"\x1f\x8b"
    gsutil("cp", "gs://bucket/stored.txt", tmp_path / "back.txt")
    assert (tmp_path / "back.txt").read_bytes() == text
    gsutil("cp", "-J", tmp_path / "x.txt", "gs://bucket/sent.txt")
    assert (server.data / "buckets/bucket/sent.txt").read_bytes() == text


def test_metadata_preconditions_compose_rsync_remove(gsutil, server, tmp_path):
    gsutil("mb", "gs://bucket")
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "one").write_text("1")
    (tree / "sub/two").write_text("2")
    gsutil("-m", "rsync", "-r", tree, "gs://bucket/tree")
    gsutil("setmeta", "-h", "Content-Type:text/q", "-h", "x-goog-meta-k:v", "gs://bucket/tree/one")
    shown = gsutil("stat", "gs://bucket/tree/one").stdout
    assert b"text/q" in shown and b"k:" in shown
    refused = gsutil("-h", "x-goog-if-generation-match:0", "cp", tree / "one", "gs://bucket/tree/one", check=False)
    assert refused.returncode != 0 and b"Precondition" in refused.stderr, refused.stderr
    gsutil("cp", "-n", tree / "one", "gs://bucket/tree/one")
    gsutil("compose", "gs://bucket/tree/one", "gs://bucket/tree/sub/two", "gs://bucket/whole")
    assert (server.data / "buckets/bucket/whole").read_text() == "12"
    gsutil("mv", "gs://bucket/whole", "gs://bucket/moved")
    gsutil("cp", "-r", "gs://bucket/tree", "gs://bucket/copy")
    assert (server.data / "buckets/bucket/copy/sub/two").read_text() == "2"
    gsutil("-m", "rm", "-r", "gs://bucket")
    assert not (server.data / "buckets/bucket").exists()


def test_bucket_settings(gsutil):
    gsutil("mb", "-l", "us-central1", "gs://bucket")
    gsutil("label", "ch", "-l", "team:x", "gs://bucket")
    assert b"team" in gsutil("label", "get", "gs://bucket").stdout
    assert b"US-CENTRAL1" in gsutil("ls", "-L", "-b", "gs://bucket").stdout
    assert b"etag" in gsutil("iam", "get", "gs://bucket").stdout
    refused = gsutil("versioning", "set", "on", "gs://bucket", check=False)
    assert refused.returncode == 1 and b"versioning is not supported" in refused.stderr, refused.stderr
    refused = gsutil("acl", "get", "gs://bucket", check=False)
    assert refused.returncode == 1, refused.stdout
