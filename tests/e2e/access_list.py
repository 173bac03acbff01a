"""Who may use which route, read from the list that was written without the server's tables (src/rules/iam/testing/expected_access.cc), and a
request for each route that changes little."""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import quote

from trainyard_server import ROOT

LIST = ROOT / "src/rules/iam/testing/expected_access.cc"
LOCATION = "us-central1"
ABSENT = "absent"
# Whoever has one of these on a project has, by the policy that each new bucket gets, the roles of old buckets too.
BY_BUCKETS_POLICY = {"owner": ("storage.legacyBucketOwner", "storage.legacyObjectOwner"),
                     "editor": ("storage.legacyBucketOwner", "storage.legacyObjectOwner"),
                     "viewer": ("storage.legacyBucketReader", "storage.legacyObjectReader")}
HIDDEN = ("Job", "Bucket", "ServiceAccount")  # not named where it may not be seen
UPLOAD = "POST /upload/storage/v1/b/{bucket}/o"
READ = "GET /storage/v1/b/{bucket}/o/{object}"
REMOVE = "DELETE /storage/v1/b/{bucket}/o/{object}"
LIST_OBJECTS = "GET /storage/v1/b/{bucket}/o"
FOLDER = "/trainyard/v1/buckets/{bucket}/folder"
# What a handler asks for besides: a copy is a read and a write.
ALSO = {"POST /storage/v1/b/{bucket}/o/{object}/copyTo/b/{to_bucket}/o/{to_object}": (UPLOAD,),
        "POST /storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}": (UPLOAD,),
        "POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}": (UPLOAD, REMOVE),
        "POST /storage/v1/b/{bucket}/o/{object}/compose": (READ,),
        f"GET {FOLDER}:download": (LIST_OBJECTS,), f"DELETE {FOLDER}": (LIST_OBJECTS,)}


@dataclass
class Rule:
    route: str
    where: str
    roles: set

    def may(self, role):
        """Whether the role is enough where it is bound."""
        held = {role, *(BY_BUCKETS_POLICY.get(role, ()) if self.where == "Bucket" else ())}
        return role == "trainyard.admin" or bool(held & self.roles)


@dataclass
class Ask:
    method: str
    target: str
    body: bytes = b""
    headers: tuple = ()
    stream: bool = False


@dataclass
class World:
    """What there is in a project, for requests that name it."""
    project: str
    email: str = ""
    key: str = ABSENT
    names: dict = field(default_factory=dict)


def rules():
    """By route."""
    text = LIST.read_text()
    text = text[text.index("kRoutes[]"):text.index("kRoles[]")]
    found = {}
    for entry in re.finditer(r"\{Where::k(\w+),((?:\s*\"[^\"]*\",?)+)\}", text):
        # Neighbouring literals are one text; a comma ends the roles.
        roles, routes = re.fullmatch(r"\s*((?:\"[^\"]*\"\s*)+),\s*((?:\"[^\"]*\"\s*)+)", entry[2]).groups()
        joined = ["".join(re.findall(r'"([^"]*)"', part)) for part in (roles, routes)]
        for route in joined[1].split("\\n"):
            if route:
                assert route not in found, route
                found[route] = Rule(route, entry[1], set(joined[0].split()))
    return found


def roles():
    """All that the list names."""
    return sorted({role for rule in rules().values() for role in rule.roles} | {"trainyard.admin"})


