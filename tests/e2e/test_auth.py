"""Who has to log in, and what each may: tokens, roles, jobs, buckets, logs, programs in replicas, shells."""

import itertools
import stat

import pytest
import requests

DEVELOPER = ("roles/ml.developer", "roles/storage.objectAdmin", "roles/logging.viewer")


@pytest.fixture
def server(make_server):
    return make_server("--auth", "on")


def message(response):
    return response.json()["error"]["message"]


def make_bucket(server, name, project="p"):
    response = server.request("POST", "/storage/v1/b", params={"project": project}, json={"name": name})
    assert response.ok, response.text


def submit(server, job_id, token=None, project="p", **more):
    body = {"jobId": job_id, "trainingInput": {"region": "us-central1", **more}}
    return server.request("POST", f"/v1/projects/{project}/jobs", token=token, json=body)


class From(requests.adapters.HTTPAdapter):
    """From another address of this machine, because who fails often from one is made to wait."""

    def __init__(self, address):
        self.address = address
        super().__init__()

    def init_poolmanager(self, *args, **kwargs):
        super().init_poolmanager(*args, source_address=(self.address, 0), **kwargs)


LAST_PARTS = itertools.count(2)


@pytest.fixture
def elsewhere():
    with requests.Session() as session:
        session.mount("http://", From(f"127.0.0.{next(LAST_PARTS)}"))
        yield session


@pytest.mark.parametrize("method, path", [
    ("GET", "/v1/projects/p/jobs"), ("POST", "/v1/projects/p/jobs"), ("GET", "/v1/projects/p/jobs/j"), ("GET", "/v1/projects/p:getConfig"),
    ("POST", "/v1/projects/p/jobs/j:cancel"), ("GET", "/storage/v1/b?project=p"), ("GET", "/storage/v1/b/b/o/x"),
    ("POST", "/upload/storage/v1/b/b/o?uploadType=media&name=x"), ("POST", "/v2/entries:list"), ("GET", "/v2/entries:tail"),
    ("GET", "/metrics"), ("GET", "/trainyard/v1/runtimes"), ("GET", "/trainyard/v1/projects/p/jobs/j"), ("PUT", "/storage/v1/b/b/acl"),
    ("GET", "/v1/projects/p/serviceAccounts"), ("POST", "/v1/projects/p:getIamPolicy"), ("GET", "/trainyard/v1/tokens")])
def test_who_shows_no_token_is_refused(shared, elsewhere, method, path):
    for headers in ({}, {"Authorization": "Basic YTpi"}):
        response = shared.request(method, path, token="", headers=headers)
        assert response.status_code == 401, (path, response.text)
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    for bad in ("ty_nobodys", "ya29.foreign", "x.y.z", "ty_" + "A" * 43):
        assert shared.request(method, path, token=bad, session=elsewhere).status_code == 401


