"""A colleague by script, for tests with several at once: all that it is answered is looked through for the names of others."""

import json
import re
import threading
import time
from urllib.parse import quote

import requests
import websocket

from kept_connection import KeptConnection
from process_output import DEADLINE_S

ROLE = "roles/trainyard.member"
JSON = (("Content-Type", "application/json"),)
STUDY = {"studyConfig": {"metrics": [{"metric": "m"}], "parameters": [
    {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}}]}}
GPU = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4",
       "masterConfig": {"acceleratorConfig": {"count": "1", "type": "NVIDIA_TESLA_T4"}}}
LOOK_AROUND = b"ls -a /gcs /gcs/* /tmp . ..; env; cat /etc/hosts /proc/*/cmdline | tr '\\0' ' '; echo 'see'n\n"


class Times:
    """How long each operation took; several threads may add."""

    def __init__(self):
        self.seconds, self.lock = {}, threading.Lock()

    def add(self, operation, seconds):
        with self.lock:
            self.seconds.setdefault(operation, []).append(seconds)

    def table(self):
        rows = [f"{'operation':24}{'count':>8}{'p50 ms':>10}{'p99 ms':>10}"]
        for operation, all_of_it in sorted(self.seconds.items()):
            ordered = sorted(all_of_it)
            p50, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000 for part in (0.5, 0.99))
            rows.append(f"{operation:24}{len(ordered):8}{p50:10.1f}{p99:10.1f}")
        return "\n".join(rows)


