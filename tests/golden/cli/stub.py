"""A server that replays fixed answers and writes down what it was asked. Used by record.py and replay.py."""

import gzip
import http.server
import io
import json
import re
import tarfile
import threading
import urllib.parse

MULTIPART = re.compile(r"boundary=('|\")?([^'\"]+)")


def describe_content(content):
    """A package as its members: times and setuptools versions differ from run to run, names and sources do not."""
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = {}
            for member in archive.getmembers():
                if member.isfile():
                    text = archive.extractfile(member).read().decode()
                    members[member.name] = text if member.name.endswith(".py") else "..."
            return {"tar": members}
    except (tarfile.TarError, UnicodeDecodeError):
        return {"bytes": len(content)} if len(content) > 4096 else {"text": content.decode(errors="replace")}


def describe_multipart(kind, body):
    boundary = b"--" + MULTIPART.search(kind).group(2).encode()
    parts = []
    for part in body.split(boundary)[1:-1]:
        head, _, content = part.lstrip(b"\r\n").partition(b"\r\n\r\n" if b"\r\n\r\n" in part else b"\n\n")
        content = content[:-2] if content.endswith(b"\r\n") else content[:-1]
        fields = dict(line.split(": ", 1) for line in head.decode().replace("\r\n", "\n").split("\n"))
        fields = {name.lower(): value for name, value in fields.items()}
        parts.append({"type": fields["content-type"], "content": content})
    return parts


class Stub:
    """answers: {"METHOD /path": [{"status", "body", "headers"}, ...]}; each list is played in order, its last entry repeats."""

    def __init__(self, answers):
        self.answers = {key: list(value) for key, value in answers.items()}
        self.requests = []
        self.resumable = {}
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def serve(self):
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                status, headers, answer = stub.answer(self.command, self.path, self.headers, body)
                if status is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, target, headers, body):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        kind = headers.get("content-type") or ""
        request = {"method": method, "path": path, "query": query}
        uploaded = None
        if kind.startswith("multipart/"):
            parts = describe_multipart(kind, body)
            request["metadata"] = json.loads(parts[0]["content"])
            request["content_type"] = parts[1]["type"]
            request["content"] = describe_content(parts[1]["content"])
            request["metadata"]["size"] = request["metadata"]["size"] == str(len(parts[1]["content"]))
            uploaded = len(parts[1]["content"])
        elif method == "PUT":
            request["content"] = describe_content(body)
            request["range"] = headers.get("content-range")
            uploaded = len(body)
        elif body:
            request["json"] = json.loads(body)
            # gcloud sends sorted keys; so do we.
            request["text_is_sorted"] = json.dumps(json.loads(body)) == json.dumps(json.loads(body), sort_keys=True)
        for name in ("x-upload-content-type", "x-upload-content-length"):
            if headers.get(name):
                request[name] = headers[name]
        self.requests.append(request)
        fixed = self.answers.get(method + " " + path)
        if fixed:
            chosen = fixed.pop(0) if len(fixed) > 1 else fixed[0]
            if chosen.get("status", 200) is None:
                return None, {}, b""
            text = chosen.get("body", {})
            text = text if isinstance(text, str) else json.dumps(text)
            return (chosen.get("status", 200), {"Content-Type": "application/json; charset=UTF-8",
                                                **chosen.get("headers", {})}, text.encode())
        return self.upload(method, path, query, uploaded, body)

    def upload(self, method, path, query, uploaded, body):
        if query.get("uploadType") == "resumable":
            key = str(len(self.resumable))
            self.resumable[key] = (path, query)
            return 200, {"Location": f"http://127.0.0.1:{self.port}/upload/session?id={key}"}, b""
        if method == "PUT":
            path, query = self.resumable[query["id"]]
        if uploaded is None:
            return 404, {}, json.dumps({"error": {"code": 404, "message": "no answer for " + path,
                                                  "status": "NOT_FOUND"}}).encode()
        bucket = path.split("/b/")[1].split("/")[0]
        return 200, {"Content-Type": "application/json"}, json.dumps(
            {"kind": "storage#object", "bucket": bucket, "name": query["name"], "size": str(uploaded)}).encode()
