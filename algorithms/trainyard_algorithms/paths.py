"""`gs://` paths as plain files, and a job's folders.

A replica with its own view of files has every bucket as /gcs/BUCKET (docs/storage.md): its files are read
and written in place. Elsewhere google-cloud-storage copies them from and to a temporary folder;
STORAGE_EMULATOR_HOST says where the server is."""

import atexit
import glob
import os
import re
import secrets
import shutil
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard_algorithms.failure import UserError

MOUNT = Path("/gcs")
TEMPORARY = "TRAINYARD_ALGORITHM_FOLDER"  # a variable; see temporary()
RESUMED = ("checkpoints", "experiment")  # what an earlier attempt left and this one goes on with
WRITTEN_LAST = ("checkpoint", "saved_model.pb", "deployment_config.yaml")  # they say that the rest is there


def split(path: str) -> tuple[str, str]:
    """Bucket and object name of a gs:// path. @raises UserError: there is no bucket in it."""
    bucket, _, name = path.removeprefix("gs://").partition("/")
    if not bucket:
        raise UserError(f"{path}: write gs://BUCKET/PATH.")
    return bucket, name


def mounted(path: str) -> str | None:
    """The plain path of `path`, or None if it is gs:// and the bucket is no folder here."""
    if not path.startswith("gs://"):
        return path
    bucket, name = split(path)
    place = MOUNT / bucket
    return str(place / name) if place.is_dir() else None


def files(pattern: str) -> list[Path]:
    """The files of a path or glob (`*`, `?`, `[1-9]`, none of which matches a `/`), sorted, as plain files.

    @raises UserError: there is none, naming the pattern.
    """
    return [local(each) for each in listed(pattern)]


def listed(pattern: str) -> list[str]:
    """What files() gives, by names for local(): nothing is copied yet."""
    place = mounted(pattern)
    if place is None:
        return in_bucket(pattern)
    if Path(place).is_file():
        return [place]
    found = sorted(Path(each) for each in glob.glob(place) if Path(each).is_file())
    if not found:
        folder = Path(place).is_dir()
        raise UserError(
            f"{pattern} is a folder: name files, as in {pattern.rstrip('/')}/*." if folder else none(pattern)
        )
    return [str(each) for each in found]


def none(pattern: str) -> str:
    return f"{pattern}: there is no such file." if not has_glob(pattern) else f"{pattern}: no file matches."


def has_glob(pattern: str) -> bool:
    return re.search(r"[*?\[]", pattern) is not None


def pattern_of(text: str) -> re.Pattern[str]:
    """The regular expression of a glob."""
    parts = re.split(r"(\*+|\?|\[[^\]/]+\])", text)
    known = {"?": "[^/]"}
    made = [
        "[^/]*"
        if each.startswith("*")
        else known.get(each)
        or (
            "[" + ("^" + each[2:] if each[1] == "!" else each[1:])
            if re.fullmatch(r"\[[^\]/]+\]", each)
            else re.escape(each)
        )
        for each in parts
    ]
    return re.compile("".join(made), re.DOTALL)


@cache
def client() -> Any:
    """google-cloud-storage's client; anonymous if STORAGE_EMULATOR_HOST says where the server is."""
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    project = os.environ.get("CLOUD_ML_PROJECT_ID", "trainyard")
    if os.environ.get("STORAGE_EMULATOR_HOST"):
        return storage.Client(project=project, credentials=AnonymousCredentials())
    return storage.Client(project=project)


def reached(path: str, act: Any) -> Any:
    """act(), of which an answer of the storage's is a UserError that names `path`."""
    from google.api_core.exceptions import GoogleAPICallError, NotFound
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import RequestException

    try:
        return act()
    except NotFound as error:
        raise UserError(f"{path}: there is no such bucket or file.") from error
    except (GoogleAPICallError, GoogleAuthError, RequestException) as error:
        raise UserError(f"{path} cannot be reached: {error}") from error


