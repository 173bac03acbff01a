"""Random requests with valid, expired, revoked, foreign and malformed tokens: never a 5xx, and nothing is allowed to who may not.
TRAINYARD_REQUEST_SEED makes others."""

import os
import time

import pytest

from access_requests import OF_AN_ADDRESS, Generator, statuses
from access_world import OWN, REMOVES, XML, AccessWorld
from kept_connection import KeptConnection
from trainyard_server import Server, end_supervisors, wait_for

COUNT = 1_000_000 if os.environ.get("TRAINYARD_LONG") else 10_000  # ./dev test --long
SHOWN_MAX = 30
KINDS = 3  # tokens of each useless kind


@pytest.fixture
def world(make_server):
    server = make_server("--auth", "on")
    assert server.request("POST", "/trainyard/v1/admin/drain", json={"on": True}).ok
    return AccessWorld(server)


@pytest.fixture
def foreign(tmp_path, environments):
    """A token of another installation's administrator."""
    other = Server(tmp_path / "other", "--auth", "on", environments=environments)
    token = other.token
    other.stop()
    end_supervisors(other.data)
    return token


def useless_tokens(world, foreign):
    def make(**more):
        return world.must("POST", "/trainyard/v1/tokens", {"principal": "user:admin2@example.com", "roles": ["roles/trainyard.admin"], **more})

    expired = [make(lifetime="1s")["text"] for _ in range(KINDS)]
    revoked = []
    for _ in range(KINDS):
        made = make()
        world.must("DELETE", f"/trainyard/v1/tokens/{made['token']['id']}")
        revoked.append(made["text"])
    account = world.must("POST", f"/v1/projects/{OWN}/serviceAccounts", {"accountId": "disabled"})["email"]
    world.must("POST", f"/v1/projects/{OWN}:setIamPolicy", {"policy": {"bindings": [
        *world.must("POST", f"/v1/projects/{OWN}:getIamPolicy", {})["bindings"],
        {"role": "roles/owner", "members": [f"serviceAccount:{account}"]}]}})
    path = f"/v1/projects/{OWN}/serviceAccounts/{account}"
    disabled = [world.must("POST", path + ":generateAccessToken", {"lifetime": "3600s"})["accessToken"] for _ in range(KINDS)]
    world.must("POST", path + ":disable", {})
    for token in expired:
        wait_for(lambda: world.server.request("GET", "/trainyard/v1/whoami", token=token).status_code == 401 or None, lambda: "it does not expire")
    return {"expired": expired, "revoked": revoked, "of a disabled account": disabled, "foreign": [foreign]}


class Asker:
    """Refused tokens come from ever new addresses of this machine, as if many had them."""

    def __init__(self, world):
        self.world, self.refused = world, None
        self.address = self.left = 0  # how many refused ones more the address is good for

    def connection(self, attempt):
        if attempt.rule.route == XML:
            return self.world.front
        if attempt.credential.bound:
            return self.world.connection
        if self.left == 0:
            if self.refused:
                self.refused.close()
            self.address += 1
            number = 0x7F000000 + 256 + self.address
            self.refused = KeptConnection(self.world.server.url, source=".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)))
            self.left = OF_AN_ADDRESS
        self.left = max(self.left - max(1, len(attempt.parts)), 0)
        return self.refused

    def ask(self, attempt):
        wanted = attempt.ask
        answer = self.connection(attempt).ask(wanted.method, wanted.target, attempt.credential.text, wanted.body, wanted.headers, wanted.stream)
        if attempt.rule.route == REMOVES and answer.status == 200:
            self.world.make_account(OWN)
            self.world.make_account("other")
        return answer


def test_nothing_is_allowed_to_who_may_not(world, foreign):
    seed = int(os.environ.get("TRAINYARD_REQUEST_SEED", "1"))
    generator, asker = Generator(seed, world, useless_tokens(world, foreign)), Asker(world)
    counts, mistakes, allowed = {}, [], 0
    begin = time.monotonic()
    for number in range(COUNT):
        attempt = generator.next()
        answer = asker.ask(attempt)
        key = attempt.credential.kind, answer.status
        counts[key] = counts.get(key, 0) + 1
        allowed += bool(attempt.credential.bound) and answer.status == 200
        wrong = attempt.wrong(answer.status) if not (attempt.parts and attempt.credential.bound) else next(
            (part.wrong(status) for part, status in zip(attempt.parts, statuses(answer.body)) if part.wrong(status)), None)
        if wrong:
            mistakes.append(f"{number}: {answer.status}: {wrong}: {attempt}: {answer.body[:200]!r}")
            assert len(mistakes) < SHOWN_MAX, f"seed {seed}\n" + "\n".join(mistakes)
    print(f"seed {seed}: {COUNT} requests in {time.monotonic() - begin:.1f} s")
    for (kind, status), count in sorted(counts.items()):
        print(f"{kind:24}{status:5}{count:9}")
    assert not mistakes, f"seed {seed}: {len(mistakes)} of {COUNT}\n" + "\n".join(mistakes)
    assert world.server.process.poll() is None and world.server.request("GET", "/healthz").ok
    assert allowed > COUNT / 40, "it is worth something only while it gets through to the handlers"
