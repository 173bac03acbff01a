"""Requests made from the discovery documents: right ones, ones with something wrong, and nonsense. The same seed makes the same
requests on every machine."""

import gzip
import json
import random
import urllib.parse
from dataclasses import dataclass, field

from trainyard_server import ROOT

APIS = ["ml.v1", "logging.v2", "storage.v1"]
VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"]
STREAMS = {"logging.entries.tail"}  # answers for as long as the client listens

TEXTS = ["", "a", "p", "j", "known", "us-central1", "projects/p", "projects/p/jobs/known", "gs://bucket/object", "état", "日本語",
         "🚂" * 20, "\u202e\u0000\u0001", "\ud800", "' OR 1=1 --", "<script>", "../../etc/passwd", "%s%n", "a" * 300, "null", "NaN",
         "1e400", "-1", "18446744073709551616", "3600s", "-5s", "1e9s", "2026-11-20T00:00:00Z", "0000-00-00T99:99:99Z", "labels",
         "labels,etag", "*", "jobs(jobId,labels/team),nextPageToken", "jobId:cens* AND state:FAILED", "(((((((", "NOT", '"',
         "severity>=ERROR AND resource.labels.job_id=\"known\"", "=~\"(a*)*b\"", "AAAAAAAA", "Zm9v", "====", "\n", "\t", "\r\n"]
NUMBERS = [0, 1, -1, 2, 100, 101, 2**31 - 1, 2**31, -2**31 - 1, 2**53 + 1, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308]
BROKEN_PATHS = ["%", "%z", "%zz", "%0", "%00", "%ff", "%c3%28", "%2e%2e", "%2F%2F", "a%2Fb", "..", ".", ":", "::", "~", "@:!$&'()*+,;=",
                "%F0%9F%9A%82", "x" * 2000, "{project}", "[]", "|", "\\", "`", "^"]


@dataclass
class Request:
    verb: str
    target: str
    body: bytes = b""
    headers: dict = field(default_factory=dict)
    kind: str = ""

    def __str__(self):
        return f"[{self.kind}] {self.verb} {self.target[:300]} {self.headers} {self.body[:300]!r}"


