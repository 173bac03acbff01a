"""A world that proves that the harness sees: it changes data behind the server's back, and each change has to be called."""

import os
import signal
import sqlite3
import subprocess
import sys

from clients import POLICY_ROLE
from trainyard_server import processes_with, wait_for
from world import World

ENOUGH = {"object": 4, "trial": 3, "policy": 2, "labels": 2, "job": 5}  # acknowledged of each kind before anything is changed


class Tampered(World):
    """A violation of this world is a change that nobody saw."""

    rounds = 1

    def __init__(self, folder, seed, options):
        super().__init__(folder, seed, options)
        self.spoiled: set[str] = set()  # jobs whose record or log was changed
        self.job = ""  # that is changed now
        self.caught: list[tuple[str, str]] | None = None

    def violation(self, kind, text):
        if self.caught is None:
            super().violation(kind, text)
        else:
            self.caught.append((kind, text))

    def lives(self):
        self.start()
        wait_for(lambda: all(self.ledger.acknowledged.get(kind, 0) >= enough for kind, enough in ENOUGH.items()) or None,
                 lambda: f"clients do too little: {self.ledger.acknowledged}")
        self.idle()
        for number in range(len(CHANGES)):
            job_id = f"long_{number}"
            self.plans[job_id] = 0
            operation = self.ledger.begin(("job", job_id), "there")
            assert self.victim.submit(job_id, **self.training_input(40, 0, 0))
            self.ledger.end(operation, True)
            self.set_policy(job_id)
        for number in range(len(CHANGES)):
            self.victim.wait(f"long_{number}")
        self.victim.stop()

    def set_policy(self, job_id):
        member = f"user:{job_id}@example.com"
        operation = self.ledger.begin(("policy", job_id), member)
        policy = {"bindings": [{"role": POLICY_ROLE, "members": [member]}]}
        assert self.victim.request("POST", f"/v1/projects/p/jobs/{job_id}:setIamPolicy", json={"policy": policy}).ok
        self.ledger.end(operation, True)

    def settle(self):
        self.compare()
        if self.violations:
            return
        for number, name in enumerate(CHANGES):
            self.job = f"long_{number}"
            self.change(name)
            self.spoiled.add(self.job)

    def compare(self, meanwhile=lambda world: None):
        self.start()
        present = self.verifier.registers()
        for job in self.verifier.await_jobs([job_id for job_id in present if job_id not in self.spoiled]).values():
            self.verifier.tail(job["jobId"], self.verifier.job(job))
        meanwhile(self)
        self.look_for_rests(deadline_s=1)
        self.killer.kill_server()

    def change(self, name):
        kind, stopped, running, undo = CHANGES[name]
        self.count("changes made")
        stopped(self)
        self.caught = []
        try:
            self.compare(running)
        finally:
            caught, self.caught = self.caught, None
        self.log(f"{name}: {caught}")
        if kind in [each for each, _ in caught]:
            self.count("changes seen")
        else:
            self.violation("blind", f"nobody saw: {name}; seen was {caught}")
        undo(self)


def execute(database, *statements):
    def change(world):
        with sqlite3.connect(world.data / database) as connection:
            changed = sum(connection.execute(statement, {"job": world.job}).rowcount for statement in statements)
            assert changed > 0, f"{statements} changed nothing"
        connection.close()
    return change


def an_object(world):
    return next(path for path in sorted((world.data / "buckets/chaos").rglob("*")) if path.is_file() and path.stat().st_size > 0)


def flip_a_byte(world):
    path = an_object(world)
    before, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_member(world):
    with sqlite3.connect(world.data / "trainyard.db") as connection:
        record = connection.execute("SELECT record FROM jobs WHERE job_id = ?", (world.job,)).fetchone()[0]
        changed = record.replace(b"user:long_", b"user:lung_")
        assert changed != record
        connection.execute("UPDATE jobs SET record = ? WHERE job_id = ?", (changed, world.job))
    connection.close()


