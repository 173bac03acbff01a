"""Random requests to the routes of access_list.py, by callers with tokens that hold and tokens that do not. The same seed makes the same
requests for the same tokens."""

import base64
import json
import random
import re
from dataclasses import dataclass
from urllib.parse import quote

from access_list import Ask, Rule, filled, request
from access_world import OTHER, OWN, RULES, XML, expected

SLOW = "GET /trainyard/v1/runtimes"  # looks for the machine's Pythons, half a second each time
ODD = ["..", "%2e%2e", "own%2F..%2Fother", "*", "-", "%00", "OWN", "own ", "own%0d%0aX: y", "x" * 300, "%F0%9F%9A%82", "%ff", "own:cancel", "_", "~",
       "own;other", "other%23", "projects%2Fown", "1", "admin@trainyard.local", "%2a", "allUsers"]
NO_JSON = [b"{", b"nonsense", b"[1,", b"\xff\xfe", b'"text', b"[" * 200, b"", b"{\"a\":1,}", b"\0"]
NOISE = ["alt=json", "prettyPrint=false", "fields=*", "key=AIza", "quotaUser=other", "userProject=other", "$.xgafv=2", "uploadType=media"]
REFUSED = range(400, 500)
OF_AN_ADDRESS = 15  # refused tokens: after five more the server holds its refusals back


@dataclass
class Credential:
    kind: str
    text: str | bytes = ""
    role: str = ""
    bound: str = ""  # "": it does not hold


@dataclass
class Attempt:
    rule: Rule
    credential: Credential
    ask: Ask
    is_foreign: bool = False  # it names another project, or something odd, in the place of the own one
    parts: tuple = ()         # those of a batch

    def wrong(self, status):
        """What is wrong with the answer; None if nothing is."""
        if not 200 <= status < 500:
            return "a 5xx"
        if self.rule.where == "NobodyAsked":
            return None
        if not self.credential.bound:
            return None if status in REFUSED else "allowed without a token that holds"
        places = [(OTHER, False), (OTHER, True)] if self.is_foreign else [(OWN, False), (OWN, True)]
        refused = all(expected(self.rule, self.credential.role, self.credential.bound, *place) for place in places)
        return "allowed to who may not" if refused and status not in REFUSED else None

    def __str__(self):
        return (f"{self.credential.kind} {self.credential.role} of {self.credential.bound or 'nowhere'}: {self.rule.route}: {self.ask.method} "
                f"{self.ask.target[:300]} {self.ask.body[:100]!r} {self.ask.headers}")


def spoiled(draw, text):
    """A token that was one."""
    place = draw.randrange(3, len(text))
    other = draw.choice([letter for letter in "abcXYZ019" if letter != text[place]])
    return draw.choice([text[:-1], text + "A", text[:place] + other + text[place + 1:], text[:place], text.swapcase(), text[3:], "ty_" + text,
                        text[::-1], text + "." + text, quote(text[:5]) + "%00" + text[5:]])


def unsigned(principal):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return part({"alg": "none", "typ": "JWT"}) + "." + part({"sub": principal, "iss": principal, "email": principal, "exp": 4102444800}) + "."


