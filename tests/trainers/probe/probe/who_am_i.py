"""Says as whom it runs and what it may reach: buckets as files, its own one, another project's."""

import os
import sys
import urllib.error
import urllib.request

own, others, administration = sys.argv[1:4]
host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")


def status(method, url, token="", data=None):
    request = urllib.request.Request(url, method=method, data=data, headers={"Authorization": "Bearer " + token} if token else {})
    try:
        return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def metadata(path):
    request = urllib.request.Request(f"http://{host}/computeMetadata/v1/{path}", headers={"Metadata-Flavor": "Google"})
    return urllib.request.urlopen(request, timeout=30).read().decode()


print("files", sorted(os.listdir("/gcs")), flush=True)
print("account", metadata("instance/service-accounts/default/email"), flush=True)
token = metadata("instance/service-accounts/default/token").split('"')[3]
print("token", token, flush=True)
api = os.environ["STORAGE_EMULATOR_HOST"]
for name, shown in (("by token", token), ("by connection", "")):
    print(name, "own", status("GET", f"{api}/storage/v1/b/{own}/o/inside.txt", shown),
          "others", status("GET", f"{api}/storage/v1/b/{others}/o/inside.txt", shown),
          "wrote", status("POST", f"{api}/upload/storage/v1/b/{own}/o?uploadType=media&name=out.txt", shown, b"x"), flush=True)

# The server's own port, where its account gets a token of the administrator: a job's program has the same account.
request = urllib.request.Request(f"{administration}/computeMetadata/v1/instance/service-accounts/default/token",
                                 headers={"Metadata-Flavor": "Google"})
try:
    print("administration", urllib.request.urlopen(request, timeout=30).status, flush=True)
except urllib.error.HTTPError as error:
    print("administration", error.code, flush=True)
