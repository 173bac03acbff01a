"""What the original's runtime versions bring for buckets, as programs of their years used it: Python 3.7, no endpoint, no credentials."""

import io
import json
import subprocess
import sys
import time


def python_clients(folder):
    import google.auth
    import google.auth.transport.requests
    from google.cloud import storage

    begin = time.time()
    credentials, project = google.auth.default()
    credentials.refresh(google.auth.transport.requests.Request())
    client = storage.Client()
    bucket = client.bucket(folder.split("/")[2])
    name = folder.split("/", 3)[3] + "/client.txt"
    bucket.blob(name).upload_from_string("written by storage.Client()")
    content = io.BytesIO()
    bucket.blob(name).download_to_file(content)  # the one way that all of these years' versions have
    listed = [blob.name for blob in client.list_blobs(bucket, prefix=name)]
    return {"project": [project, client.project], "token": credentials.token, "text": content.getvalue().decode(), "listed": listed == [name],
            "seconds": time.time() - begin}


def gfile(folder):
    import tensorflow as tf

    begin = time.time()
    with tf.io.gfile.GFile(folder + "/gfile.txt", "w") as out:
        out.write("written by GFile")
    first = time.time() - begin
    with tf.io.gfile.GFile(folder + "/gfile.txt") as back:
        text = back.read()
    return {"text": text, "listed": tf.io.gfile.listdir(folder), "first_write": first, "version": tf.__version__}


def api_client(folder):
    """google-api-python-client, with both libraries that had credentials for it."""
    import google.auth
    from googleapiclient import discovery
    from oauth2client.client import GoogleCredentials

    bucket = folder.split("/")[2]
    found = []
    for credentials in (google.auth.default()[0], GoogleCredentials.get_application_default()):
        service = discovery.build("storage", "v1", credentials=credentials, cache_discovery=False)
        found.append(service.buckets().get(bucket=bucket).execute()["name"])
    return {"buckets": found}


def gsutil(folder):
    subprocess.run(["gsutil", "-q", "cp", "-", folder + "/gsutil.txt"], input=b"written by gsutil", check=True)
    text = subprocess.run(["gsutil", "-q", "cat", folder + "/gsutil.txt"], check=True, stdout=subprocess.PIPE).stdout
    return {"text": text.decode()}


if __name__ == "__main__":
    folder = sys.argv[sys.argv.index("--job-dir") + 1]
    seen = {check.__name__: check(folder) for check in (python_clients, gfile, api_client, gsutil)}
    print("RESULT " + json.dumps(seen), flush=True)
