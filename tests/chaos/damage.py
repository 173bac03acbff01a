"""A world whose files are damaged one by one: each start has to end in service with what is lost named, or in a refusal that says what to do."""

import os
import re
import select
import shutil
import stat
import time

from own_disk import OwnDisk
from trainyard_server import kill, processes_with
from witness import read_notes

START_S = 30  # within which it listens or has refused
KINDS = ("emptied", "cut in half", "overwritten", "removed", "a directory")
ADVICE = re.compile(r"(?i)\b(restore|recover|backup|remove|move|delete|rename|free|run|start|repair|set aside|give|make)\b")
LOSS = re.compile(r"(?i)lost|set aside|damaged|missing|anew|not there|cannot be read|malformed|not a database|corrupt|gone|removed")
# SQLite takes a write-ahead log that is cut, or gone, for one that ended there. Of the jobs' database alone others know more.
UNSEEN = re.compile(r"^(objects|studies|access|metrics|logs)\.db-wal (?!a directory)")
# The last events of jobs that are known went with it: a job whose end was among them runs again, and numbers its lines as before.
RUN_AGAIN = re.compile(r"^trainyard\.db-wal .*lines of ")
PASSED_OVER = ("buckets", "lost+found")  # what lies in a bucket's directory is an object, whoever wrote it
JOB_S = 75  # a supervisor that does not attach is given 30


def inflict(path, kind):
    if kind == "removed" and path.is_dir():
        shutil.rmtree(path)
    elif kind == "removed":
        path.unlink()
    elif kind == "a directory":
        path.unlink()
        path.mkdir()
        (path / "file").write_text("x")
    else:
        content = bytearray(path.read_bytes())
        middle = len(content) // 2
        if kind == "overwritten":
            content[middle:middle + 100] = b"\xa5" * len(content[middle:middle + 100])
        path.write_bytes(b"" if kind == "emptied" else bytes(content[:middle]) if kind == "cut in half" else bytes(content))


