"""Clients of what the server keeps beside jobs: objects, resumable uploads, studies and their trials; and one that follows logs."""

import http.client
import json
import threading
import time
import urllib.parse

from clients import Client
from witness import task_of

BUCKET = "chaos"
PIECE = 256 * 1024  # what a resumable upload's pieces are multiples of
SILENCE_S = 20  # the server sends a comment after 15
OBJECTS = "/upload/storage/v1/b/" + BUCKET + "/o"


def content_of(name, version, size):
    """What an object of that name and version contains: damage anywhere in it shows."""
    line = f"{name} {version} ".encode()
    return (line * (size // len(line) + 1))[:max(size, len(line))]


class ObjectClient(Client):
    """Writes, replaces and deletes objects, each with metadata that belong to its content."""

    def __init__(self, world, name, seed):
        super().__init__(world, name, seed)
        self.version = 0

    def act(self):
        name = f"{self.name}/{self.random.randrange(12)}"
        key = ("object", name)
        if self.random.random() < 0.2:
            self.change(key, None, "DELETE", f"/storage/v1/b/{BUCKET}/o/{name.replace('/', '%2F')}")
            return
        self.version += 1
        size = self.random.choice((20, 2000, 70_000))
        body, kind = multipart({"name": name, "metadata": {"version": str(self.version)}}, content_of(name, self.version, size))
        self.change(key, self.version, "POST", OBJECTS, params={"uploadType": "multipart"}, data=body, headers={"Content-Type": kind})


def multipart(resource, content):
    part = "\r\n--piece\r\nContent-Type: "
    body = (f"--piece\r\nContent-Type: application/json\r\n\r\n{json.dumps(resource)}{part}application/octet-stream\r\n\r\n").encode()
    return body + content + b"\r\n--piece--\r\n", "multipart/related; boundary=piece"


class UploadClient(Client):
    """Uploads objects in pieces, each act one piece: a restart of the server falls between two of them."""

    def __init__(self, world, name, seed):
        super().__init__(world, name, seed)
        self.version, self.session_path, self.content, self.sure = 0, "", b"", 0
        self.object_name, self.begun = "", 0.0

    def act(self):
        if not self.session_path:
            self.begin()
        else:
            self.go_on()

    def begin(self):
        self.version += 1
        self.object_name = f"{self.name}/{self.random.randrange(4)}"
        self.content = content_of(self.object_name, self.version, PIECE * self.random.randrange(1, 4) + 77)
        self.sure = 0
        response = self.ask("POST", OBJECTS, params={"uploadType": "resumable", "name": self.object_name},
                            json={"metadata": {"version": str(self.version)}})
        if response is not None and response.status_code == 200:
            self.session_path = response.headers["Location"].split("/", 3)[3]
            self.begun = time.monotonic()

    def go_on(self):
        """Asks how much is there, as a client does that lost its connection, and sends the next piece."""
        total = len(self.content)
        operation = self.ledger.begin(("object", self.object_name), self.version)
        goes_on = self.heard(operation, self.ask("PUT", "/" + self.session_path, headers={"Content-Range": f"bytes */{total}"}))
        if goes_on:
            end = min(self.sure + PIECE, total)
            goes_on = self.heard(operation, self.ask("PUT", "/" + self.session_path, data=self.content[self.sure:end],
                                                     headers={"Content-Range": f"bytes {self.sure}-{end - 1}/{total}"}))
        if goes_on:
            self.ledger.end(operation, False)  # not yet

    def heard(self, operation, response):
        """Whether the upload goes on, and it is known that it is not done."""
        if response is None or response.status_code >= 500:
            return False
        if response.status_code == 308:
            there = int(response.headers["Range"].rpartition("-")[2]) + 1 if "Range" in response.headers else 0
            if there < self.sure and not self.world.forgives_since(self.begun):
                self.world.violation("upload", f"{self.object_name}: {self.sure} bytes were acknowledged, {there} are there")
            self.sure = there
            return True
        self.ledger.end(operation, response.ok)
        if response.ok:
            self.world.count("resumable uploads")
        elif not self.world.forgives_since(self.begun):
            self.world.violation("upload", f"{self.object_name}: {response.status_code} {response.text[:300]}")
        self.session_path = ""
        return False


class TrialClient(Client):
    """Asks a study for trials and completes them; each time as another worker, so that no trial may come twice."""

    STUDIES = "/v1/projects/p/locations/us-central1/studies"

    def __init__(self, world, name, seed):
        super().__init__(world, name, seed)
        self.study, self.number, self.waits_for, self.trial, self.asked = "", 0, "", "", 0.0

    def act(self):
        if not self.study:
            self.make_study()
        elif self.trial:
            self.complete()
        elif self.waits_for:
            self.look()
        else:
            self.suggest()

    def make_study(self):
        self.number += 1
        study = f"{self.name}_{self.number}"
        config = {"parameters": [{"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}],
                  "metrics": [{"metric": "y", "goal": "MAXIMIZE"}], "algorithm": "RANDOM_SEARCH"}
        made = self.change(("study", study), "there", "POST", self.STUDIES, params={"studyId": study}, json={"studyConfig": config})
        if made is not None and made.ok:
            self.study = study

    def suggest(self):
        self.number += 1
        self.asked = time.monotonic()
        key = ("suggestion", self.study, str(self.number))
        asked = self.change(key, "asked", "POST", f"{self.STUDIES}/{self.study}/trials:suggest",
                            json={"clientId": f"w{self.number}", "suggestionCount": 1})
        if asked is not None and asked.ok:
            self.waits_for = asked.json()["name"]

    def look(self):
        found = self.ask("GET", f"/v1/projects/p/locations/us-central1/operations/{self.waits_for.rpartition('/')[2]}")
        if found is None or found.status_code >= 500:
            return
        if not found.ok:
            if not self.world.forgives_since(self.asked):
                self.world.violation("trial", f"the operation {self.waits_for} is not there: {found.status_code} {found.text[:200]}")
            self.waits_for = ""
        elif found.json().get("done"):
            self.waits_for = ""
            for trial in found.json()["response"].get("trials", []):
                self.trial = trial["name"].rpartition("/")[2]
                key = ("trial", self.study, self.trial)
                if None not in self.ledger.allowed(key):
                    self.world.violation("trial", f"{trial['name']} was given to two workers")
                self.ledger.end(self.ledger.begin(key, "given"), True)

    def complete(self):
        value = f"{self.random.random():.6f}"
        done = self.change(("trial", self.study, self.trial), value, "POST", f"{self.STUDIES}/{self.study}/trials/{self.trial}:complete",
                           json={"finalMeasurement": {"stepCount": 1, "metrics": [{"metric": "y", "value": float(value)}]}})
        if done is not None and done.status_code < 500:
            self.trial = ""


class TailClient(Client):
    """Follows all jobs' logs, and goes on after each restart where it was. What it has read is compared with what is listed."""

    def __init__(self, world, name, seed):
        super().__init__(world, name, seed)
        self.cursor, self.read, self.epoch = "", 0, 0
        self.entries: dict[str, list[tuple[str, str, str]]] = {}  # job -> (task, insertId, text), as they came
        self.lock = threading.Lock()

    def act(self):
        """Reads until the server is gone: no turn of others is held up, since it only reads."""

    def run(self):
        while not self.ended:
            if self.victim.up.wait(0.2):
                self.follow()

    def follow(self):
        """http.client: reading by lines is dear with requests, where one event must not wait for the next one."""
        query = urllib.parse.urlencode({"resourceNames": "projects/p", "filter": 'timestamp>="1970-01-01T00:00:00Z"'})
        begun, epoch = self.cursor, self.epoch
        headers = {**({"Last-Event-ID": self.cursor} if self.cursor else {}), **self.victim.credentials()}
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.victim.url).netloc, timeout=SILENCE_S)
        try:
            connection.request("GET", "/v2/entries:tail?" + query, headers=headers)
            response = connection.getresponse()
            if response.status == 200:
                self.read_events(response, epoch)
            elif response.status < 500:
                self.world.violation("tail", f"{response.status} {response.read(300)!r} for the cursor {self.cursor!r}")
                self.cursor = ""
        except (http.client.HTTPException, OSError, ValueError):
            pass  # it was killed, or says nothing: from the last whole event on, again
        finally:
            connection.close()
            self.world.log(f"tail: {self.read} entries read, {begun or 'the beginning'} -> {self.cursor}")

    def read_events(self, response, epoch):
        cursor = ""
        while line := response.readline():
            if line.startswith(b"id: "):
                cursor = line[4:].decode().strip()
            elif line.startswith(b"event: error"):  # the server is about to end
                return
            elif line.startswith(b"data: "):
                self.take(json.loads(line[6:]), cursor, epoch)

    def take(self, event, cursor, epoch):
        with self.lock:
            if epoch != self.epoch:
                return
            self.cursor = cursor
            self.read += len(event["entries"])
            for entry in event["entries"]:
                labels = entry["resource"]["labels"]
                self.entries.setdefault(labels["job_id"], []).append(
                    (task_of(entry), entry["insertId"], entry.get("jsonPayload", {}).get("message", "")))

    def begin_again(self):
        """After a power cut: what it was shown may be gone."""
        with self.lock:
            self.epoch += 1
            self.cursor = ""
            self.entries.clear()

    def of_job(self, job_id):
        with self.lock:
            return list(self.entries.get(job_id, []))
