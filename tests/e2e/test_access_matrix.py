"""Every route, every role, one's own, others' and absent resources, against one server: the code that the list of access_list.py says.
It was written without the server's tables. A server that has a route without a row in them does not start."""

import os
import re

import pytest

from access_list import HIDDEN, filled
from access_world import OF_INSTALLATION, OTHER, OWN, ROLES, RULES, AccessWorld, expected, mistake
from trainyard_server import ROOT, Server, end_supervisors

LONG = bool(os.environ.get("TRAINYARD_LONG"))
SAME_FOR_ALL = "GET /trainyard/v1/runtimes"  # it looks for the machine's Pythons, half a second each time


@pytest.fixture(scope="module")
def matrix(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("matrix") / "data", "--auth", "on", environments=environments)
    drained = server.request("POST", "/trainyard/v1/admin/drain", json={"on": True})
    assert drained.ok, drained.text
    yield AccessWorld(server)
    assert server.process.poll() is None and server.request("GET", "/healthz").ok
    server.stop()
    end_supervisors(server.data)


def test_who_may_do_what(matrix):
    asked, mistakes, statuses = 0, [], {}
    for (role, bound), token in matrix.tokens.items():
        for rule in RULES.values():
            if rule.route == SAME_FOR_ALL and role and not LONG:
                continue
            for project in (OWN, OTHER):
                for is_absent in (False, True):
                    wanted = expected(rule, role, bound, project, is_absent)
                    answer = matrix.ask(rule, token, project, is_absent, new=f"new-{role}-{bound}")
                    asked += 1
                    statuses[answer.status] = statuses.get(answer.status, 0) + 1
                    wrong = mistake(rule, wanted, answer, is_absent)
                    if wrong:
                        mistakes.append(f"{role or 'nobody'} of {bound}, {project}{', absent' if is_absent else ''}: {rule.route}: {answer.status}: "
                                        f"{wrong}: {answer.body[:160]!r}")
    print(f"{len(matrix.tokens)} callers, {len(RULES)} routes, {asked} requests:", dict(sorted(statuses.items())))
    assert not mistakes, f"{len(mistakes)} of {asked}\n" + "\n".join(mistakes[:60])
    assert asked >= 4 * (len(RULES) - 1) * (len(ROLES) + len(OF_INSTALLATION))


def test_the_list_has_every_route_of_the_servers_tables():
    texts = [file.read_text() for file in ROOT.glob("src/api/**/*.cc")]
    text = "".join(text for text in texts if re.search(r"constexpr Route k\w+\[\]", text))
    joined = re.sub(r'"\s*\n\s*"', "", text)  # neighbouring literals
    rows = set(re.findall(r'"((?:GET|POST|PUT|PATCH|DELETE) /[^"]*)"', joined))
    assert rows and rows == RULES.keys(), sorted(rows ^ RULES.keys())


def test_without_a_token_only_what_nobody_is_asked_for(matrix):
    for rule in RULES.values():
        for token in ("", "ty_" + "A" * 43) if LONG else ("",):  # bad tokens are slowed down
            answer = matrix.ask(rule, token, OWN, False, "new")
            is_open = rule.where == "NobodyAsked"
            assert is_open or answer.status == 401, (rule.route, answer)
            assert answer.status < 500


def test_what_is_hidden_looks_as_what_is_absent(matrix):
    token = matrix.tokens["", OWN]
    for rule in RULES.values():
        if rule.where not in HIDDEN:
            continue
        texts = []
        for is_absent in (False, True):
            answer = matrix.ask(rule, token, OTHER, is_absent, "new")
            names = {filled("GET " + part, matrix.worlds[OTHER], is_absent) for part in ("{job}", "{bucket}", "{account}")}
            text = answer.body.decode()
            for name in sorted(names, key=len, reverse=True):
                text = text.replace(name, "NAME") if len(name) > 1 else text
            texts.append((answer.status, text))
        assert texts[0] == texts[1] and texts[0][0] == 404, (rule.route, texts)


def test_lists_have_what_the_caller_may_see(matrix):
    projects, usage = RULES["GET /v1/projects"], RULES["GET /trainyard/v1/usage"]
    for project in (OWN, OTHER):
        matrix.submit(project, "waits")
    for (role, bound), token in matrix.tokens.items():
        for rule, may in (projects, role != ""), (usage, usage.may(role)):
            answer = matrix.ask(rule, token, OWN, False, "new")
            shown = {project for project in (OWN, OTHER) if f'"{project}"' in answer.body.decode()}
            wanted = {OWN, OTHER} if may and bound == "installation" else {OWN} if may else set()
            assert shown == wanted, (role, bound, rule.route, answer.body)


def test_parts_of_a_batch_are_asked_one_by_one(matrix):
    token = matrix.tokens["ml.developer", OWN]
    parts = "".join(f"--b\r\nContent-Type: application/http\r\nContent-ID: <{project}>\r\n\r\nGET /v1/projects/{project}/jobs/j HTTP/1.1\r\n\r\n\r\n"
                    for project in (OWN, OTHER)) + "--b--"
    answer = matrix.connection.ask("POST", "/batch/ml/v1", token, parts.encode(), (("Content-Type", "multipart/mixed; boundary=b"),))
    assert re.findall(rb"HTTP/1\.1 (\d+)", answer.body) == [b"200", b"404"], answer.body