def filled(route, world, is_absent=False, new="new"):
    """The route's path with what is there, or is not, in the place of its parameters. `new`: the name of what is made."""
    account = f"{ABSENT}@{world.project}.iam.gserviceaccount.com" if is_absent else world.email
    values = {"project": world.project, "location": LOCATION, "region": LOCATION, "zone": f"{LOCATION}-b", "job": "j",
              "study": "s", "trial": "1", "operation": ABSENT, "number": "1",
              "bucket": f"{world.project}-data", "object": "o", "object=**": "o", "to_bucket": f"{world.project}-data", "to_object": new,
              "account": account, "key": world.key, "role": "ml.viewer", "service": "ml.googleapis.com", "task": "master-replica-0",
              "token": ABSENT, "ticket": ABSENT, "node": "n", "api": "ml", "version": "v1", "path=**": "project/project-id", **world.names}
    if route.endswith(":cancel"):
        values["job"] = "c"  # "j" never ends: so nobody removes it
    if is_absent:
        values |= dict.fromkeys(("job", "bucket", "to_bucket", "study"), f"{world.project}-{ABSENT}")
    return re.sub(r"\{([^}]+)\}", lambda match: quote(values[match[1]], safe="@-"), route.partition(" ")[2])


NEVER = "ifGenerationMatch=999&ifMetagenerationMatch=999"
STALE = {"etag": "AAAAAAAAAAA="}
BODIES = {  # what is right, but for what would change much: those are refused by their handlers, after the decision
    ":setIamPolicy": {"policy": {**STALE, "bindings": []}}, "PUT /storage/v1/b/{bucket}/iam": {**STALE, "bindings": []},
    "POST /v2/entries:list": {"resourceNames": ["projects/{project}"]}, "POST /v2/entries:tail": {"resourceNames": ["projects/{project}"]},
    "/compose": {"sourceObjects": [{"name": "o"}], "destination": {"contentType": "text/plain"}},
    "/scalars:query": {"names": [{"jobId": "j", "tag": "loss"}]},
    "POST /trainyard/v1/admin/drain": {"on": "perhaps"}, "/keys": {"privateKeyType": "perhaps"},
    ":generateAccessToken": {"lifetime": "perhaps"}, ":testIamPermissions": {"permissions": ["ml.jobs.get"]}}
QUERIES = {"POST /storage/v1/b": "project={project}", "GET /storage/v1/b": "project={project}", "PATCH /v1/projects/{project}/jobs/{job}":
           "updateMask=labels", "GET /v2/entries:tail": "resourceNames=projects/{project}",
           "GET /trainyard/v1/projects/{project}/jobs/{job}/log:search": "query=x",
           f"GET {FOLDER}:summarize": "prefix=", f"GET {FOLDER}:download": "prefix=", f"DELETE {FOLDER}": "prefix=absent/",
           "DELETE /storage/v1/b/{bucket}": NEVER,
           "POST /v1/projects/{project}/locations/{location}/studies": "studyId=s",
           "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries:read": "tag=t&step=1",
           REMOVE: NEVER, "POST /storage/v1/b/{bucket}/o/{object}/moveTo/o/{to_object}": "ifSourceGenerationMatch=999",
           UPLOAD: "uploadType=media&name={new}", "POST /resumable" + UPLOAD[5:]: "uploadType=resumable&name={new}",
           **{f"{verb} {prefix}{UPLOAD[5:]}": "uploadType=resumable&upload_id=absent" for verb in ("PUT", "DELETE") for prefix in ("", "/resumable")}}


def request(route, world, is_absent=False, new="new"):
    """One that is answered without an error where it is allowed, or refused for what it says, not for who asks."""
    path = filled(route, world, is_absent, new)
    body = BODIES.get(route, next((value for end, value in BODIES.items() if route.endswith(end)), None))
    method = route.partition(" ")[0]
    text = json.dumps(body if body is not None else {}) if method in ("POST", "PUT", "PATCH") else ""
    query = QUERIES.get(route, "")
    if route.endswith("/compose"):
        path = path.replace("/o/o/compose", f"/o/{new}/compose")
    if query:
        path += "?" + query.replace("{project}", world.project).replace("{new}", new)
    is_upload = "/upload/" in route
    headers = () if is_upload or not text else (("Content-Type", "application/json"),)
    return Ask(method, path, text.replace("{project}", world.project).encode(), headers,
               stream=route.endswith(("entries:tail", "jobs:watch")))
