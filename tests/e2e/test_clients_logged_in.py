"""Unmodified clients on another machine, logged in over TLS by a key file and by a token, and refused without. All others:
test_clients_logged_in_long.py."""

import subprocess
import sys

import pytest
import requests

from neighbour import yard  # fixture  # noqa: F401
from trainyard_server import ROOT, wait_for

ML = '''
import os, sys
from googleapiclient import discovery, errors
ml = discovery.build("ml", "v1", client_options={"api_endpoint": os.environ["SERVER"]})
body = {"jobId": sys.argv[1], "trainingInput": {"region": "us-central1", "pythonModule": "t", "packageUris": ["gs://nowhere/t.tar.gz"]}}
try:
    ml.projects().jobs().create(parent="projects/p", body=body).execute()
except errors.HttpError as error:
    print("REFUSED", error.resp.status, error._get_reason())
print("LISTED", ml.projects().jobs().list(parent="projects/p").execute())
'''
STORAGE = '''
import sys
from google.cloud import storage
client = storage.Client(project="p")
bucket = client.create_bucket(sys.argv[1])
bucket.blob("a/b").upload_from_string("content")
print(bucket.blob("a/b").download_as_bytes(), [blob.name for blob in client.list_blobs(bucket)])
'''
LOGINS = pytest.mark.parametrize("login", ["key", "token"])


def credentials(yard, login):  # noqa: F811
    return yard.key if login == "key" else yard.account_file()