class Damage(OwnDisk):
    """Each case begins with the same disk: some ended jobs, one that waits, objects, a study."""

    cases_a_round = int(os.environ.get("CASES", "12"))
    tuning_jobs = False

    def __init__(self, folder, seed, options):
        self.quiet = False  # else a comparison may find losses, if the server says them
        super().__init__(folder, seed, options)
        self.cases: list[tuple[str, str]] = []
        self.lost: list[str] = []  # what a comparison did not find
        self.attempts_made = 0

    def violation(self, kind, text):
        if kind == "tail":  # its log has gone back in time
            return
        if self.quiet:
            self.lost.append(text)
        else:
            super().violation(kind, text)

    def lives(self):
        if not self.cases:
            super().lives()

    def settle(self):
        if not self.cases:
            self.start()
            for job in self.verifier.await_jobs(self.verifier.registers()).values():
                before = self.found()
                self.verifier.job(job)
                if self.found() != before:  # it would be called again in every case
                    self.verifier.remove(job["jobId"])
            self.end_all()
            self.disk.keep()
            self.kept_ledger = self.ledger.save()
            self.kept_notes = {path: path.read_bytes() for path in self.notes.iterdir()}
            self.cases = [(str(path.relative_to(self.data)), kind) for path in self.files() for kind in KINDS]
            self.random.shuffle(self.cases)
            self.count("files that can be damaged", len(self.cases) // len(KINDS))
        for _ in range(min(self.cases_a_round, len(self.cases))):
            name, kind = self.cases.pop()
            self.try_case(name, kind)
        self.try_attempt(self.random.choice(ATTEMPT_FILES), self.random.choice(KINDS))

    def found(self):
        return len(self.violations) + self.counts["known violations"]

    def files(self):
        for path in sorted(self.data.rglob("*")):
            if stat.S_ISREG(path.lstat().st_mode) and path.relative_to(self.data).parts[0] not in PASSED_OVER:
                yield path

    def try_case(self, name, kind):
        self.count(f"damage: {kind}")
        self.log(f"damage: {name} {kind}")
        inflict(self.data / name, kind)
        said_before = self.victim.log_path.stat().st_size
        self.victim.launch()
        listens = bool(select.select([self.victim.process.stdout], [], [], START_S)[0]) and self.victim.process.poll() is None
        try:
            if listens:
                self.victim.greet()
        except AssertionError:
            listens = False
        if not listens and self.victim.process.poll() is None:
            time.sleep(1)  # it has closed its output, and is about to end
        status = self.victim.process.poll()
        said = self.victim.log_path.read_bytes()[said_before:].decode(errors="replace")
        case = f"{name} {kind}"
        if not listens and status is None:
            self.violation("damage", f"{case}: the start hangs: {said[-500:]}")
        elif not listens and (status < 0 or status >= 128 or "Sanitizer" in said):
            self.violation("damage", f"{case}: the server crashed with {status}: {said[-1500:]}")
        elif not listens:
            self.count("refused starts")
            refusal = said.strip().splitlines()[-1] if said.strip() else ""
            if stem(name) not in said or not ADVICE.search(refusal):
                self.violation("damage", f"{case}: refused without the file's name or advice: {refusal!r}")
        else:
            self.judge_service(case, name, said_before)
        self.victim.kill()
        self.end_all()
        self.go_back()

    def go_back(self):
        """To what there was before anything was damaged."""
        self.disk.go_back()
        self.ledger.load(self.kept_ledger)
        for path in self.notes.iterdir():
            if path not in self.kept_notes:
                path.unlink()
        for path, content in self.kept_notes.items():
            path.write_bytes(content)

    def judge_service(self, case, name, said_before):
        before, self.quiet = len(self.lost), True
        try:
            for job in self.verifier.await_jobs(self.verifier.registers()).values():
                self.verifier.job(job)
        except (AssertionError, KeyError, ValueError) as error:
            self.lost.append(f"{error!r:.300}")
        finally:
            self.quiet = False
        said = self.victim.log_path.read_bytes()[said_before:].decode(errors="replace")
        lost = [each for each in self.lost[before:] if not RUN_AGAIN.match(f"{case}: {each}")]
        if self.victim.process.poll() is not None:
            self.violation("damage", f"{case}: the server ended later with {self.victim.process.returncode}: {said[-1500:]}")
        elif lost and not UNSEEN.match(case) and not (stem(name) in said and LOSS.search(said)):
            self.violation("damage", f"{case}: a silent loss: {lost[:3]}")
        self.count("starts with a named loss" if lost else "starts without a loss")

    def try_attempt(self, name, kind):
        """The same with a file of an attempt that lives, while the server is away."""
        self.start()
        self.attempts_made += 1
        job_id = f"hurt_{self.attempts_made}"
        self.plans[job_id] = 0
        operation = self.ledger.begin(("job", job_id), "there")
        self.victim.submit(job_id, **self.training_input(300, 2, 0))
        self.ledger.end(operation, True)
        self.victim.wait(job_id, until=lambda job: job["state"] == "RUNNING" or "endTime" in job)
        self.killer.kill_server()
        folder = next(iter((self.data / "attempts").iterdir()), None)
        path = folder and folder / name
        if path and path.is_dir():
            path = self.random.choice([each for each in path.rglob("*") if each.is_file()] or [path])
            kind = kind if path.is_file() and name != "." else "removed"
        if path and path.exists():
            self.log(f"damage: attempt's {name} {kind}")
            self.count(f"damage of a live attempt: {kind}")
            inflict(path, kind)
        self.start()
        try:
            job = self.victim.get(job_id) if self.waits(job_id) else None
            if job is None:
                self.victim.cancel(job_id)
                self.violation("damage", f"attempt's {name} {kind}: {job_id} does not end in {JOB_S} s" +
                               ("" if self.waits(job_id) else ", nor when it is cancelled"))
            else:
                self.judge_attempt(f"attempt's {name} {kind}", job)
        finally:
            for pid, _ in processes_with(f"{self.data}/attempts/"):
                kill(pid)
            self.end_all()
            self.go_back()

    def waits(self, job_id):
        deadline = time.monotonic() + JOB_S
        while time.monotonic() < deadline:
            if "endTime" in self.victim.get(job_id):
                return True
            time.sleep(0.1)
        return False

    def judge_attempt(self, case, job):
        for replica in read_notes(self.notes, job["jobId"]):
            for problem in replica.problems:
                self.violation("double run", f"{case}: {problem}")
            if job["state"] == "SUCCEEDED" and (not replica.attempts or replica.attempts[-1].ended != 0):
                self.violation("state", f"{case}: {job['jobId']} is SUCCEEDED, and its last attempt did not end")
        living = [command for _, command in processes_with("witness.task")]
        if living:
            self.violation("rest", f"{case}: {job['jobId']} is {job['state']}, and its program lives: {living}")


def stem(name):
    return name.rpartition("/")[2].removesuffix("-wal").removesuffix("-shm")


ATTEMPT_FILES = ("manifest.pb", "lock", "spool", "init", "cgroup", "work", "supervisor.log", ".", "tools", "hosts")
