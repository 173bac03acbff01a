"""A server of its own and its API, with the standard library only."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

REPORT = "GPU_CHECK "  # gpu_trainer prints it before what it says
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
DEADLINE_S = 90.0  # for one step of a job: a driver that wakes up, an image that is unpacked


class Late(Exception):
    """What was waited for did not happen."""


class Service:
    def __init__(self, program: str, data: pathlib.Path, runtime: Mapping[str, object], variables: dict[str, str]) -> None:
        self.data = data
        runtimes = data / "environments/runtimes.d"
        runtimes.mkdir(parents=True)
        (runtimes / f"{runtime['version']}.json").write_text(json.dumps(runtime))
        self._said = open(data / "server.log", "wb")
        self._command = [program, "serve", "--data", str(data), "--listen", "127.0.0.1:0", "--default-runtime", str(runtime["version"]),
                         "--verbose"]
        self._variables = {**os.environ, **variables}
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=self._said, text=True, env=self._variables)
        try:
            self.url = self._listening()
        except BaseException:  # a signal, too
            self._process.kill()
            self._process.wait()
            raise

    def _listening(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line.startswith("listening on "):
            raise Late(f"the server did not start: {line}{self.said()}")
        return line.split()[-1]

    def said(self) -> str:
        return (self.data / "server.log").read_text(errors="replace")

    def stop(self) -> None:
        """Ends every job, and the server."""
        try:
            self.end_jobs()
        except (OSError, Late):
            pass  # the server is gone; its supervisors are ended below
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pid in processes_with(f"{self.data}/attempts/"):
            kill(pid)
        self._said.close()

    def end_jobs(self) -> None:
        unfinished = [job["jobId"] for job in self.ask("GET", "/v1/projects/p/jobs").get("jobs", []) if job["state"] not in ENDED]
        for job_id in unfinished:
            self.cancel(job_id)
        for job_id in unfinished:
            self.wait(job_id)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": kind} if data is not None else {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Late(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from error

    def healthy(self) -> dict[str, bool]:
        """The accelerators in /metrics."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as answer:
            lines = [line for line in answer.read().decode().splitlines() if line.startswith("trainyard_accelerator_healthy{")]
        return {line.split('accelerator="')[1].split('"')[0]: line.endswith(" 1") for line in lines}

    def doctor(self) -> str:
        """What `admin doctor` says about accelerators."""
        command = [self._command[0], "admin", "doctor", "--data", str(self.data), "--format=json"]
        done = subprocess.run(command, capture_output=True, text=True, env=self._variables, timeout=60, check=False)
        rows = [row["detail"] for row in json.loads(done.stdout or "{}").get("rows", []) if row["what"] == "accelerators"]
        if not rows:
            raise Late(f"admin doctor does not speak about accelerators: {done.stdout[-500:]}{done.stderr[-500:]}")
        return str(rows[0])

    def upload(self, path: pathlib.Path) -> str:
        self.ask("POST", f"/upload/storage/v1/b/packages/o?uploadType=media&name={path.name}", path.read_bytes())
        return f"gs://packages/{path.name}"

    def submit(self, job_id: str, training_input: dict[str, object]) -> None:
        self.ask("POST", "/v1/projects/p/jobs", {"jobId": job_id, "trainingInput": {"region": "us-central1", **training_input}})

    def job(self, job_id: str) -> Any:
        return self.ask("GET", f"/v1/projects/p/jobs/{job_id}")

    def status(self, job_id: str) -> Any:
        return self.ask("GET", f"/trainyard/v1/projects/p/jobs/{job_id}")

    def cancel(self, job_id: str) -> None:
        self.ask("POST", f"/v1/projects/p/jobs/{job_id}:cancel", {})

    def texts(self, job_id: str) -> list[str]:
        answer = self.ask("POST", "/v2/entries:list", {
            "resourceNames": ["projects/p"], "orderBy": "timestamp asc", "pageSize": 1000,
            "filter": f'resource.type="ml_job" AND resource.labels.job_id="{job_id}"'})
        return [entry.get("jsonPayload", {}).get("message", "") for entry in answer.get("entries", [])]

    def reports(self, job_id: str) -> dict[str, Any]:
        """The last line of each kind that gpu_trainer printed."""
        found = [json.loads(text[len(REPORT):]) for text in self.texts(job_id) if text.startswith(REPORT)]
        return {report["what"]: report for report in found}

    def wait(self, job_id: str) -> Any:
        """Until the job has ended; returns it."""
        return self.until(lambda: (lambda job: job if job["state"] in ENDED else None)(self.job(job_id)), f"the end of {job_id}", job_id)

    def report(self, job_id: str, kind: str) -> Any:
        def look() -> Any:
            found = self.reports(job_id).get(kind)
            if found is None and self.job(job_id)["state"] in ENDED:
                found = self.reports(job_id).get(kind)  # it came in between
                if found is None:
                    raise Late(f"{job_id} ended without saying '{kind}': {self._tail(job_id)}")
            return found
        return self.until(look, f"'{kind}' of {job_id}", job_id)

    def until(self, look: Callable[[], Any], what: str, job_id: str) -> Any:
        end = time.monotonic() + DEADLINE_S
        while True:
            found = look()
            if found is not None:
                return found
            if time.monotonic() > end:
                raise Late(f"waited in vain for {what}: {self._tail(job_id)}")
            time.sleep(0.2)  # between two questions

    def _tail(self, job_id: str) -> str:
        job = self.job(job_id)
        return " | ".join([job["state"], job.get("errorMessage", ""), *self.texts(job_id)[-8:]])


def processes_with(text: str) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in command:
            found.append(int(entry.name))
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it went by itself
