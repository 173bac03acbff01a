"""A trainer that shells out: gsutil, gcloud storage, curl, and plain files below /gcs."""

import json
import os
import pathlib
import subprocess
import sys
import time


def run(*words, **options):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, **options)
    print(f"{time.monotonic() - begin:.2f} s: {' '.join(words[:3])} -> {done.returncode}", flush=True)
    if done.returncode != 0:
        print(done.stdout + done.stderr, flush=True)
        raise SystemExit(f"{words} failed")
    return done.stdout


def make_folder():
    here = pathlib.Path("tree/below")
    here.mkdir(parents=True)
    (here.parent / "a.txt").write_text("alpha\n")
    (here / "b.txt").write_text("beta\n")
    return here.parent


def gsutil(folder):
    tree = make_folder()
    run("gsutil", "cp", str(tree / "a.txt"), folder + "/a.txt")
    run("gsutil", "-m", "rsync", "-r", str(tree), folder + "/tree")
    listed = run("gsutil", "ls", "-r", folder + "/tree").split()
    text = run("gsutil", "cat", folder + "/tree/below/b.txt")
    stat = run("gsutil", "stat", folder + "/a.txt")
    run("gsutil", "cp", folder + "/tree/a.txt", "back.txt")
    run("gsutil", "cp", folder + "/a.txt", folder + "/copy.txt")
    run("gsutil", "rm", folder + "/a.txt")
    gone = subprocess.run(["gsutil", "-q", "stat", folder + "/a.txt"]).returncode
    return {"listed": sorted(listed), "text": text, "stat": "Content-Length:" in stat, "back": pathlib.Path("back.txt").read_text(),
            "gone": gone, "which": run("sh", "-c", "command -v gsutil").strip()}


def gcloud(folder):
    tree = make_folder()
    run("gcloud", "storage", "cp", "-r", str(tree), folder + "/")
    listed = run("gcloud", "storage", "ls", "-r", folder + "/**").split()
    text = run("gcloud", "storage", "cat", folder + "/tree/below/b.txt")
    run("gcloud", "storage", "rm", folder + "/tree/a.txt")
    return {"listed": sorted(listed), "text": text, "left": run("gcloud", "storage", "ls", "-r", folder + "/**").split()}


def curl(folder):
    bucket, name = folder[5:].split("/", 1)
    api = "https://storage.googleapis.com"
    metadata = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
    token = json.loads(run("curl", "-fsS", "-H", "Metadata-Flavor: Google", metadata))["access_token"]
    run("curl", "-fsS", "-H", f"Authorization: Bearer {token}", "--data-binary", "by curl",
        f"{api}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}/curl.txt".replace(f"name={name}", "name=" + name.replace("/", "%2F")))
    return {"xml": run("curl", "-fsS", f"{api}/{bucket}/{name}/curl.txt"), "shared_token": token}


def files(folder):
    place = pathlib.Path("/gcs") / folder[5:]
    place.mkdir(parents=True, exist_ok=True)
    (place / "file.txt").write_text("by open()")
    with open(place / "log.txt", "a") as out:
        for line in range(3):
            out.write(f"{line}\n")
    return {"listed": sorted(os.listdir(place)), "system": pathlib.Path("/gcs").is_mount()}


if __name__ == "__main__":
    what, folder = sys.argv[1], sys.argv[sys.argv.index("--job-dir") + 1]
    print("RESULT " + json.dumps({"gsutil": gsutil, "gcloud": gcloud, "curl": curl, "files": files}[what](folder)), flush=True)