class Generator:
    def __init__(self, seed, world, useless):
        """`useless`: kind -> tokens that held once, or hold elsewhere."""
        self.draw = random.Random(seed)
        self.world, self.useless = world, useless
        self.left_at_front = OF_AN_ADDRESS  # its socket is one address to the server
        self.rules = [rule for rule in RULES.values() if rule.route != SLOW and "/batch" not in rule.route]
        self.batch = RULES["POST /batch/ml/v1"]
        self.valid = [Credential("valid", token, role, bound) for (role, bound), token in world.tokens.items()]

    def credential(self):
        kind = self.draw.choices(["valid", "none", "malformed", "useless"], [45, 10, 25, 20])[0]
        if kind == "valid":
            return self.draw.choice(self.valid)
        if kind == "useless":
            kind = self.draw.choice(list(self.useless))
            return Credential(kind, self.draw.choice(self.useless[kind]))
        return Credential(kind, self.malformed() if kind == "malformed" else "")

    def malformed(self):
        draw = self.draw
        return draw.choice([
            lambda: spoiled(draw, draw.choice(self.valid).text),
            lambda: spoiled(draw, self.world.server.token),
            lambda: unsigned("user:admin@trainyard.local"),
            lambda: bytes(draw.choice(range(0x21, 0xff)) for _ in range(draw.randrange(1, 80))),
            lambda: "ty_" + "A" * draw.choice([1, 43, 5000]),
            lambda: "ya29." + "".join(draw.choices("abcdef0123456789-_", k=100)),
            lambda: "null", lambda: "undefined", lambda: "user:admin@trainyard.local", lambda: "%s%n", lambda: "..."])()

    def next(self):
        credential = self.credential()
        if self.draw.random() < 0.03:
            parts = tuple(self.attempt(credential) for _ in range(2))
            body = "".join(f"--b\r\nContent-Type: application/http\r\n\r\n{part.ask.method} {part.ask.target} HTTP/1.1\r\n"
                           f"Content-Type: application/json\r\n\r\n" for part in parts).encode("latin-1", "replace") + b"--b--"
            return Attempt(self.batch, credential, Ask("POST", "/batch/ml/v1", body, (("Content-Type", "multipart/mixed; boundary=b"),)), parts=parts)
        return self.attempt(credential)

    def attempt(self, credential):
        draw = self.draw
        rule = draw.choice(self.rules)
        if rule.route == XML and not credential.bound:
            if self.left_at_front == 0:
                return self.attempt(credential)
            self.left_at_front -= 1
        project, is_absent = draw.choice((OWN, OTHER)), draw.random() < 0.2
        wanted = request(rule.route, self.world.worlds[project], is_absent, new=f"new-{draw.randrange(20)}")
        is_foreign = project == OTHER
        if draw.random() < 0.15:
            wanted.target, is_foreign = self.with_odd_name(rule, wanted.target, project)
        if wanted.body and draw.random() < 0.2:
            wanted.body = draw.choice(NO_JSON)
        if draw.random() < 0.1:
            wanted.target = self.spelled_otherwise(wanted.target)
        if draw.random() < 0.1:
            wanted.target += ("&" if "?" in wanted.target else "?") + draw.choice(NOISE)
        if rule.route != XML and draw.random() < 0.05 and "/upload/" not in rule.route:
            wanted.headers += (("X-HTTP-Method-Override", wanted.method),)
            wanted.method = "POST"
        if not credential.bound and draw.random() < 0.05:
            wanted.target += ("&" if "?" in wanted.target else "?") + "access_token=" + self.world.server.token
        return Attempt(rule, credential, wanted, is_foreign)

    def with_odd_name(self, rule, target, project):
        """One of its names replaced; foreign if that was what leads to a project."""
        names = re.findall(r"\{([^}]+)\}", rule.route)
        if not names:
            return target, project == OTHER
        name = self.draw.choice(names)
        world = self.world.worlds[project]
        mark = "replacethis"
        before = world.names.get(name)
        world.names[name] = mark
        query = target.partition("?")[2]
        odd = self.draw.choice(ODD)
        path = filled(rule.route, world).replace(mark, odd)
        del world.names[name]
        if before is not None:
            world.names[name] = before
        is_any_project = odd == "-" and rule.where == "ServiceAccount"  # the account's own, in the original, too
        leads = name in ("project", "bucket", "account", "to_bucket") and not is_any_project
        return path + ("?" + query if query else ""), project == OTHER or leads

    def spelled_otherwise(self, target):
        """The same path by other bytes."""
        path, mark, query = target.partition("?")
        letters = [place for place, letter in enumerate(path) if letter.isalpha() and "%" not in path[max(0, place - 2):place]]
        if letters and self.draw.random() < 0.7:
            place = self.draw.choice(letters)
            path = path[:place] + f"%{ord(path[place]):02x}" + path[place + 1:]
        else:
            place = self.draw.choice([place for place, letter in enumerate(path) if letter == "/"])
            path = path[:place] + self.draw.choice(["//", "/./", "/%2e/", "/x/../", "/;/"]) + path[place + 1:]
        return path + mark + query


def statuses(body):
    """Of a batch's parts."""
    return [int(status) for status in re.findall(rb"(?m)^HTTP/1\.1 (\d\d\d)", body)]
