"""JSON files in the job-dir, be it a folder or gs://BUCKET/PATH (then through the storage API, without any client library)."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request


def _call(path_and_query, data=None):
    """The answer's bytes, or None if there is no such object."""
    host = os.environ.get("STORAGE_EMULATOR_HOST")
    if not host:
        raise RuntimeError("a gs:// job-dir needs STORAGE_EMULATOR_HOST, which the service sets")
    base = host if "://" in host else "http://" + host
    request = urllib.request.Request(base.rstrip("/") + path_and_query, data=data)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        if error.code == 404 and data is None:
            return None
        raise


def _split(path):
    bucket, _, name = path[len("gs://"):].partition("/")
    return bucket, name


def write(job_dir, name, value):
    """Replaces job_dir/name as a whole: a reader sees the old value or the new one."""
    path, data = job_dir.rstrip("/") + "/" + name, (json.dumps(value) + "\n").encode()
    if path.startswith("gs://"):
        bucket, blob = _split(path)
        query = urllib.parse.urlencode({"uploadType": "media", "name": blob})
        _call("/upload/storage/v1/b/%s/o?%s" % (bucket, query), data)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = "%s.%d.part" % (path, os.getpid())
    with open(partial, "wb") as stream:
        stream.write(data)
    os.replace(partial, path)


def read(job_dir, name):
    """The value, or None if there is no such file yet."""
    path = job_dir.rstrip("/") + "/" + name
    if path.startswith("gs://"):
        bucket, blob = _split(path)
        data = _call("/storage/v1/b/%s/o/%s?alt=media" % (bucket, urllib.parse.quote(blob, safe="")))
    else:
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError:
            data = None
    return None if data is None else json.loads(data)