@cache
def temporary() -> Path:
    """The folder that TEMPORARY names, if a parent process gives its own; else one of this process's, removed
    at its end. Only made() makes it: a process that is killed before leaves none."""
    given = os.environ.get(TEMPORARY)
    if given:
        return Path(given)
    folder = Path(tempfile.gettempdir(), f"trainyard-algorithm-{secrets.token_hex(8)}")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def made() -> Path:
    """temporary(), made if need be."""
    folder = temporary()
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def in_bucket(pattern: str) -> list[str]:
    """listed() of a gs:// pattern whose bucket is no folder here."""
    bucket, name = split(pattern)
    prefix = re.split(r"[*?\[]", name)[0]
    matches = pattern_of(name)
    blobs = reached(pattern, lambda: list(client().list_blobs(bucket, prefix=prefix)))
    names = [each.name for each in blobs if not each.name.endswith("/")]
    found = [each for each in names if each == name or matches.fullmatch(each)]
    if not found:
        raise UserError(none(pattern))
    return [f"gs://{bucket}/{each}" for each in sorted(found, key=lambda each: PurePosixPath(each).parts)]


def local(name: str) -> Path:
    """A file that listed() names; of a bucket that is no folder here a copy, made once."""
    if not name.startswith("gs://"):
        return Path(name)
    bucket, blob = split(name)
    place = temporary() / "data" / bucket / blob
    if not place.exists():
        half = made() / "half"  # a process that is killed leaves no part of a file as the file
        place.parent.mkdir(parents=True, exist_ok=True)
        reached(name, lambda: client().bucket(bucket).blob(blob).download_to_filename(str(half)))
        half.replace(place)
    return place


class JobFolder:
    """The folders below --job-dir, as plain files. One thread only; publish() is the caller's to call."""

    def __init__(self, job_dir: str) -> None:
        """Makes job_dir if it is a plain path; of a bucket elsewhere, copies what an earlier attempt left in
        checkpoints/ and experiment/. @raises UserError: it cannot be reached or written."""
        self.job_dir = job_dir
        place = mounted(job_dir)
        self.in_place = place is not None
        self.place = Path(place) if place is not None else Path(tempfile.mkdtemp(dir=made()))
        self.published: dict[str, tuple[int, int]] = {}
        self.folder("")
        if not self.in_place:
            self.bucket, self.prefix = split(job_dir.rstrip("/"))
            for name in RESUMED:
                self.fetch(name)

    def folder(self, name: str) -> Path:
        """The folder `name` (`model`, `processed_data`, `artifacts`, `experiment`, `checkpoints`), made if
        need be."""
        folder = self.place / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--job-dir={self.job_dir} cannot be written: {error.strerror}.") from error
        return folder

    def publish(self) -> None:
        """Puts what was written since the last call where job_dir is, and removes there what this object
        put or fetched and is gone here (old checkpoints). Nothing to do if it is written in place."""
        if self.in_place:
            return
        here = {str(each.relative_to(self.place)): each for each in self.place.rglob("*") if each.is_file()}
        for name in sorted(here, key=lambda name: (Path(name).name in WRITTEN_LAST, name)):
            seen = here[name].stat()
            mark = (seen.st_size, seen.st_mtime_ns)
            if self.published.get(name) != mark:
                blob = self.blob(name)
                reached(
                    f"{self.job_dir}/{name}",
                    lambda blob=blob, name=name: blob.upload_from_filename(str(here[name])),
                )
                self.published[name] = mark
        for name in sorted(set(self.published) - set(here)):
            self.remove(name)

    def remove(self, name: str) -> None:
        from google.api_core.exceptions import NotFound

        try:
            self.blob(name).delete()
        except NotFound:
            pass
        del self.published[name]

    def blob(self, name: str) -> Any:
        return client().bucket(self.bucket).blob("/".join(filter(None, (self.prefix, name))))

    def fetch(self, folder: str) -> None:
        """Copies what is in this folder of job_dir here."""
        prefix = "/".join(filter(None, (self.prefix, folder))) + "/"
        for blob in reached(self.job_dir, lambda: list(client().list_blobs(self.bucket, prefix=prefix))):
            if blob.name.endswith("/"):
                continue
            name = f"{folder}/{blob.name.removeprefix(prefix)}"
            place = self.place / name
            place.parent.mkdir(parents=True, exist_ok=True)
            reached(
                f"gs://{self.bucket}/{blob.name}",
                lambda blob=blob, place=place: blob.download_to_filename(str(place)),
            )
            seen = place.stat()
            self.published[name] = (seen.st_size, seen.st_mtime_ns)


def shown(path: Path) -> str:
    """A file's name for messages: gs:// where it came from a bucket."""
    for root in (MOUNT, temporary() / "data"):
        if path.is_relative_to(root):
            return f"gs://{path.relative_to(root)}"
    return str(path)