class Colleague:
    """Its project, bucket and jobs have its own name. One thread's."""

    def __init__(self, server, name, others, times):
        self.server, self.name, self.times = server, name, times
        self.foreign = re.compile("|".join(others).encode(), re.IGNORECASE)
        self.others = others
        self.jobs = f"/v1/projects/{name}/jobs"
        self.connection = KeptConnection(server.url)
        self.token = ""
        self.answers = 0

    def settle(self, packages):
        """By the administrator: a token, a bucket, what the jobs run."""
        made = self.server.request("POST", "/trainyard/v1/tokens", json={"principal": f"user:{self.name}@example.com", "roles": [ROLE],
                                                                          "projects": [self.name]})
        self.token = made.json()["text"]
        self.server.request("POST", "/storage/v1/b", params={"project": self.name}, json={"name": f"{self.name}-data"}).raise_for_status()
        for package in ("probe", "tuned"):
            self.server.upload(f"{self.name}-data", f"{package}.tar.gz", packages[package].read_bytes())

    def look(self, what, text):
        found = self.foreign.search(text)
        assert not found, f"{self.name} sees {found[0]!r} in {what}: {text[max(0, found.start() - 200):found.end() + 200]!r}"
        self.answers += 1

    def ask(self, operation, method, target, body=None, ok=(200,)):
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        begin = time.monotonic()
        answer = self.connection.ask(method, target, self.token, content, JSON if isinstance(body, dict) else ())
        self.times.add(operation, time.monotonic() - begin)
        assert answer.status in ok, (self.name, operation, target, answer)
        self.look(operation, answer.head + answer.body)
        return answer.body

    # What a colleague does

    def round(self, number, is_tuned):
        self.use_the_bucket(number)
        job = f"{self.name}_{number}"
        self.submit(job, ["print", f"{self.name} says {number}", "forever"], enableWebAccess=True)
        if is_tuned:
            self.submit(job + "_tuned", [], "tuned", **GPU, hyperparameters={
                "goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 1, "params": [
                    {"parameterName": "x", "type": "DOUBLE", "maxValue": 1}]})
        self.follow(job, f"{self.name} says {number}")
        self.shell(job)
        self.study(number)
        self.look_around(job)
        self.try_others(number)
        self.ask("cancel", "POST", f"{self.jobs}/{job}:cancel", {})
        self.until_ended(job)
        if is_tuned:
            assert self.until_ended(job + "_tuned")["state"] == "SUCCEEDED"
        self.read_logs()

    def use_the_bucket(self, number):
        bucket, name, content = f"{self.name}-data", f"in-{number % 10}", f"{self.name} {number}".encode() * 1000
        self.ask("upload", "POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}", content)
        assert self.ask("download", "GET", f"/storage/v1/b/{bucket}/o/{name}?alt=media") == content
        self.ask("list objects", "GET", f"/storage/v1/b/{bucket}/o")
        self.ask("list buckets", "GET", f"/storage/v1/b?project={self.name}")

    def submit(self, job, args, program="probe", **more):
        self.ask("submit", "POST", self.jobs, {"jobId": job, "trainingInput": {
            "region": "us-central1", "packageUris": [f"gs://{self.name}-data/{program}.tar.gz"], "pythonModule": program + ".task", "args": args,
            **more}})

    def follow(self, job, text):
        """Opens a stream of the job's log, and reads it until the line has come."""
        begin = time.monotonic()
        with requests.get(self.server.url + "/v2/entries:tail", headers={"Authorization": "Bearer " + self.token}, stream=True, timeout=DEADLINE_S,
                          params={"resourceNames": f"projects/{self.name}", "filter":
                                  f'resource.labels.job_id="{job}" AND timestamp>="1970-01-01T00:00:00Z"'}) as stream:
            assert stream.status_code == 200, stream.text
            lines = stream.iter_lines(chunk_size=1)
            self.look("stream", next(lines))
            self.times.add("open a stream", time.monotonic() - begin)
            for line in lines:
                self.look("stream", line)
                if f'"{text}"'.encode() in line:
                    break
            else:
                raise AssertionError(f"the stream ended without {text!r}")
        self.times.add("job to its first line", time.monotonic() - begin)

    def shell(self, job):
        # A program's first line may be there an instant before its job is RUNNING.
        [uri] = self.until(job, lambda seen: seen.get("trainingOutput", {}).get("webAccessUris")).values()
        begin = time.monotonic()
        ticket = json.loads(self.ask("shell ticket", "POST", uri.removeprefix(self.server.url) + "Ticket", b""))["uri"]
        shell = websocket.create_connection(ticket.replace("http://", "ws://"), timeout=DEADLINE_S)
        shell.send_binary(LOOK_AROUND)
        seen = b""
        while b"seen" not in seen:
            seen += shell.recv()
        shell.close()
        self.times.add("shell and a command", time.monotonic() - begin)
        assert f"{self.name}-data".encode() in seen, seen
        self.look("a shell", seen)

    def study(self, number):
        studies = f"/v1/projects/{self.name}/locations/us-central1/studies"
        self.ask("create a study", "POST", f"{studies}?studyId={self.name}_{number}", STUDY)
        self.ask("suggest", "POST", f"{studies}/{self.name}_{number}/trials:suggest", {"clientId": self.name, "suggestionCount": 1})
        self.ask("list studies", "GET", studies)

    def look_around(self, job):
        for operation, path in {"list jobs": self.jobs, "list projects": "/v1/projects", "usage": "/trainyard/v1/usage",
                                "list tokens": "/trainyard/v1/tokens", "who am I": "/trainyard/v1/whoami",
                                "list accounts": f"/v1/projects/{self.name}/serviceAccounts",
                                "why it waits": f"/trainyard/v1/projects/{self.name}/jobs/{job}"}.items():
            self.ask(operation, "GET", path, ok=(200, 403) if operation == "list accounts" else (200,))

    def try_others(self, number):
        """An answer has the names that were asked for, and not one more; a foreign thing is as one that is not there."""
        other = self.others[number % len(self.others)]
        texts = []
        for job in (f"{other}_{number}", "absent_one"):
            answer = self.connection.ask("GET", f"/v1/projects/{other}/jobs/{job}", self.token)
            assert answer.status == 404, answer
            texts.append(answer.body.replace(job.encode(), b"JOB"))
        assert texts[0] == texts[1]
        for method, target in (("GET", f"/v1/projects/{other}/jobs"), ("GET", f"/storage/v1/b/{other}-data/o"),
                               ("GET", f"/storage/v1/b/{other}-data/o/probe.tar.gz?alt=media"),
                               ("POST", f"/v1/projects/{other}/jobs/{other}_0:cancel"),
                               ("GET", f"/v2/entries:tail?resourceNames={quote('projects/' + other)}")):
            answer = self.connection.ask(method, target, self.token, b"{}" if method == "POST" else b"", JSON if method == "POST" else ())
            assert answer.status in (403, 404), (self.name, target, answer)
            rest = answer.body.replace(other.encode(), b"")
            self.look("a refusal", rest)

    def until(self, job, condition):
        """What the condition returns of the job, once that is something."""
        deadline = time.monotonic() + DEADLINE_S
        while not (found := condition(seen := json.loads(self.ask("describe", "GET", f"{self.jobs}/{job}")))):
            self.ask("why it waits", "GET", f"/trainyard/v1/projects/{self.name}/jobs/{job}")
            assert time.monotonic() < deadline, seen
            time.sleep(0.1)  # between two questions to an API that has no push
        return found

    def until_ended(self, job):
        return self.until(job, lambda seen: seen if "endTime" in seen else None)

    def read_logs(self):
        body = {"resourceNames": [f"projects/{self.name}"], "orderBy": "timestamp desc", "pageSize": 200}
        assert b"says" in self.ask("list log entries", "POST", "/v2/entries:list", body)