def check(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@LOGINS
def test_google_api_python_client(yard, login):  # noqa: F811
    said = check(yard.run(sys.executable, "-c", ML, "j_" + login, **yard.python_variables(credentials(yard, login))))
    assert "REFUSED 404" in said or "REFUSED 400" in said, "it was let in, and its job is looked at"
    assert "nowhere" in said and "LISTED {}" in said


@LOGINS
def test_google_cloud_storage(yard, login):  # noqa: F811
    said = check(yard.run(sys.executable, "-c", STORAGE, "python-" + login, **yard.python_variables(credentials(yard, login))))
    assert said == "b'content' ['a/b']\n"


NODE = '''
const {google} = require('googleapis');
(async () => {
  const auth = new google.auth.GoogleAuth({scopes: ['https://www.googleapis.com/auth/cloud-platform']});
  const ml = google.ml({version: 'v1', rootUrl: process.env.SERVER + '/', auth});
  const storage = google.storage({version: 'v1', rootUrl: process.env.SERVER + '/', auth});
  const bucket = process.argv[1];
  await storage.buckets.insert({project: 'p', requestBody: {name: bucket}});
  const there = {rootUrl: process.env.SERVER + '/'};  // uploads read no other option
  await storage.objects.insert({bucket, name: 'a/b', media: {mimeType: 'text/plain', body: 'content'}}, there);
  const read = await storage.objects.get({bucket, object: 'a/b', alt: 'media'}, {responseType: 'text'});
  console.log('READ', read.data, JSON.stringify((await ml.projects.jobs.list({parent: 'projects/p'})).data));
})().catch(error => { console.log('FAILED', error.status || error.code, error.message); process.exit(1); });
'''


def run_node(yard, node, bucket, **variables):  # noqa: F811
    return yard.run(node, "-e", NODE, bucket, SERVER=yard.url, NODE_EXTRA_CA_CERTS=yard.ca, NODE_PATH=ROOT / "build/node/node_modules", **variables)


@LOGINS
def test_node_googleapis(yard, node, login):  # noqa: F811
    """Its key's token_uri is passed over for Google's: it has to sign its own tokens, as it does for every universe but Google's."""
    own = {"GOOGLE_APPLICATION_CREDENTIALS": yard.account_file()} if login == "token" else {
        "GOOGLE_APPLICATION_CREDENTIALS": yard.key_of_universe(yard.authority), "GOOGLE_CLOUD_UNIVERSE_DOMAIN": yard.authority}
    assert check(run_node(yard, node, "node-" + login, **own)) == "READ content {}\n"


def test_curl(yard):  # noqa: F811
    authority = ("--cacert", yard.ca, "--silent", "--show-error")
    token = ("--header", "Authorization: Bearer " + yard.token)
    assert check(yard.run("curl", *authority, "--fail", *token, yard.url + "/v1/projects/p/jobs")) == "{}\n"
    for more in ((), ("--header", "Authorization: Bearer ty_nobodys")):
        said = check(yard.run("curl", *authority, "--include", *more, yard.url + "/v1/projects/p/jobs"))
        assert said.startswith("HTTP/1.1 401 ") and "\nWWW-Authenticate: Bearer" in said
    untrusted = yard.run("curl", "--silent", "--show-error", yard.url + "/healthz")
    assert untrusted.returncode == 60, "its authority is not the system's"
    plain = yard.run("curl", "--silent", yard.server.url.replace("127.0.0.1", yard.neighbour.server_address) + "/healthz")
    assert plain.returncode == 7, "nothing listens without TLS"


def test_our_own_commands(yard):  # noqa: F811
    check(yard.trainyard("auth", "login", "--server", yard.url, "--ca-file", yard.ca, "--token-file", yard.token_file))
    assert "Listed 0 items." in yard.trainyard("jobs", "list", "--project", "p").stderr
    check(yard.trainyard("auth", "logout"))
    refused = yard.trainyard("jobs", "list", "--server", yard.url, "--project", "p")
    assert refused.returncode == 1 and "certificate is not trusted" in refused.stderr


@LOGINS
def test_gcloud(yard, gcloud, login):  # noqa: F811
    variables = yard.gcloud_variables("gcloud-" + login)
    if login == "key":
        check(yard.run(gcloud, "auth", "activate-service-account", "--key-file", yard.key, **variables))
    else:
        variables["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] = yard.token_file
    assert check(yard.run(gcloud, "auth", "print-access-token", **variables)).startswith("ty_")
    listed = yard.run(gcloud, "ai-platform", "jobs", "list", **variables)
    assert check(listed) == "" and "Listed 0 items." in listed.stderr


def info(response):
    [detail] = response.json()["error"]["details"]
    return detail["reason"], detail["domain"], detail["metadata"]


def test_a_refusal_names_reason_service_and_method(yard):  # noqa: F811
    def ask(path, token=None):
        response = requests.get(yard.url + path, verify=yard.ca, timeout=60, headers={"Authorization": "Bearer " + token} if token else {})
        assert response.status_code == 401 and response.headers["WWW-Authenticate"].startswith("Bearer"), response.text
        return response
    method = {"service": "ml.googleapis.com", "method": "google.cloud.ml.v1.JobService.ListJobs"}
    jobs = "/v1/projects/p/jobs"
    assert info(ask(jobs)) == ("CREDENTIALS_MISSING", "googleapis.com", method)
    assert info(ask(jobs, "ty_nobodys")) == ("ACCESS_TOKEN_TYPE_UNSUPPORTED", "googleapis.com", method)
    ended = yard.server.trainyard("auth", "token", "create", "--principal", "user:ann@example.com", "--life", "1s", "--data",
                                  str(yard.server.data)).stdout.strip()

    def refusal():
        response = requests.get(yard.url + jobs, verify=yard.ca, timeout=60, headers={"Authorization": "Bearer " + ended})
        return None if response.ok else response
    assert info(wait_for(refusal, lambda: "the token does not end")) == ("ACCESS_TOKEN_EXPIRED", "googleapis.com", method)
    storage = ask("/storage/v1/b/python-key").json()["error"]
    assert storage["errors"][0]["reason"] == "required"
    assert storage["message"].startswith("Anonymous caller does not have storage.buckets.get access to the Google Cloud Storage bucket.")


def test_google_clients_are_told_to_log_in(yard):  # noqa: F811
    anonymous = "from google.auth.credentials import AnonymousCredentials\n"
    ml = "import httplib2\n" + ML.replace("client_options", "http=httplib2.Http(), client_options")  # credentials would be refreshed first
    variables = yard.python_variables("")
    del variables["GOOGLE_APPLICATION_CREDENTIALS"]
    done = yard.run(sys.executable, "-c", ml, "j", **variables)
    assert "REFUSED 401 Request is missing required authentication credential." in done.stdout + done.stderr, done.stderr
    storage = anonymous + STORAGE.replace('project="p"', 'project="p", credentials=AnonymousCredentials()')
    done = yard.run(sys.executable, "-c", storage, "anybodys", **variables)
    assert done.returncode and "Anonymous credentials cannot be refreshed" in done.stderr, "what it makes of a 401"
    assert subprocess.run(["ls", str(yard.server.data / "buckets")], capture_output=True, text=True).stdout.find("anybodys") < 0
