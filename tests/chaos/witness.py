"""What the jobs' programs noted of themselves, and whether the server's account of a job and of its log agrees with it."""

import collections
import pathlib
import re
from dataclasses import dataclass, field

LINE = re.compile(r"w ([0-9a-f]{8}) (\d{7})$")
# What the service says where lines are missing. It has to be said in the log of that replica, or in the service's.
GAP = re.compile(r"not in this log|may be missing|are missing|is lost|are lost|could not be read|damaged|the output after")
STARTS_THAT_EXCUSE = 6  # a replica is restarted five times
STDERR_EVERY = 16  # the program writes each 16th line to stderr: order holds within a stream


@dataclass
class Attempt:
    token: str
    at: int  # its place among the replica's notes
    printed: int = 0
    ended: int | None = None  # with this status


@dataclass
class Replica:
    name: str  # "master-replica-0"; a trial's begins with its number
    attempts: list[Attempt] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def task_of(entry):
    """The replica of a log entry, named as Replica does."""
    trial = entry.get("labels", {}).get("ml.googleapis.com/trial_id", "")
    return (f"{trial}-" if trial else "") + entry["resource"]["labels"]["task_name"]


def read_notes(folder, job_id):
    """The replicas of a job, each with its attempts in the order in which they started."""
    replicas = []
    for path in sorted(pathlib.Path(folder).glob(f"{job_id}.*.notes")):
        task, _, trial = path.name.removeprefix(job_id + ".").removesuffix(".notes").partition(".")
        kind, _, index = task.rpartition("-")
        replica = Replica((f"{trial}-" if trial else "") + f"{kind}-replica-{index}")
        known = {}
        for line in path.read_text().splitlines():
            what, token, *more = line.split()
            if what == "start":
                count = pathlib.Path(folder, token + ".count")
                printed = int(count.read_bytes() or b"0") if count.exists() else 0
                known[token] = Attempt(token, len(replica.attempts), printed)
                replica.attempts.append(known[token])
            elif what == "end":
                known[token].ended = int(more[1])
            elif what == "double":
                replica.problems.append(f"two attempts of {replica.name} lived at once")
            elif what == "escaped":
                replica.problems.append(f"{replica.name} ran outside of its sandbox: it could read the server's secret")
        replicas.append(replica)
    return replicas


def judge_state(job, replicas, planned_status, cancelled):
    """What is wrong with the state of a job that has ended. `cancelled`: the values that the ledger allows for that; a cancellation that
    meets a job which is just finishing changes nothing."""
    state = job.get("state")
    masters = [replica for replica in replicas if "master" in replica.name]
    if state == "SUCCEEDED":
        if not masters:
            yield "it is SUCCEEDED, and its program never started"
        for replica in masters:
            if not replica.attempts or replica.attempts[-1].ended is None:
                yield f"it is SUCCEEDED, and the last attempt of {replica.name} never ended by itself"
            elif replica.attempts[-1].ended != 0 and "hyperparameters" not in job["trainingInput"]:
                yield f"it is SUCCEEDED, and its program ended with {replica.attempts[-1].ended}"
    elif state == "CANCELLED":
        if True not in cancelled:
            yield "it is CANCELLED, and nobody asked for that"
    elif state == "FAILED":
        starts = max((len(replica.attempts) for replica in replicas), default=0)
        failed = any(attempt.ended for replica in replicas for attempt in replica.attempts)
        if (planned_status == 0 or not failed) and starts < STARTS_THAT_EXCUSE:
            yield f"it is FAILED after {starts} starts of a program that ends with 0: {job.get('errorMessage', '')[:400]}"
    else:
        yield f"it ended as {state}"


def run_again(replicas):
    """Replicas that were started again although their program had ended with 0. A kill in that moment excuses it."""
    return [replica.name for replica in replicas if any(attempt.ended == 0 for attempt in replica.attempts[:-1])]


class LogCheck:
    """Goes through a job's entries and finds what is doubled, out of order, or missing without a word."""

    def __init__(self, entries):
        """`entries`: (task, insertId, text) in the order of the log."""
        self.seen = collections.defaultdict(list)  # token -> numbers, in order
        self.gaps = set()  # tasks whose log says that something is missing
        self.ids = collections.Counter(entry_id for _, entry_id, _ in entries)
        for task, _, text in entries:
            if match := LINE.match(text):
                self.seen[match[1]].append(int(match[2]))
            elif GAP.search(text):
                self.gaps.add(task)

    def order(self):
        for entry_id, count in self.ids.items():
            if count > 1:
                yield f"the entry {entry_id} is there {count} times"
        for token, numbers in self.seen.items():
            if len(set(numbers)) != len(numbers):
                twice = [number for number, count in collections.Counter(numbers).items() if count > 1]
                yield f"lines of {token} are doubled: {twice[:5]}"
            for stderr in (False, True):
                stream = [number for number in numbers if (number % STDERR_EVERY == STDERR_EVERY - 1) == stderr]
                if stream != sorted(stream):
                    wrong = next(number for number, following in zip(stream, stream[1:]) if following < number)
                    yield f"lines of {token} are out of order behind line {wrong}"

    def wholeness(self, replicas, forgiven=()):
        """`forgiven`: tokens of attempts that a power cut ended."""
        tokens = {attempt.token for replica in replicas for attempt in replica.attempts}
        for token in self.seen.keys() - tokens:
            yield f"the log has lines of {token}, which never started"
        for replica in replicas:
            said = replica.name in self.gaps or any(task.endswith("service") for task in self.gaps)
            for attempt in replica.attempts:
                there = set(self.seen.get(attempt.token, []))
                missing = set(range(attempt.printed)) - there
                if missing and not said and attempt.token not in forgiven:
                    yield (f"{len(missing)} of {attempt.printed} lines of {attempt.token} ({replica.name}, attempt {attempt.at}"
                           f"{', ended' if attempt.ended is not None else ''}) are missing, from {min(missing)} on, and nothing says so")

    def lines(self):
        return sum(map(len, self.seen.values()))