def double_a_chunk(world):
    """The last chunk of a program's lines once more, with further numbers."""
    with sqlite3.connect(world.data / "logs.db") as connection:
        connection.row_factory = sqlite3.Row
        chunk = dict(connection.execute(f"SELECT * FROM chunks WHERE chunk_id = ({LARGEST})", {"job": world.job}).fetchone())
        chunk["chunk_id"] = connection.execute("SELECT max(chunk_id) + 1 FROM chunks").fetchone()[0]
        chunk["job_line"] = connection.execute("SELECT next_line FROM jobs WHERE job_uid = ?", (chunk["job_uid"],)).fetchone()[0]
        chunk["first_line"] = connection.execute("SELECT next_line FROM sources WHERE source_id = ?", (chunk["source_id"],)).fetchone()[0]
        connection.execute(f"INSERT INTO chunks ({', '.join(chunk)}) VALUES ({', '.join('?' * len(chunk))})", list(chunk.values()))
        connection.execute("UPDATE jobs SET next_line = next_line + ? WHERE job_uid = ?", (chunk["line_count"], chunk["job_uid"]))
        connection.execute("UPDATE sources SET next_line = next_line + ? WHERE source_id = ?", (chunk["line_count"], chunk["source_id"]))
    connection.close()


def note(text):
    def change(world):
        with open(world.notes / f"{world.job}.master-0..notes", "a", encoding="ascii") as file:
            file.write(text + "\n")
    return change


def leave_a_process(world):
    name = f"{world.data}/attempts/1-master-replica-0-1"
    world.left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", name])
    wait_for(lambda: processes_with(name) or None, lambda: "it has no command line yet")  # exec closes Popen's pipe before there is one


def end_it(world):
    world.left.kill()
    world.left.wait()


def let_it_crash(world):
    world.victim.process.send_signal(signal.SIGSEGV)
    world.victim.process.wait(60)
    # A core or a report takes a moment; then it is started for the comparisons that follow.
    world.killer.kill_server()
    world.start()


def leave_a_directory(world):
    (world.data / "attempts/9-master-replica-0-1").mkdir()


def report(world):
    (world.folder / "sanitizer.1").write_text("==1==ERROR: AddressSanitizer: heap-use-after-free")


def remove_report(world):
    for path in world.folder.glob("sanitizer*"):
        path.unlink()


def nothing(world):
    pass


LARGEST = "SELECT chunk_id FROM chunks WHERE job_uid = (SELECT job_uid FROM jobs WHERE job_id = :job) ORDER BY line_count DESC, chunk_id DESC LIMIT 1"
# what is done: the kind of violation that it has to be called, what is done while the server is stopped, what while it runs, what undoes it
CHANGES = {
    "an object's record is gone": ("object", execute("objects.db", "DELETE FROM objects WHERE bucket = 'chaos'"), nothing, nothing),
    "an object's file is gone": ("object", lambda world: an_object(world).unlink(), nothing, nothing),
    "a byte of an object is another one": ("object", flip_a_byte, nothing, nothing),
    "a job is gone": ("job", execute("trainyard.db", "DELETE FROM jobs WHERE job_id = :job"), nothing, nothing),
    "a job is renamed": ("job", execute("trainyard.db", "UPDATE jobs SET job_id = 'nobodys' WHERE job_id = :job"), nothing, nothing),
    "a policy is another one": ("policy", another_member, nothing, nothing),
    "trials are gone": ("trial", execute("studies.db", "DELETE FROM trials"), nothing, nothing),
    "a study is gone": ("study", execute("studies.db", "DELETE FROM trials", "DELETE FROM studies"), nothing, nothing),
    "log lines are gone": ("log", execute("logs.db", f"DELETE FROM chunks WHERE chunk_id = ({LARGEST})"), nothing, nothing),
    "log lines are doubled": ("log", double_a_chunk, nothing, nothing),
    "two attempts at once": ("double run", note("double 00000000"), nothing, nothing),
    "a program out of its sandbox": ("isolation", note("escaped 00000000"), nothing, nothing),
    "a start after the end": ("state", note("start 00000000"), nothing, nothing),
    "a process is left": ("rest", nothing, leave_a_process, end_it),
    "an attempt's directory is left": ("rest", nothing, leave_a_directory, nothing),
    "the server crashes": ("crash", nothing, let_it_crash, remove_report),
    "a sanitizer complains": ("sanitizer", report, nothing, remove_report),
}
