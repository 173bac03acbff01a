"""gs:// paths as files, in place and by copies."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trainyard_algorithms import paths
from trainyard_algorithms.failure import UserError


class Blob:
    def __init__(self, store: dict[str, bytes], name: str) -> None:
        self.store, self.name = store, name

    def download_to_filename(self, path: str) -> None:
        Path(path).write_bytes(self.store[self.name])

    def upload_from_filename(self, path: str) -> None:
        self.store[self.name] = Path(path).read_bytes()

    def delete(self) -> None:
        del self.store[self.name]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, bytes]:
    """A bucket that google-cloud-storage's stand-in reaches; there is no /gcs."""
    content: dict[str, bytes] = {}
    client = SimpleNamespace(
        list_blobs=lambda bucket, prefix: [
            Blob(content, each) for each in sorted(content) if each.startswith(prefix)
        ],
        bucket=lambda bucket: SimpleNamespace(blob=lambda name: Blob(content, name)),
    )
    monkeypatch.setattr(paths, "MOUNT", tmp_path / "none")
    monkeypatch.setattr(paths, "client", lambda: client)
    monkeypatch.setattr(paths, "temporary", lambda: tmp_path)
    return content


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A bucket `b` that is a folder."""
    monkeypatch.setattr(paths, "MOUNT", tmp_path / "gcs")
    (tmp_path / "gcs/b").mkdir(parents=True)
    return tmp_path / "gcs/b"


def names(found: list[Path]) -> list[str]:
    return [each.name for each in found]


@pytest.mark.parametrize(
    "pattern, found",
    [
        ("gs://b/d/1.csv", ["1.csv"]),
        ("gs://b/d/*.csv", ["1.csv", "2.csv", "x.csv"]),
        ("gs://b/d/[1-9].csv", ["1.csv", "2.csv"]),
        ("gs://b/d/?.csv", ["1.csv", "2.csv", "x.csv"]),
        ("gs://b/*/1.csv", ["1.csv"]),
        ("gs://b/[d]", ["[d]"]),
    ],
)
def test_globs_are_the_same_in_place_and_by_copies(bucket: Path, pattern: str, found: list[str]) -> None:
    objects = ["d/1.csv", "d/2.csv", "d/x.csv", "d/e/9.csv", "[d]"]
    for each in objects:
        (bucket / each).parent.mkdir(parents=True, exist_ok=True)
        (bucket / each).write_text(each)
    assert names(paths.files(pattern)) == found
    assert paths.shown(paths.files(pattern)[0]).startswith("gs://b/")


def test_globs_by_copies(store: dict[str, bytes]) -> None:
    store |= {"d/1.csv": b"1", "d/2.csv": b"2", "d/x.csv": b"x", "d/e/9.csv": b"9", "d/": b""}
    found = paths.files("gs://b/d/[1-9].csv")
    assert [each.read_bytes() for each in found] == [b"1", b"2"]
    assert names(paths.files("gs://b/d/*")) == ["1.csv", "2.csv", "x.csv"]
    assert paths.shown(found[0]) == "gs://b/d/1.csv"
    with pytest.raises(UserError, match=r"gs://b/q\.csv: there is no such file\."):
        paths.files("gs://b/q.csv")


def test_no_file(bucket: Path) -> None:
    (bucket / "d").mkdir()
    with pytest.raises(UserError, match=r"gs://b/\*\.csv: no file matches\."):
        paths.files("gs://b/*.csv")
    with pytest.raises(UserError, match=r"gs://b/d is a folder: name files, as in gs://b/d/\*\."):
        paths.files("gs://b/d")
    with pytest.raises(UserError, match="write gs://BUCKET/PATH"):
        paths.files("gs:///x")


def test_job_folder_in_place(bucket: Path) -> None:
    job = paths.JobFolder("gs://b/jobs/1")
    (job.folder("model") / "m").write_text("x")
    job.publish()
    assert (bucket / "jobs/1/model/m").read_text() == "x"


def test_names_are_listed_before_anything_is_copied(store: dict[str, bytes], tmp_path: Path) -> None:
    store |= {"d/1.csv": b"1", "d/2.csv": b"2"}
    found = paths.listed("gs://b/d/*")
    assert found == ["gs://b/d/1.csv", "gs://b/d/2.csv"]
    assert not (tmp_path / "data").exists()
    assert paths.local(found[1]).read_bytes() == b"2"
    assert names(list((tmp_path / "data").rglob("*.csv"))) == ["2.csv"]


def test_a_copy_that_was_broken_off_is_made_again(
    store: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store["d"] = b"whole"

    def killed(self: Blob, path: str) -> None:
        Path(path).write_bytes(b"who")
        raise KeyboardInterrupt

    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(Blob, "download_to_filename", killed)
        paths.files("gs://b/d")
    assert paths.files("gs://b/d")[0].read_bytes() == b"whole"


def test_a_parent_gives_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(paths.TEMPORARY, str(tmp_path))
    assert paths.temporary.__wrapped__() == tmp_path


def test_job_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--job-dir=.* cannot be written"):
        paths.JobFolder(str(tmp_path / "file/job"))


def test_job_folder_by_copies_resumes_and_publishes_what_changed(store: dict[str, bytes]) -> None:
    store |= {
        "j/checkpoints/a": b"1",
        "j/checkpoints/sub/b": b"2",
        "j/model/m": b"not fetched",
        "jj/checkpoints/c": b"",
    }
    job = paths.JobFolder("gs://b/j/")
    assert sorted(each.name for each in job.folder("checkpoints").rglob("*") if each.is_file()) == ["a", "b"]
    (job.folder("checkpoints") / "a").unlink()
    (job.folder("experiment") / "events").write_text("e")
    job.publish()
    assert store == {
        "j/checkpoints/sub/b": b"2",
        "j/experiment/events": b"e",
        "j/model/m": b"not fetched",
        "jj/checkpoints/c": b"",
    }
    store["j/checkpoints/sub/b"] = b"changed by nobody here"
    job.publish()
    assert store["j/checkpoints/sub/b"] == b"changed by nobody here"


def test_storage_errors_name_the_path(monkeypatch: pytest.MonkeyPatch, store: dict[str, bytes]) -> None:
    from google.api_core.exceptions import Forbidden, NotFound

    def refuse(error: Exception) -> Any:
        def list_blobs(*_: Any, **__: Any) -> Any:
            raise error

        return lambda: SimpleNamespace(list_blobs=list_blobs)

    monkeypatch.setattr(paths, "client", refuse(NotFound("x")))
    with pytest.raises(UserError, match=r"gs://b/x: there is no such bucket or file\."):
        paths.files("gs://b/x")
    monkeypatch.setattr(paths, "client", refuse(Forbidden("no")))
    with pytest.raises(UserError, match=r"gs://b/x cannot be reached: 403 no"):
        paths.files("gs://b/x")
