"""A real server of the built program, and what tests and benchmarks ask of it."""

import json
import os
import pathlib
import socket
import subprocess
import time
from typing import Any

import requests

from process_output import DEADLINE_S, Output

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRAINYARD_PROGRAM", str(ROOT / "build/dev/trainyard"))
# A server asks each Python of this machine what it is. Asking six of pyenv's takes half of a sanitized server's start.
WITHOUT_PYENV = {"PYENV_ROOT": "/nonexistent"}
RUNTIME = "0.1"  # this machine's Python and what building a package takes: ready in seconds


class Server:
    """`trainyard serve` on a data directory; may be killed and started again."""

    program: str | os.PathLike[str] | None = None  # PROGRAM
    way: Any = None  # how its containers are run, in the tests of these
    environment: dict[str, str] = {}  # what each has beside the environment of who starts it

    def __init__(self, data, *flags, environments=None, program=None, preexec=None, listen="127.0.0.1:0"):
        """`environments`: a folder of built environments to share with other servers. `program`: another than PROGRAM. `preexec`: run in the new
        process first."""
        self.data = pathlib.Path(data)
        self.program = program or self.program
        self.flags = flags
        self.preexec = preexec
        self.listen = listen
        self.log_path = self.data / "server.log"
        self.data.mkdir(parents=True, exist_ok=True)
        if environments:
            (self.data / "environments").symlink_to(environments)
        self.process: Any = None
        self.url = ""
        self.token = ""  # of the administrator, where who asks has to log in
        self.start()

    def start(self):
        self.launch()
        self.greet()

    def launch(self):
        """Starts the process, and does not wait for what it says."""
        write_runtime(self.data / "environments")
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [str(self.program or PROGRAM), "serve", "--data", str(self.data), "--listen", self.listen, "--default-runtime", RUNTIME,
             *self.flags], stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=self.preexec, env=os.environ | self.environment)

    def greet(self):
        """Waits until it listens; AssertionError if it ends before."""
        line = Output(self.process.stdout).line()
        assert line.startswith("listening on http"), (line, self.stderr())
        self.presence = json.loads((self.data / "run/server.json").read_text())
        self.url = line.split()[-1] if line.startswith("listening on http://") else self.presence["url"]
        if self.presence.get("auth"):
            self.token = (self.data / "admin-token").read_text().strip()
        self.replica_url = f"http://127.0.0.1:{self.presence.get('replica_port', 0)}"  # what replicas are told

    def stderr(self):
        return self.log_path.read_text(errors="replace")

    def front(self):
        """Where the front listens: its address, the port of TLS, and the plain one: Google's, or those that it has instead. None where
        it has no address."""
        address, ports = self.data / "run/front-address", self.data / "run/front-ports"
        if not address.exists():
            return None
        host = address.read_text().strip()

        def listens(port):
            try:
                socket.create_connection((host, port), timeout=30).close()
            except ConnectionRefusedError:
                return False
            return True
        return host, *(port if listens(port) else other for port, other in zip((443, 80), map(int, ports.read_text().split())))

    def kill(self):
        self.process.kill()
        self._reap()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
        self._reap()

    def _reap(self):
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    # The API, as a client without a library sees it.

    def request(self, method, path, token=None, session=requests, **options):
        """`token`: another than the administrator's; empty: none is sent."""
        token = self.token if token is None else token
        headers = {**({"Authorization": "Bearer " + token} if token else {}), **options.pop("headers", {})}
        return session.request(method, self.url + path, timeout=60, headers=headers, **options)

    def token_for(self, principal, *roles, project="p"):
        """Printed by the command that an administrator types."""
        words = [word for role in roles for word in ("--role", role)]
        done = self.trainyard("auth", "token", "create", "--principal", principal, *words, "--project", project, "--data", str(self.data))
        assert not done.returncode, done.stderr
        return done.stdout.strip()

    def upload(self, bucket, name, content):
        response = self.request("POST", f"/upload/storage/v1/b/{bucket}/o", params={"uploadType": "media", "name": name},
                                data=content)
        assert response.ok, response.text
        return f"gs://{bucket}/{name}"

    def create(self, job_id, **training_input):
        body = {"jobId": job_id, "trainingInput": {"region": "us-central1", **training_input}}
        return self.request("POST", "/v1/projects/p/jobs", json=body)

    def submit(self, job_id, **training_input):
        response = self.create(job_id, **training_input)
        assert response.ok, response.text
        return response.json()

    def get(self, job_id):
        response = self.request("GET", f"/v1/projects/p/jobs/{job_id}")
        assert response.ok, response.text
        return response.json()

    def cancel(self, job_id):
        """It may have ended by itself meanwhile."""
        response = self.request("POST", f"/v1/projects/p/jobs/{job_id}:cancel")
        assert response.ok or "it has ended" in response.text, response.text

    def wait(self, job_id, until=lambda job: "endTime" in job):
        """Asks until the job is as wanted; the API has no call that waits."""
        return wait_for(lambda: (lambda job: job if until(job) else None)(self.get(job_id)),
                        lambda: f"{job_id}: {self.get(job_id)}\n{self.texts(job_id)[-20:]}\n{self.stderr()[-3000:]}")

    def log_entries(self, job_id, extra=""):
        entries, token = [], None
        while True:
            body = {"resourceNames": ["projects/p"], "orderBy": "timestamp asc", "pageSize": 1000,
                    "filter": f'resource.type="ml_job" AND resource.labels.job_id="{job_id}"{extra}'}
            if token:
                body["pageToken"] = token
            response = self.request("POST", "/v2/entries:list", json=body)
            assert response.ok, response.text
            page = response.json()
            entries += page.get("entries", [])
            token = page.get("nextPageToken")
            if not token:
                return entries

    def texts(self, job_id, task=None):
        return [entry["jsonPayload"]["message"] for entry in self.log_entries(job_id)
                if task is None or entry["resource"]["labels"]["task_name"] == task]

    def wait_for_entry(self, job_id, is_it):
        return wait_for(lambda: next(filter(is_it, self.log_entries(job_id)), None),
                        lambda: f"no such entry in {self.log_entries(job_id)} {self.stderr()[-3000:]}")

    def wait_for_text(self, job_id, text):
        return wait_for(lambda: text in self.texts(job_id) or None,
                        lambda: f"no {text!r} in {self.texts(job_id)} {self.get(job_id)} {self.stderr()[-3000:]}")

    def client_environment(self):
        """What `eval "$(trainyard env)"` gives a shell."""
        printed = subprocess.run([PROGRAM, "env", "--server", self.url], check=True, capture_output=True, text=True,
                                 env={**os.environ, "TRAINYARD_DATA": str(self.data)})
        both = subprocess.run(["bash", "-c", printed.stdout + "\nenv -0"], check=True, capture_output=True)
        return dict(item.split("=", 1) for item in both.stdout.decode().split("\0") if "=" in item)

    def trainyard(self, *words, **options):
        environment = {**os.environ, "TRAINYARD_SERVER": self.url, "CLOUDSDK_CORE_PROJECT": "p",
                       "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "1"}
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=environment, timeout=DEADLINE_S, **options)


