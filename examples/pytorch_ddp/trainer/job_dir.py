"""Files in the job-dir, be it a folder or gs://BUCKET/PATH."""

import os


def write(job_dir, name, data):
    """Writes bytes to job_dir/name, replacing what was there."""
    path = job_dir.rstrip("/") + "/" + name
    if path.startswith("gs://"):
        # Google's own client. Trainyard sets STORAGE_EMULATOR_HOST, so that it talks to the server's buckets.
        from google.cloud import storage

        bucket, _, blob = path[len("gs://"):].partition("/")
        storage.Client().bucket(bucket).blob(blob).upload_from_string(data, content_type="application/octet-stream")
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)
    return path
