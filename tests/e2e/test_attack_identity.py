"""What was taken away stays away, and a name is nobody: revocation while requests wait, numbers of projects, creators who have left,
service accounts that are made again, a thousand logins, wrong credentials without a pause."""

import json
import select
import socket
import uuid
from urllib.parse import urlencode

import pytest

from kept_connection import KeptConnection

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token"
CREATOR = "roles/iam.serviceAccountTokenCreator"
ROUNDS = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    from trainyard_server import Server, end_supervisors
    server = Server(tmp_path_factory.mktemp("identity") / "data", "--auth", "on", environments=environments)
    yield server
    server.stop()
    end_supervisors(server.data)


def ask(server, method, path, body=None, token=None, ok=(200,)):
    response = server.request(method, path, token=token, json=body)
    assert response.status_code in ok, (method, path, response.status_code, response.text)
    return response.json() if response.content else {}


def make_token(server, principal, project="p", *roles):
    body = {"principal": principal, "roles": list(roles), "projects": [project] if roles else []}
    made = ask(server, "POST", "/trainyard/v1/tokens", body)
    return made["text"], made["token"]["id"]


def bind(server, resource, *bindings):
    policy = {"bindings": [{"role": role, "members": list(members)} for role, *members in bindings]}
    return ask(server, "POST", f"/v1/{resource}:setIamPolicy", {"policy": policy})


def make_account(server, account, project="p"):
    made = ask(server, "POST", f"/v1/projects/{project}/serviceAccounts", {"accountId": account})
    return made["email"], made["uniqueId"]


def submit(server, job, token, project="p", **more):
    ask(server, "POST", f"/v1/projects/{project}/jobs", {"jobId": job, "trainingInput": {
        "region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "packageUris": ["gs://p-data/o"],
        "pythonModule": "m", **more}}, token)


@pytest.fixture(scope="module")
def bucket(server):
    ask(server, "POST", "/storage/v1/b?project=p", {"name": "p-data"})
    server.upload("p-data", "o", b"content")


# Revocation (8)

class Waiting:
    """A request on a connection of its own."""

    def __init__(self, server, method, path, body, kind=JSON, token=""):
        host, port = server.url.removeprefix("http://").split(":")
        content = (json.dumps(body) if kind == JSON else urlencode(body)).encode()
        head = [f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close", f"Content-Type: {kind}",
                f"Content-Length: {len(content)}"]
        if token:
            head.append("Authorization: Bearer " + token)
        self.head, self.content = "\r\n".join([*head, "", ""]).encode(), content
        self.connection = socket.create_connection((host, int(port)), timeout=60)

    def send(self):
        self.connection.sendall(self.head + self.content)

    def has_answer(self):
        return bool(select.select([self.connection], [], [], 0)[0])

    def answer(self):
        said = b""
        with self.connection:
            while data := self.connection.recv(1 << 16):
                said += data
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), json.loads(body)


def lives(server, token):
    return server.request("GET", "/trainyard/v1/whoami", token=token).status_code == 200


def session_lives(server, head):
    cookie = next(line.split(": ", 1)[1].split(";")[0] for line in head.split("\r\n") if line.lower().startswith("set-cookie"))
    session = server.request("GET", "/trainyard/v1/session", token="", headers={"Cookie": cookie}).json()
    return "principal" in session


def test_nothing_is_made_by_a_token_that_is_revoked_meanwhile(server):
    email, _ = make_account(server, "runner")
    account = f"/v1/projects/p/serviceAccounts/{email}"
    admin, _ = make_token(server, "user:root@example.com")
    outlived: list[str | bytes] = []
    for _ in range(ROUNDS):
        token, token_id = make_token(server, "user:ann@example.com")
        bind(server, f"projects/p/serviceAccounts/{email}", (CREATOR, "user:ann@example.com"),
             ("roles/iam.serviceAccountKeyAdmin", "user:ann@example.com"))
        revoke = Waiting(server, "DELETE", f"/trainyard/v1/tokens/{token_id}", {}, token=server.token)
        children = [
            Waiting(server, "POST", "/v1/token", {"grant_type": EXCHANGE, "subject_token": token, "subject_token_type": TOKEN_TYPE}, FORM),
            Waiting(server, "POST", "/token", {"grant_type": "refresh_token", "refresh_token": token}, FORM),
            Waiting(server, "POST", account + ":generateAccessToken", {}, token=token),
        ]
        login = Waiting(server, "POST", "/trainyard/v1/session", {"token": token})
        key = Waiting(server, "POST", account + "/keys", {}, token=token)
        for request in (revoke, *children, login, key):
            request.send()
        assert revoke.answer()[0] in (200, 204)
        for child in children:
            status, _, made = child.answer()
            if status == 200 and lives(server, made.get("access_token") or made["accessToken"]):
                outlived.append(child.head.split()[1])
        status, head, _ = login.answer()
        if status == 200 and session_lives(server, head):
            outlived.append("a session")
        if key.answer()[0] == 200:
            outlived.append("a key")
    assert not outlived
    assert lives(server, admin)


