"""A server with two projects that have the same things in them, callers with each role in the first one, and the code that each of their
requests must have by the list of access_list.py."""

import json
import re

import access_list
from access_list import HIDDEN, World, request
from kept_connection import KeptConnection

OF_INSTALLATION = ["trainyard.admin", "trainyard.operator", "monitoring.viewer", "owner", "viewer"]
RULES = access_list.rules()
ROLES = access_list.roles()
OWN, OTHER = "own", "other"
# Handlers that find nothing, though the caller may: there are no operations, keys or uploads of these names.
FIND_NOTHING = re.compile(r"\{operation\}|/keys/\{key\}|^(PUT|DELETE) /(resumable/)?upload/|DELETE .*/(studies|trials)/|DELETE /trainyard/v1/tokens"
                          r"|/trials/\{trial\}|/studies/\{study\}|:shell|/\{job\}/(metrics|preparation)$|/summaries:read$|/aiplatform/.*\{number\}")
REMOVES = "DELETE /v1/projects/{project}/serviceAccounts/{account}"
XML = "GET /{bucket}/{object=**}"  # only under Google's name for it


def name_of(role, where):
    return f"{role.replace('.', '-').lower()}-{where}@example.com"


class AccessWorld:
    """Who has which role in the first of the two projects, or on the installation: `tokens`, by role and where it is bound."""

    def __init__(self, server):
        self.server = server
        self.connection = KeptConnection(server.url)
        self.front = KeptConnection(server.data / "run/front.sock", name="storage.googleapis.com")
        self.worlds = {project: self.furnish(project) for project in (OWN, OTHER)}
        self.tokens = {}
        bindings = []
        for role in ROLES:
            if role != "trainyard.admin":
                bindings.append({"role": "roles/" + role, "members": ["user:" + name_of(role, OWN)]})
                self.tokens[role, OWN] = self.token(name_of(role, OWN))
        for role in OF_INSTALLATION:
            self.tokens[role, "installation"] = self.token(name_of(role, "installation"), "roles/" + role)
        self.tokens["", OWN] = self.token("nobody@example.com")
        self.must("POST", f"/v1/projects/{OWN}:setIamPolicy", {"policy": {"bindings": bindings}})

    def must(self, method, target, body=None, ok=(200,)):
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        headers = (("Content-Type", "application/json"),) if isinstance(body, dict) else ()
        answer = self.connection.ask(method, target, self.server.token, content, headers)
        assert answer.status in ok, (method, target, answer)
        return json.loads(answer.body or b"{}")

    def token(self, email, *roles):
        return self.must("POST", "/trainyard/v1/tokens", {"principal": "user:" + email, "roles": list(roles)})["text"]

    def furnish(self, project):
        self.must("POST", f"/storage/v1/b?project={project}", {"name": f"{project}-data"})
        self.must("POST", f"/upload/storage/v1/b/{project}-data/o?uploadType=media&name=o", b"content")
        self.submit(project, "j")
        self.submit(project, "c")
        world = World(project, self.make_account(project))
        studies = f"/v1/projects/{project}/locations/us-central1/studies"
        self.must("POST", studies + "?studyId=s", {"studyConfig": {"metrics": [{"metric": "m"}], "parameters": [
            {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}}]}})
        self.must("POST", studies + "/s/trials:suggest", {"clientId": "c", "suggestionCount": 1})
        return world

    def submit(self, project, job):
        self.must("POST", f"/v1/projects/{project}/jobs", {"jobId": job, "trainingInput": {
            "region": "us-central1", "packageUris": [f"gs://{project}-data/o"], "pythonModule": "m"}})

    def make_account(self, project):
        self.must("POST", f"/v1/projects/{project}/serviceAccounts", {"accountId": "trainer"}, ok=(200, 409))
        return f"trainer@{project}.iam.gserviceaccount.com"

    def ask(self, rule, token, project, is_absent, new):
        wanted = request(rule.route, self.worlds[project], is_absent, new)
        connection = self.front if rule.route == XML else self.connection
        answer = connection.ask(wanted.method, wanted.target, token, wanted.body, wanted.headers, wanted.stream)
        if rule.route == REMOVES and answer.status == 200:
            self.make_account(project)
        return answer


def expected(rule, role, bound, project, is_absent):
    """The code of a refusal, or None: the handler answers."""
    if rule.where in ("NobodyAsked", "LoggedIn"):
        return None
    if rule.route.endswith(("/trainyard/v1/tokens/{token}", "GET /trainyard/v1/tokens", "GET /trainyard/v1/usage", "GET /v1/projects",
                            "/scalars:query")):
        return None  # they answer what the caller may see
    needed = [rule, *(RULES[route] for route in access_list.ALSO.get(rule.route, ()))]
    may = all(one.may(role) for one in needed)
    of_installation = rule.where == "Installation" or rule.route == "POST /trainyard/v1/tokens"
    everywhere = bound == "installation"
    if rule.where == "Bucket" and is_absent and not everywhere:
        return 404  # it is in no project
    reaches = everywhere or (role and project == OWN and not of_installation)
    if may and reaches:
        return None
    if rule.where in HIDDEN and not reaches:
        return 404
    return 403


def mistake(rule, wanted, answer, is_absent):
    """What is wrong with an answer; None if nothing is."""
    if answer.status >= 500:
        return "a 5xx"
    if wanted is not None:
        return None if answer.status == wanted else f"not {wanted}"
    if answer.status == 404 and (is_absent or FIND_NOTHING.search(rule.route) or rule.where == "NobodyAsked"):
        return None
    if rule.where == "NobodyAsked" and answer.status in (401, 403):
        return None if rule.route.startswith(("GET /replica/", "GET /computeMetadata", "GET /trainyard/v1/shells")) else "refused"
    return f"{answer.status}, though it is allowed" if answer.status in (401, 403, 404) else None
