"""The real `gcloud storage` against the server."""

import os


def lines(done):
    return done.stdout.decode().split()


def test_copy_there_and_back(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    content = os.urandom(100_000)
    (tmp_path / "x.bin").write_bytes(content)
    gcloud("storage", "cp", tmp_path / "x.bin", "gs://bucket/a/x.bin")
    assert (server.data / "buckets/bucket/a/x.bin").read_bytes() == content
    gcloud("storage", "cp", "gs://bucket/a/x.bin", tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == content
    assert gcloud("storage", "cat", "gs://bucket/a/x.bin").stdout == content
    assert gcloud("storage", "cat", "-r", "5-9", "gs://bucket/a/x.bin").stdout == content[5:10]


def test_the_first_upload_makes_the_bucket_wherever_it_goes(gcloud, server, tmp_path):
    (tmp_path / "x").write_bytes(b"1")
    for place, written in (("gs://first/a/", "first/a/x"), ("gs://second/a/y", "second/a/y")):
        gcloud("storage", "cp", tmp_path / "x", place)
        assert (server.data / "buckets" / written).read_bytes() == b"1"
    refused = gcloud("storage", "ls", "gs://third/a/", check=False)
    assert refused.returncode == 1 and not (server.data / "buckets/third").exists()


def test_empty_and_odd_names(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    (tmp_path / "empty").write_bytes(b"")
    gcloud("storage", "cp", tmp_path / "empty", "gs://bucket/ä b%2F#c")
    assert gcloud("storage", "cat", "gs://bucket/ä b%2F#c").stdout == b""
    assert lines(gcloud("storage", "ls", "--recursive", "gs://bucket/"))[-1].endswith("b%2F#c")


def test_resumable_upload_of_a_large_file(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    content = os.urandom(9_000_001)
    (tmp_path / "big").write_bytes(content)
    gcloud("storage", "cp", tmp_path / "big", "gs://bucket/big", resumable_threshold="1Mi")
    assert (server.data / "buckets/bucket/big").read_bytes() == content
    gcloud("storage", "cp", "gs://bucket/big", tmp_path / "back", sliced_object_download_threshold="1Mi",
           sliced_object_download_component_size="2Mi")
    assert (tmp_path / "back").read_bytes() == content


def test_parallel_composite_upload(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    content = os.urandom(9_000_001)
    (tmp_path / "big").write_bytes(content)
    gcloud("storage", "cp", tmp_path / "big", "gs://bucket/big", parallel_composite_upload_enabled=True,
           parallel_composite_upload_threshold="1Mi", parallel_composite_upload_component_size="4Mi",
           parallel_composite_upload_compatibility_check=False, resumable_threshold="1Mi")
    assert (server.data / "buckets/bucket/big").read_bytes() == content
    assert [path.name for path in (server.data / "buckets/bucket").iterdir()] == ["big"]


def test_gzip_in_flight(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    (tmp_path / "text").write_bytes(b"text " * 10_000)
    gcloud("storage", "cp", "--gzip-in-flight-all", tmp_path / "text", "gs://bucket/text")
    assert (server.data / "buckets/bucket/text").read_bytes() == b"text " * 10_000


def test_folders_copy_move_rsync_remove(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "one").write_text("1")
    (tree / "sub/two").write_text("2")
    gcloud("storage", "cp", "-r", tree, "gs://bucket/")
    gcloud("storage", "cp", "gs://bucket/tree/one", "gs://bucket/copy")
    gcloud("storage", "mv", "gs://bucket/copy", "gs://bucket/moved")
    assert lines(gcloud("storage", "ls", "gs://bucket/**")) == [
        "gs://bucket/moved", "gs://bucket/tree/one", "gs://bucket/tree/sub/two"]
    assert lines(gcloud("storage", "ls", "gs://bucket")) == ["gs://bucket/moved", "gs://bucket/tree/"]
    (tree / "sub/two").write_text("22")
    gcloud("storage", "rsync", "-r", tree, "gs://bucket/tree")
    assert (server.data / "buckets/bucket/tree/sub/two").read_text() == "22"
    described = gcloud("storage", "objects", "describe", "gs://bucket/moved").stdout.decode()
    assert "size: 1" in described and "md5_hash:" in described
    gcloud("storage", "rm", "-r", "gs://bucket")
    assert not (server.data / "buckets/bucket").exists()


def test_answers_make_gcloud_warn_of_nothing(gcloud, server, tmp_path):
    (tmp_path / "x").write_text("x")
    said = gcloud("storage", "buckets", "create", "gs://bucket").stderr
    said += gcloud("storage", "cp", tmp_path / "x", "gs://bucket/x").stderr
    said += gcloud("storage", "ls", "-l", "gs://bucket/x").stderr
    assert b"WARNING" not in said, said


def test_errors_are_readable(gcloud, server):
    missing = gcloud("storage", "ls", "gs://nothing-here", check=False)
    assert missing.returncode == 1 and b"404" in missing.stderr
    gcloud("storage", "buckets", "create", "gs://bucket")
    again = gcloud("storage", "buckets", "create", "gs://bucket", check=False)
    assert again.returncode == 1 and b"409" in again.stderr


def test_bucket_and_object_settings(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket", "--location=us-central1")
    gcloud("storage", "buckets", "update", "gs://bucket", "--update-labels=team=x,b=c")
    gcloud("storage", "buckets", "update", "gs://bucket", "--remove-labels=b")
    shown = gcloud("storage", "buckets", "describe", "gs://bucket").stdout
    assert b"team: x" in shown and b"b: c" not in shown and b"US-CENTRAL1" in shown
    refused = gcloud("storage", "buckets", "update", "gs://bucket", "--versioning", check=False)
    assert refused.returncode == 1 and b"versioning is not supported" in refused.stderr, refused.stderr
    (tmp_path / "x").write_text("x")
    gcloud("storage", "cp", tmp_path / "x", "gs://bucket/x", "--content-type=text/q", "--custom-metadata=k=v",
           "--cache-control=no-store")
    gcloud("storage", "objects", "update", "gs://bucket/x", "--update-custom-metadata=l=w", "--content-language=de")
    shown = gcloud("storage", "objects", "describe", "gs://bucket/x").stdout
    for text in [b"text/q", b"k: v", b"l: w", b"no-store", b"content_language: de", b"metageneration: '2'"]:
        assert text in shown or text.replace(b"'", b"") in shown, (text, shown)
    gcloud("storage", "objects", "compose", "gs://bucket/x", "gs://bucket/x", "gs://bucket/xx")
    assert gcloud("storage", "cat", "gs://bucket/xx").stdout == b"xx"
    refused = gcloud("storage", "cp", tmp_path / "x", "gs://bucket/x", "--if-generation-match=0", check=False)
    assert refused.returncode == 1 and b"412" in refused.stderr, refused.stderr
    gcloud("storage", "ls", "--all-versions", "gs://bucket")
    gcloud("storage", "buckets", "get-iam-policy", "gs://bucket")


def test_stored_as_gzip(gcloud, server, tmp_path):
    gcloud("storage", "buckets", "create", "gs://bucket")
    (tmp_path / "x.txt").write_bytes(b"text " * 10_000)
    gcloud("storage", "cp", "--gzip-local-all", tmp_path / "x.txt", "gs://bucket/x.txt")
    assert (server.data / "buckets/bucket/x.txt").read_bytes()[:2] == b"\x1f\x8b"
    gcloud("storage", "cp", "gs://bucket/x.txt", tmp_path / "back.txt")
    assert (tmp_path / "back.txt").read_bytes() == b"text " * 10_000
