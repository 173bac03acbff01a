"""Google's Python libraries as their own documentation uses them: no endpoint, no credentials, no project."""

import json
import sys
import time


def storage_client(folder):
    from google.cloud import storage

    client = storage.Client()
    bucket = client.bucket(folder.split("/")[2])
    name = folder.split("/", 3)[3] + "/client.txt"
    begin = time.monotonic()
    bucket.blob(name).upload_from_string("written by storage.Client()")
    text = bucket.blob(name).download_as_text()
    listed = [blob.name for blob in client.list_blobs(bucket, prefix=name)]
    return {"text": text, "listed": listed == [name], "project": client.project, "seconds": time.monotonic() - begin}


def default_credentials(folder):
    import google.auth
    from google.auth.transport.requests import AuthorizedSession, Request

    begin = time.monotonic()
    credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials.refresh(Request())
    seconds = time.monotonic() - begin
    session = AuthorizedSession(credentials)
    bucket = session.get("https://storage.googleapis.com/storage/v1/b/" + folder.split("/")[2])
    jobs = session.get(f"https://ml.googleapis.com/v1/projects/{project}/jobs")
    return {"token": credentials.token, "project": project, "bucket": bucket.json()["name"], "jobs": jobs.status_code,
            "universe": credentials.universe_domain, "seconds": seconds}


def pandas_and_gcsfs(folder):
    import gcsfs
    import pandas

    begin = time.monotonic()
    frame = pandas.DataFrame({"x": [1, 2, 3], "y": [2.0, 4.0, 6.0]})
    frame.to_csv(folder + "/table.csv", index=False)
    again = pandas.read_csv(folder + "/table.csv")
    files = gcsfs.GCSFileSystem()
    with files.open(folder + "/fs.bin", "wb") as out:
        out.write(b"z" * 3_000_000)
    with files.open(folder + "/fs.bin", "rb") as back:
        back.seek(2_999_990)
        tail = back.read()
    return {"equal": frame.equals(again), "listed": sorted(files.ls(folder)), "tail": tail.decode(), "size": files.size(folder + "/fs.bin"),
            "seconds": time.monotonic() - begin}


if __name__ == "__main__":
    what, folder = sys.argv[1], sys.argv[sys.argv.index("--job-dir") + 1]
    print("RESULT " + json.dumps({"storage_client": storage_client, "default_credentials": default_credentials,
                                  "pandas_and_gcsfs": pandas_and_gcsfs}[what](folder)), flush=True)