class Generator:
    def __init__(self, seed, job):
        """`job`: the body of a create that works, but for its id."""
        self.random = random.Random(seed)
        self.job = job
        self.methods, self.schemas, self.parameters = [], {}, {}
        for api in APIS:
            document = json.loads((ROOT / f"data/discovery/{api}.json").read_text())
            self.schemas[api] = document["schemas"]
            self.parameters[api] = document["parameters"]
            prefix = "/" + document.get("servicePath", "")
            self._collect(api, prefix, document)

    def _collect(self, api, prefix, resource):
        for method in resource.get("methods", {}).values():
            if method["id"] not in STREAMS:
                self.methods.append((api, prefix, method))
        for child in resource.get("resources", {}).values():
            self._collect(api, prefix, child)

    # One request

    def next(self):
        api, prefix, method = self.random.choice(self.methods)
        # Those that are served are the more interesting ones; each of the others is asked for, too.
        if self.random.random() < 0.85:
            served = [m for m in self.methods if is_served(m[2]["id"])]
            api, prefix, method = self.random.choice(served)
        kind = self.random.choices(["right", "wrong_type", "unknown", "garbage", "deep", "path", "query", "verb", "override", "gzip",
                                    "truncated", "text"], [20, 14, 8, 8, 3, 12, 12, 5, 3, 3, 6, 6])[0]
        body = self._body(api, method)
        if method["id"] == "ml.projects.jobs.create" and kind == "right" and self.random.random() < 0.2:
            body = {**self.job, "jobId": f"made_{self.random.randrange(2**32)}"}
        request = Request(method["httpMethod"], "", kind=f"{method['id']} {kind}")
        path = self._path(prefix, method, broken=kind == "path")
        query = self._query(api, method, wild=kind == "query")
        text = json.dumps(body) if body is not None else ""
        if kind == "wrong_type":
            text = json.dumps(self._spoil(body if body is not None else {}))
        elif kind == "unknown" and isinstance(body, dict):
            text = json.dumps({**body, self._text() or "bogus": self._any(2)})
        elif kind == "garbage":
            text = self.random.choice(["{", "[]", "null", "nonsense", "{\"a\":", "\"x\"", "1", "{}{}", "[[[[", "{\"a\":1,\"a\":2}", ",",
                                       "\ufeff{}", "{'a': 1}", "{a: 1}", "//", "NaN", "{\"jobId\": \"\\ud800\"}"])
        elif kind == "deep":
            depth = self.random.choice([10, 33, 100, 5000])
            text = "{\"a\":" * depth + "1" + "}" * depth if self.random.random() < 0.5 else "[" * depth + "]" * depth
        elif kind == "truncated" and text:
            text = text[:self.random.randrange(len(text))]
        elif kind == "text":
            text = self._text() * self.random.choice([1, 1, 50])
        elif kind == "verb":
            request.verb = self.random.choice(VERBS)
        elif kind == "override":
            request.verb = "POST"
            request.headers["X-HTTP-Method-Override"] = self.random.choice(VERBS + [""])
            if self.random.random() < 0.5:
                request.headers["Content-Type"] = "application/x-www-form-urlencoded"
                text, query = query, ""
        request.body = text.encode("utf-8", "surrogatepass")
        if kind == "garbage" and self.random.random() < 0.3:
            request.body = bytes(self.random.randrange(256) for _ in range(self.random.randrange(200)))
        if kind == "gzip":
            request.headers["Content-Encoding"] = "gzip"
            request.body = gzip.compress(request.body)
            if self.random.random() < 0.5:
                request.body = request.body[:self.random.randrange(len(request.body))] + b"x"
        if request.body and "Content-Type" not in request.headers:
            request.headers["Content-Type"] = self.random.choice(["application/json", "application/json", "text/plain",
                                                                  "multipart/related; boundary=x", "multipart/mixed"])
        request.target = path + ("?" + query if query else "")
        return request

    def _path(self, prefix, method, broken):
        template = method.get("flatPath") or method["path"]
        uploads = method.get("mediaUpload", {}).get("protocols", {})
        if uploads and self.random.random() < 0.5:
            prefix, template = "", self.random.choice(list(uploads.values()))["path"].lstrip("/")
            prefix = "/"
        parts = []
        for part in template.split("/"):
            if part.startswith("{"):
                name, _, verb = part.partition("}")
                value = self.random.choice(BROKEN_PATHS) if broken and self.random.random() < 0.6 else self._name(name[1:])
                part = value + verb
            parts.append(part)
        path = prefix + "/".join(parts)
        if broken and self.random.random() < 0.3:
            path = self.random.choice([path + "/", path + ":x", "/" + path, path.replace("/", "//", 1), path + "/" + "x/" * 20,
                                       path[:self.random.randrange(1, len(path))]])
        return path

    def _name(self, name):
        if "project" in name.lower():
            return self.random.choice(["p", "p", "p", "my-project", "example.com:p", "123456789012"])
        if "job" in name.lower():
            return self.random.choice(["known", "known", "none"])
        if name.startswith("bucket") or name == "destinationBucket":
            return self.random.choice(["bucket", "bucket", "packages", "no-such-bucket", "x"])
        if "object" in name.lower():
            return self.random.choice(["object", "a%2Fb", "none", "%E6%97%A5"])
        if "stud" in name.lower():
            return self.random.choice(["known", "known", "none"])
        if "trial" in name.lower() or "operation" in name.lower():
            return self.random.choice(["1", "2", "none"])
        if "location" in name.lower():
            return self.random.choice(["us-central1", "mars"])
        return urllib.parse.quote(self._text().encode("utf-8", "replace")[:40], safe="") or "x"

    def _query(self, api, method, wild):
        pairs = []
        own = {n: p for n, p in method.get("parameters", {}).items() if p.get("location") == "query"}
        for name, schema in own.items():
            if schema.get("required") or self.random.random() < (0.5 if wild else 0.25):
                pairs.append((name, self._text() if wild else str(self._value(api, schema, 0))))
        for name in self.parameters[api]:
            if self.random.random() < (0.15 if wild else 0.02):
                pairs.append((name, self.random.choice([self._text(), "json", "true", "false", "1", "2"])))
        if wild and self.random.random() < 0.3:
            pairs.append((self._text(), self._text()))
        if wild and self.random.random() < 0.2:
            return "&".join(f"{n}={v}" for n, v in pairs if (n + v).isascii() and (n + v).isprintable() and " " not in n + v) \
                + self.random.choice(["%", "&&&", "=", "?", "%zz", "a=%f"])
        encoded = [(n, v.encode("utf-8", "surrogatepass")) for n, v in pairs]
        return urllib.parse.urlencode([(n.encode("utf-8", "surrogatepass"), v) for n, v in encoded])

    # Bodies

    def _body(self, api, method):
        request = method.get("request")
        return self._object(api, request["$ref"], 0) if request else None

    def _object(self, api, ref, depth):
        schema = self.schemas[api][ref]
        chance = [0.4, 0.5, 0.3, 0.2, 0.1][min(depth, 4)]
        return {name: self._value(api, prop, depth + 1) for name, prop in schema.get("properties", {}).items()
                if self.random.random() < chance}

    def _value(self, api, schema, depth):
        if depth > 6:
            return None
        if "$ref" in schema:
            return self._object(api, schema["$ref"], depth)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "array":
            return [self._value(api, schema["items"], depth + 1) for _ in range(self.random.randrange(4))]
        if kind == "object":
            below = schema.get("additionalProperties", {})
            return {self._text(): self._value(api, below, depth + 1) for _ in range(self.random.randrange(3))}
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("integer", "number"):
            return self.random.choice([0, 1, 8, 100] + NUMBERS)
        if kind == "string" and schema.get("format") in ("int64", "uint64"):
            return str(self.random.choice([0, 1, 8] + NUMBERS))
        return self._text() if kind == "string" else self._any(depth)

    def _text(self):
        return self.random.choice(TEXTS)

    def _any(self, depth):
        return self.random.choice([None, True, self._text(), self.random.choice(NUMBERS), [], {}, [self._text()] * 3,
                                   {self._text(): self._any(depth + 1) if depth < 4 else 1}])

    def _spoil(self, value):
        """Replaces something within by something of another type."""
        if isinstance(value, dict) and value and self.random.random() < 0.8:
            key = self.random.choice(list(value))
            return {**value, key: self._spoil(value[key])}
        if isinstance(value, list) and value and self.random.random() < 0.7:
            return [self._spoil(item) for item in value]
        return self._any(0)


def is_served(method_id):
    return method_id.startswith(("ml.projects.jobs.", "ml.projects.locations.", "ml.projects.operations.", "ml.projects.getConfig",
                                 "logging.entries.list", "storage.objects.", "storage.buckets."))
