"""A world: one installation with its clients, in namespaces of its own, and the rounds that it goes through."""

import collections
import json
import os
import pathlib
import random
import re
import signal
import threading
import time
import traceback

import store_clients
from clients import JobClient
from container_engines import installation_groups, leftovers
from killer import Killer
from ledger import Ledger
from trainyard_server import removed, wait_for
from verify import Verifier
from victim import Victim

GENTLE = 0.25  # of the rounds
RESTS_S = 15  # within which nothing is left of what has ended
DESCRIPTORS_SLACK = 12  # connections of clients and of supervisors come and go
SERVER_COMPLAINTS = ("AddressSanitizer", "runtime error:", "CHECK failed", "LeakSanitizer", "terminate called")


class World:
    """Only the main thread starts and kills. `options`: program, environments, package, lives and jobs a round, flags."""

    rounds = 8  # before another world has its turn
    gangs, tuning_jobs = True, True
    victims: tuple[str, ...] = ("supervisor", "init", "program", "starter")

    def __init__(self, folder, seed, options):
        assert os.getppid() == 1, "a world kills whatever it sees: it has to be alone in a PID namespace"
        self.folder, self.seed, self.options = pathlib.Path(folder).resolve(), seed, options
        self.random = random.Random(seed)
        self.data, self.notes = self.folder / "data", self.folder / "notes"
        self.secret = self.data / "run/secret"  # no program may read it
        self.notes.mkdir(exist_ok=True)
        self.notes.chmod(0o777)
        self.ledger = Ledger(self.folder / "ledger.jsonl")
        self.counts, self.violations, self.troubles = collections.Counter(), [], collections.Counter()
        self.plans: dict[str, int] = {}  # job -> the status that its program ends with
        self.forgiven: set[str] = set()  # attempts that a power cut ended
        self.forgiven_if_repeated: set[str] = set()  # attempts whose end a power cut may have undone
        self.last_cut = self.last_fault = 0.0
        self.round, self.descriptors = 0, 0
        self.gentle = False  # in this round replicas are told to end, and never killed: what has ended with 0 has ended
        self.jobs_left, self.jobs_lock = 0, threading.Lock()
        self.gate = threading.Event()  # open: clients act
        self.log_file = open(self.folder / "world.log", "a", encoding="utf-8")
        self.victim = Victim(self.data, self.folder / "server.log", *self.flags(), environments=options.environments, program=options.program)
        self.tail = None
        self.clients = self.make_clients()
        self.verifier = Verifier(self)
        self.killer = Killer(self, self.random, self.victims)

    @classmethod
    def missing(cls, options):
        """Why this machine cannot have it; empty: it can."""
        return ""

    def flags(self):
        return ["--restart-pause", "0.05", "--stop-grace", "2"]

    def make_clients(self):
        self.tail = store_clients.TailClient(self, "tail", self.seed)
        kinds = (JobClient, store_clients.ObjectClient, store_clients.UploadClient, store_clients.TrialClient)
        return [kind(self, f"{kind.__name__[:3].lower()}{number}", self.seed * 100 + number) for number, kind in enumerate(kinds)]

    # What clients ask of the world

    def take_job(self):
        """Whether one more job may be made in this round."""
        with self.jobs_lock:
            if self.jobs_left == 0:
                return False
            self.jobs_left -= 1
            return True

    def training_input(self, lines, seconds, status):
        args = [self.notes, lines, seconds, status, self.secret]
        return {"packageUris": ["gs://packages/witness.tar.gz"], "pythonModule": "witness.task", "args": list(map(str, args)),
                "region": "us-central1"}

    def forgives_since(self, moment):
        return max(self.last_cut, self.last_fault) > moment

    # What is written down

    def log(self, text):
        self.log_file.write(f"{time.monotonic():.3f} round {self.round}: {text}\n")
        self.log_file.flush()

    def count(self, what, times=1):
        self.counts[what] += times

    def trouble(self, text):
        """An answer that a client did not want and that breaks no promise by itself."""
        self.troubles[re.sub(r"\d+", "N", text)[:160]] += 1
        self.log(text)

    def violation(self, kind, text):
        if any(re.search(pattern, text) for pattern in self.options.known):
            self.count("known violations")
            self.log(f"known: {text}")
            return
        self.violations.append({"kind": kind, "what": text, "round": self.round, "seed": self.seed})
        self.log(f"VIOLATION {kind}: {text}")

    def died(self, status):
        self.violation("crash", f"the server ended by itself with {status}: {self.victim.stderr()[-2000:]}")

    # Rounds

    def start(self):
        """Until it listens."""
        self.victim.launch()
        try:
            self.victim.greet()
        except AssertionError as error:
            self.victim.kill()
            self.violation("start", f"the server did not start: {str(error)[-1500:]}")
            raise
        self.count("starts")

    def prepare(self):
        """The first start, with what jobs need."""
        self.victim.furnish()
        self.start()
        self.make_buckets()
        self.victim.upload("packages", "witness.tar.gz", pathlib.Path(self.options.package).read_bytes())
        self.victim.upload(store_clients.BUCKET, "first", b"")
        self.descriptors = self.open_descriptors()
        self.victim.stop()
        for client in [*self.clients, self.tail]:
            if client:
                client.start()

    def make_buckets(self):
        """Where they do not come with their first object."""

    def act(self):
        """Opens the gate, and lets the killer work."""
        self.jobs_left = self.options.jobs
        self.gate.set()
        try:
            self.lives()
        finally:
            self.idle()

    def lives(self):
        self.gentle = self.random.random() < GENTLE
        self.killer.victims = () if self.gentle else self.victims
        for _ in range(self.options.lives):
            self.killer.life()

    def idle(self):
        """Closes the gate; returns when no client is in the middle of a question."""
        self.gate.clear()
        for client in self.clients:
            with client.turn:
                pass

    def settle(self):
        """Starts once more, waits for all jobs, and compares everything."""
        self.start()
        present = self.verifier.registers()
        for job in self.verifier.await_jobs(present).values():
            self.verifier.tail(job["jobId"], self.verifier.job(job))
            self.verifier.remove(job["jobId"])
        self.look_for_rests()
        self.victim.stop()

    def look_for_rests(self, deadline_s=RESTS_S):
        """All jobs have ended: nothing of them may be there."""
        try:
            wait_for(lambda: None if self.rests() else True, lambda: "", deadline_s)
        except AssertionError:
            self.violation("rest", "; ".join(self.rests()))
        complaints = [line for line in self.victim.stderr().splitlines() if any(each in line for each in SERVER_COMPLAINTS)]
        # A warning by itself is none: its search for leaks meets threads that are just ending.
        texts = (path.read_text(errors="replace") for path in self.folder.glob("sanitizer*"))
        reports = [text[:3000] for text in texts if "ERROR:" in text or "runtime error:" in text]
        if complaints or reports:
            self.violation("sanitizer", "\n".join([*complaints[:5], *reports[:2]]))

    def rests(self):
        found = [rest for rest in leftovers(self.victim) if rest != f"mount {self.data}"]
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == self.victim.process.pid:
                found.append(f"zombie {entry.parent.name}")
        if self.open_descriptors() > self.descriptors + DESCRIPTORS_SLACK:
            found.append(f"{self.open_descriptors()} open descriptors; {self.descriptors} at the first start")
        return found

    def open_descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.victim.process.pid}/fd").iterdir()))

    def killed(self, role):
        """One of these has been killed."""

    def play_round(self):
        """One round; False: what happened makes the next one worthless."""
        self.round += 1
        before = len(self.violations)
        try:
            self.act()
            self.settle()
        except Exception as error:
            self.violation("hang" if "waited in vain" in str(error) else "harness", f"{error!r:.2000} {traceback.format_exc()[-1500:]}")
        self.count("rounds")
        return len(self.violations) == before

    def close(self):
        for client in [*self.clients, self.tail]:
            if client:
                client.ended = True
        if self.victim.pid():
            self.victim.signal(signal.SIGKILL)
        self.ledger.close()

    def result(self):
        return {"seed": self.seed, "counts": dict(self.counts), "acknowledged": self.ledger.acknowledged, "violations": self.violations,
                "troubles": dict(self.troubles), "server starts": self.victim.starts}

    def write_result(self):
        written = self.folder / "result.json.new"
        written.write_text(json.dumps(self.result()))
        written.rename(self.folder / "result.json")


def remove_empty_groups(data):
    """Of an installation none of whose processes lives."""
    for group in installation_groups(data):
        wait_for(lambda: removed(pathlib.Path(group)) or None, lambda: f"{group} is not empty", deadline_s=10)