MINIMAL_RUNTIME = {"version": RUNTIME, "pythons": ["3.11"], "notes": "for tests",
                   "packages": ["pip==26.3", "setuptools==80.10.2", "wheel==0.48.0"]}


def write_runtime(environments):
    """The definition of RUNTIME. Servers of other test processes may be reading it."""
    runtimes = environments / "runtimes.d"
    runtimes.mkdir(parents=True, exist_ok=True)
    written = runtimes / f".{RUNTIME}.{os.urandom(8).hex()}"
    written.write_text(json.dumps(MINIMAL_RUNTIME))
    written.rename(runtimes / f"{RUNTIME}.json")


def wait_for(condition, describe, deadline_s=DEADLINE_S):
    deadline = time.monotonic() + deadline_s
    pause = 0.01
    while True:
        value = condition()
        if value is not None:
            return value
        assert time.monotonic() < deadline, "waited in vain: " + describe()
        time.sleep(pause)  # between two questions to an API that has no push
        pause = min(pause * 1.5, 0.25)


def starter_of(server):
    """The server's child that forks supervisors."""
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()
    below = {int(pid) for task in tasks for pid in (task / "children").read_text().split()}
    return next(pid for pid, command in processes_with("trainyard starter") if pid in below)


def processes_with(text):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in command:
            found.append((int(entry.name), command))
    return found


def end_supervisors(data):
    """Ends what the jobs of a stopped server left running, and the cgroups that a supervisor or its server would remove."""
    pids = [pid for pid, _ in processes_with(f"{data}/attempts/")]
    for pid in pids:
        kill(pid)
    wait_for(lambda: True if not processes_with(f"{data}/attempts/") else None, lambda: f"they live on: {pids}")
    for pid in pids:
        for cgroup in pathlib.Path("/sys/fs/cgroup").glob(f"**/trainyard-*-{pid}"):
            wait_for(lambda: removed(cgroup) or None, lambda: f"{cgroup} is not empty")


def removed(cgroup):
    try:
        cgroup.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # its last processes are just ending
        return False
    return True


def kill(pid):
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        pass  # it went by itself