@pytest.fixture(scope="module")
def shared(tmp_path_factory, environments):
    from trainyard_server import Server, end_supervisors
    server = Server(tmp_path_factory.mktemp("auth") / "data", "--auth", "on", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


def test_a_token_in_the_query_is_refused(shared):
    for name in ("access_token", "oauth_token"):
        response = shared.request("GET", "/v1/projects/p/jobs", token="", params={name: shared.token})
        assert response.status_code == 401 and "query" in message(response)


def test_what_says_nothing_about_anybody_needs_no_token(shared):
    for path in ("/healthz", "/$discovery/rest?version=v1", "/discovery/v1/apis/ml/v1/rest", "/favicon.ico"):
        assert shared.request("GET", path, token="").ok, path


def test_the_administrators_token(server):
    file = server.data / "admin-token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and server.token.startswith("ty_")
    assert server.request("GET", "/v1/projects/any/jobs").json() == {}
    server.stop()
    server.start()
    assert file.read_text().strip() == server.token, "it is made once"
    assert server.request("GET", "/v1/projects/any/jobs").ok
    file.unlink()
    server.stop()
    server.start()
    assert server.request("GET", "/v1/projects/any/jobs", token=file.read_text().strip()).ok


def test_a_developers_life(server, packages):
    ann = server.token_for("user:ann@example.com", *DEVELOPER)
    bob = server.token_for("user:bob@example.com", *DEVELOPER)
    eve = server.token_for("user:eve@example.com", *DEVELOPER, project="other")
    assert ann.startswith("ty_") and len({ann, bob, eve}) == 3
    make_bucket(server, "p-data")
    package = server.request("POST", "/upload/storage/v1/b/p-data/o", token=ann, params={"uploadType": "media", "name": "t.tar.gz"},
                             data=packages["probe"].read_bytes())
    assert package.ok, package.text
    wanted = {"packageUris": ["gs://p-data/t.tar.gz"], "pythonModule": "probe.task", "args": ["forever"], "jobDir": "gs://p-data/out"}
    assert submit(server, "anns", ann, **wanted).ok
    # bob sees it, and may not end it; eve does not know that it is there
    assert server.request("GET", "/v1/projects/p/jobs/anns", token=bob).ok
    refused = server.request("POST", "/v1/projects/p/jobs/anns:cancel", token=bob, json={})
    assert refused.status_code == 403 and "ml.jobs.cancel" in message(refused)
    absent = server.request("GET", "/v1/projects/p/jobs/nobodys", token=eve)
    hidden = server.request("GET", "/v1/projects/p/jobs/anns", token=eve)
    assert (hidden.status_code, hidden.text) == (absent.status_code, absent.text) == (404, absent.text)
    assert server.request("GET", "/v1/projects/p/jobs", token=eve).status_code == 403
    assert submit(server, "eves", eve, **wanted).status_code == 403
    in_other = submit(server, "eves", eve, project="other", **wanted)
    assert in_other.status_code == 404 and "p-data" not in server.request("GET", "/storage/v1/b?project=other", token=eve).text, in_other.text
    assert server.request("POST", "/v2/entries:list", token=eve, json={"resourceNames": ["projects/p"]}).status_code == 403
    assert server.request("POST", "/v1/projects/p/jobs/anns:cancel", token=ann, json={}).ok
    server.wait("anns")


def test_permissions_are_told_as_they_are(server):
    ann = server.token_for("user:ann@example.com", "roles/ml.viewer", "roles/storage.objectViewer")
    asked = ["ml.jobs.get", "ml.jobs.create", "ml.jobs.list"]
    response = server.request("POST", "/v1/projects/p:testIamPermissions", token=ann, json={"permissions": asked})
    assert sorted(response.json()["permissions"]) == ["ml.jobs.get", "ml.jobs.list"]
    make_bucket(server, "b-data")
    response = server.request("GET", "/storage/v1/b/b-data/iam/testPermissions", token=ann,
                              params={"permissions": ["storage.objects.get", "storage.objects.delete"]})
    assert response.json()["permissions"] == ["storage.objects.get"]


def test_who_may_only_create_objects_replaces_none(server):
    ann = server.token_for("user:ann@example.com", "roles/storage.objectCreator")
    make_bucket(server, "b-data")

    def upload(text):
        return server.request("POST", "/upload/storage/v1/b/b-data/o", token=ann, params={"uploadType": "media", "name": "x"}, data=text)

    assert upload("first").ok
    again = upload("second")
    assert again.status_code == 403 and "storage.objects.delete" in message(again)
    assert server.request("GET", "/download/storage/v1/b/b-data/o/x?alt=media").text == "first"
    assert server.request("GET", "/download/storage/v1/b/b-data/o/x?alt=media", token=ann).status_code in (403, 404)


def test_a_revoked_token_is_worth_nothing_and_ends_its_tail(server):
    make_bucket(server, "p-data")
    ann = server.token_for("user:ann@example.com", *DEVELOPER)
    listed = server.request("GET", "/trainyard/v1/tokens").json()["tokens"]
    token_id = next(token["id"] for token in listed if token["principal"] == "user:ann@example.com")
    with requests.get(server.url + "/v2/entries:tail?resourceNames=projects/p", headers={"Authorization": "Bearer " + ann}, stream=True,
                      timeout=60) as tail:
        assert tail.ok
        lines = tail.iter_lines()
        next(lines)
        assert server.request("DELETE", f"/trainyard/v1/tokens/{token_id}").ok
        assert server.request("GET", "/v1/projects/p/jobs", token=ann).status_code == 401
        server.upload("p-data", "package", b"any")
        assert submit(server, "speaks", packageUris=["gs://p-data/package"], pythonModule="any").ok
        for line in lines:  # the end comes with the next part
            assert b"speaks" not in line


def test_a_program_is_its_jobs_service_account(server, packages):
    for bucket, project in (("p-data", "p"), ("secret-data", "other")):
        make_bucket(server, bucket, project)
        server.upload(bucket, "inside.txt", bucket.encode())
    server.upload("p-data", "t.tar.gz", packages["probe"].read_bytes())
    server.submit("asks", packageUris=["gs://p-data/t.tar.gz"], pythonModule="probe.who_am_i", args=["p-data", "secret-data", server.url])
    job = server.wait("asks")
    said = server.texts("asks")
    assert job["state"] == "SUCCEEDED", said
    assert "files ['p-data']" in said, said
    for way in ("by token", "by connection"):
        assert f"{way} own 200 others 404 wrote 200" in said, said
    assert any(text.startswith("account service-") for text in said), said
    assert "administration 401" in said, said
    token = next(text.split()[1] for text in said if text.startswith("token "))
    ended = server.request("GET", "/storage/v1/b/p-data/o", token=token)
    assert ended.status_code == 401 and "ended" in message(ended)


def test_an_account_without_rights_hears_it_at_create(server):
    """Its own package and job-dir, each with the command that gives the right; and an account that does not exist."""
    make_bucket(server, "p-data")
    server.upload("p-data", "package", b"any")
    job = {"packageUris": ["gs://p-data/package"], "pythonModule": "any", "jobDir": "gs://p-data/out"}
    email = server.request("POST", "/v1/projects/p/serviceAccounts", json={"accountId": "trainer"}).json()["email"]
    absent = submit(server, "absent", serviceAccount="trainr@p.iam.gserviceaccount.com", **job)
    assert absent.status_code == 404, absent.text
    assert message(absent) == ("Field: service_account Error: Unknown service account: trainr@p.iam.gserviceaccount.com. Create it with: "
                               "gcloud iam service-accounts create trainr --project=p")
    give = f"gcloud storage buckets add-iam-policy-binding gs://p-data --member=serviceAccount:{email} --role="
    for role, said in (("roles/storage.objectViewer", f"Field: package_uris Error: The provided GCS paths [gs://p-data/package] cannot be "
                                                      f"read by service account {email}."),
                       ("roles/storage.objectAdmin", f"Field: job_dir Error: The job's programs run as the service account {email}, which "
                                                     "may not read and write objects of gs://p-data.")):
        refused = submit(server, "asks", serviceAccount=email, **job)
        assert refused.status_code == 400, refused.text
        assert message(refused) == f"{said} An administrator gives it that right with: {give}{role}"
        policy = {"bindings": [{"role": role, "members": ["serviceAccount:" + email]}]}
        assert server.request("PUT", "/storage/v1/b/p-data/iam", json=policy).ok
    assert submit(server, "asks", serviceAccount=email, **job).ok
    make_bucket(server, "others", "other")
    assert submit(server, "agent", **{**job, "jobDir": "gs://others/out"}).ok  # the project's account: the program may not need it
    server.wait_for_entry("agent", lambda entry: entry["severity"] == "WARNING" and
                          "which may not read and write objects of gs://others. An administrator" in entry["jsonPayload"]["message"])


def test_a_shell_takes_a_permission_and_opens_by_a_ticket(server, packages):
    make_bucket(server, "p-data")
    server.upload("p-data", "t.tar.gz", packages["probe"].read_bytes())
    viewer = server.token_for("user:vic@example.com", "roles/ml.viewer")
    server.submit("s", packageUris=["gs://p-data/t.tar.gz"], pythonModule="probe.task", args=["forever"], enableWebAccess=True)
    job = server.wait("s", lambda job: job.get("trainingOutput", {}).get("webAccessUris"))
    [uri] = job["trainingOutput"]["webAccessUris"].values()
    assert "?" not in uri, "it has no secret"
    path = uri.removeprefix(server.url)
    assert server.request("GET", path, token="").status_code == 401
    refused = server.request("POST", path + "Ticket", token=viewer)
    assert refused.status_code == 403 and "trainyard.jobs.shell" in message(refused)
    ticket = server.request("POST", path + "Ticket").json()["uri"].removeprefix(server.url)
    handshake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    with server.request("GET", ticket, token="", headers=handshake, stream=True) as opened:
        assert opened.status_code == 101
    assert server.request("GET", ticket, token="", headers=handshake).status_code == 401, "it opens once"
    server.cancel("s")
    server.wait("s")