def test_a_body_that_comes_after_the_revocation_changes_nothing(server):
    token, token_id = make_token(server, "user:owner@example.com", "late", "roles/owner")
    policy = {"policy": {"bindings": [{"role": "roles/owner", "members": ["user:eve@example.com"]}]}}
    request = Waiting(server, "POST", "/v1/projects/late:setIamPolicy", policy, token=token)
    request.connection.sendall(request.head.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
    assert request.connection.recv(1 << 16).startswith(b"HTTP/1.1 100"), "it was let in, and its body is waited for"
    ask(server, "DELETE", f"/trainyard/v1/tokens/{token_id}", ok=(200, 204))
    request.connection.sendall(request.content)
    assert request.answer()[0] == 401
    assert "eve" not in json.dumps(ask(server, "POST", "/v1/projects/late:getIamPolicy", {}))


@pytest.mark.parametrize("how", ["its token", "its role"])
def test_an_impersonation_ends_with(server, how):
    email, _ = make_account(server, "worn" + uuid.uuid4().hex[:6])
    account = f"projects/p/serviceAccounts/{email}"
    bind(server, account, (CREATOR, "user:ann@example.com"))
    token, token_id = make_token(server, "user:ann@example.com")
    made = ask(server, "POST", f"/v1/{account}:generateAccessToken", {}, token)["accessToken"]
    assert lives(server, made)
    if how == "its token":
        ask(server, "DELETE", f"/trainyard/v1/tokens/{token_id}", ok=(200, 204))
    else:
        bind(server, account)
    assert not lives(server, made)


# Numbers of projects (13)

def test_roles_on_anothers_number_give_nothing(server, bucket):
    """The number stands for the project that has it, in every path. Whoever has roles on a project of that name has none on that one."""
    theirs = ask(server, "GET", "/v1/projects/p:getConfig")
    number = theirs["serviceAccountProject"]
    assert ask(server, "GET", f"/v1/projects/{number}:getConfig") == theirs
    eve, _ = make_token(server, "user:eve@example.com", number, "roles/owner", CREATOR)
    refused = server.request("GET", f"/v1/projects/{number}:getConfig", token=eve)
    assert refused.status_code == 403 and '"projects/p"' in refused.text, refused.text
    assert ask(server, "POST", f"/v1/projects/{number}/jobs", {"jobId": "x"}, eve, ok=(403,))
    for project in (number, "p", "-"):
        agent = f"/v1/projects/{project}/serviceAccounts/{theirs['serviceAccount']}"
        ask(server, "POST", agent + ":generateAccessToken", {}, eve, ok=(403, 404))
        ask(server, "POST", agent + ":generateIdToken", {"audience": "https://x"}, eve, ok=(403, 404))


def test_numbers_are_kept_and_cannot_be_worked_out(server, make_server):
    names = [f"project-{i}" for i in range(3)]
    numbers = [ask(server, "GET", f"/v1/projects/{name}:getConfig")["serviceAccountProject"] for name in names]
    other = make_server("--auth", "on")
    assert numbers[0] != ask(other, "GET", f"/v1/projects/{names[0]}:getConfig")["serviceAccountProject"]
    theirs = [ask(other, "GET", f"/v1/projects/{name}:getConfig")["serviceAccountProject"] for name in names]
    other.stop()
    other.start()
    assert theirs == [ask(other, "GET", f"/v1/projects/{name}:getConfig")["serviceAccountProject"] for name in names]


# Creators (14)

def test_a_creator_who_has_left_owns_nothing(server, bucket):
    ann, developer = "user:creator@example.com", "roles/ml.developer"
    token, _ = make_token(server, ann)
    bind(server, "projects/left", (developer, ann))
    bind_bucket(server, ann)
    submit(server, "mine", token, "left")
    job = "/v1/projects/left/jobs/mine"
    ask(server, "PATCH", job + "?updateMask=labels", {"labels": {"a": "b"}}, token)
    bind(server, "projects/left")
    for method, path in (("GET", job), ("GET", job + ":getIamPolicy"), ("PATCH", job + "?updateMask=labels")):
        ask(server, method, path, {"labels": {}} if method == "PATCH" else None, token, ok=(404,))
    bind(server, "projects/left", (developer, ann))
    ask(server, "PATCH", job + "?updateMask=labels", {"labels": {}}, token)
    [owner] = ask(server, "GET", job + ":getIamPolicy")["bindings"]
    assert owner == {"role": "roles/ml.jobOwner", "members": [ann]}
    bind(server, "projects/left/jobs/mine", ("roles/ml.jobOwner", "user:bob@example.com"))
    ask(server, "POST", job + ":cancel", {}, token, ok=(403,))
    assert "creator" not in json.dumps(ask(server, "GET", job + ":getIamPolicy"))
    ask(server, "POST", job + ":cancel", {}, ok=(200, 400))  # its package is none, so it may have failed before


def bind_bucket(server, *members):
    policy = {"bindings": [{"role": "roles/storage.objectAdmin", "members": list(members)}]}
    ask(server, "PUT", "/storage/v1/b/p-data/iam", policy)


# Accounts that are made again (19)

def test_an_account_made_again_is_another(server, bucket):
    email, unique_id = make_account(server, "namesake", "remade")
    member, developer = "serviceAccount:" + email, "roles/ml.developer"
    bind(server, "projects/remade", (developer, member))
    bind_bucket(server, member)
    token, _ = make_token(server, member)
    submit(server, "old", token, "remade")
    ask(server, "POST", "/v1/projects/remade/jobs/old:cancel", {}, ok=(200, 400))  # it may have failed before
    submit(server, "shared", server.token, "remade")
    bind(server, "projects/remade/jobs/shared", ("roles/ml.jobOwner", member))
    ask(server, "PATCH", "/v1/projects/remade/jobs/shared?updateMask=labels", {"labels": {}}, token)

    ask(server, "DELETE", f"/v1/projects/remade/serviceAccounts/{email}")
    assert not lives(server, token)
    assert make_account(server, "namesake", "remade") != (email, unique_id)
    bind(server, "projects/remade", (developer, member))
    token, _ = make_token(server, member)
    for job in ("old", "shared"):
        path = f"/v1/projects/remade/jobs/{job}"
        ask(server, "PATCH", path + "?updateMask=labels", {"labels": {}}, token, ok=(403,))
        [owner] = [one for one in ask(server, "GET", path + ":getIamPolicy")["bindings"] if "deleted" in one["members"][0]]
        assert owner["members"] == [f"deleted:{member}?uid={unique_id}"]


# Logins (20)

def test_a_thousand_logins_lock_nobody_out(server):
    token, _ = make_token(server, "user:many@example.com")
    connection = KeptConnection(server.url)
    login = json.dumps({"token": token}).encode()
    for number in range(1001):
        answer = connection.ask("POST", "/trainyard/v1/session", "", login, (("Content-Type", JSON),))
        assert answer.status == 200, (number, answer)
    again, _ = make_token(server, "user:many@example.com")
    assert lives(server, again) and lives(server, token)


# Wrong credentials (22)

@pytest.mark.parametrize("path, body", [
    ("/token", {"grant_type": "refresh_token", "refresh_token": "ty_wrong"}),
    ("/token", {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "a.b.c"}),
    ("/v1/introspect", {"token": "ty_wrong"})])
def test_wrong_credentials_wait_and_nobody_else(make_server, path, body):
    server = make_server("--auth", "on")
    for _ in range(20):
        server.request("POST", path, token="", data=body)
    wrong = Waiting(server, "POST", path, body, FORM)
    wrong.send()
    right = Waiting(server, "POST", "/v1/introspect", {"token": server.token}, FORM)
    right.send()
    assert right.answer()[2]["active"] is True
    assert not wrong.has_answer()
    assert wrong.answer()[0] in (200, 400)
