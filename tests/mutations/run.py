#!/usr/bin/env python3
"""Plants each fault of mutations.toml in a copy of the source, and finds out who catches it, and after how long.

usage: tests/mutations/run.py [NAME]... [--list FILE]     prints a table in Markdown; fails unless each fault is caught
       tests/mutations/run.py --check [--list FILE]       only checks that each fault can still be planted

The copy is a git worktree of HEAD below build/mutations, with a build of its own as the tests have it (sanitized), and the
tree that it is called in is left alone. What is not committed is not in it.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build/mutations"
SOURCE = FOLDER / "source"
PRESET = "asan"
BUILD = SOURCE / "build" / PRESET
SEED = 36  # of the harness: what is killed when is drawn from it
PARTS = (10, 20, 40, 80, 150)  # schedules of the simulation: the first ones catch most
FAILING_SEED = re.compile(r"seed \d+: ")
LIMITS_S = {"simulation": 600, "tests": 600, "harness": 1200, "pytest": 900}
KINDS = {"simulation": "simulation", "tests": "tests", "harness": "harness", "pytest": "tests"}  # as the table says it


class Trouble(Exception):
    """The run cannot go on: something does not compile, or fails without a fault."""


@dataclasses.dataclass(frozen=True)
class Catcher:
    """Something that may notice a fault: a line of `catchers` in mutations.toml."""

    words: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.words[0]

    @property
    def target(self) -> str:
        return {"simulation": "simulation_test", "tests": f"{self.words[-1]}_test"}.get(self.kind, "trainyard")

    def commands(self) -> list[list[str]]:
        """They run in this order until one fails."""
        program = str(BUILD / "trainyard")
        if self.kind in ("simulation", "tests"):
            test = [str(next(BUILD.glob(f"src/**/{self.target}"))), "--gtest_brief=1", "--gtest_fail_fast"]
            return models_last(test) if self.kind == "tests" else in_parts(test)
        if self.kind == "pytest":
            return [[sys.executable, "-m", "pytest", "-q", "-x", *self.words[1:]]]
        return [[sys.executable, "tests/chaos/run.py", "--program", program, "--world", self.words[1], "--rounds", self.words[2],
                 "--seed", str(SEED), "--environments", str(FOLDER / "environments")]]


def models_last(test: list[str]) -> list[list[str]]:
    """Commands that run a room's tests, and then its models, which take longest."""
    return [[*test, "--gtest_filter=-*Model.*"], [*test, "--gtest_filter=*Model.*"]]


def in_parts(test: list[str]) -> list[list[str]]:
    """Commands that try the schedules of the simulation from the first seed on, and one that runs its other tests."""
    commands, first = [], 1
    for part in PARTS:
        settings = [f"TRAINYARD_FIRST_SEED={first}", f"TRAINYARD_SCHEDULES={part}"]
        commands.append(["env", *settings, "stdbuf", "-oL", *test, "--gtest_filter=*.KeepsItsPromises"])
        first += part
    return [*commands, [*test, "--gtest_filter=-*.KeepsItsPromises"]]


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    fault: str
    file: str
    old: str
    new: str
    catchers: tuple[Catcher, ...]

    def problem(self, root: pathlib.Path) -> str:
        """Why it cannot be planted; empty: it can."""
        path = root / self.file
        if not path.exists():
            return f"{self.name}: there is no {self.file}"
        times = path.read_text().count(self.old)
        if times != 1:
            return f"{self.name}: its old text is {times} times in {self.file}, and has to be there once: adapt it to the new code"
        return f"{self.name}: old and new text are the same" if self.old == self.new else ""


@dataclasses.dataclass
class Result:
    mutation: Mutation
    catcher: Catcher | None = None
    seconds: float = 0
    what: str = ""

    def row(self) -> str:
        if self.catcher is None:
            return f"| {self.mutation.fault} | `{self.mutation.file}` | not caught | | |"
        who = f"caught by {KINDS[self.catcher.kind]}"
        return f"| {self.mutation.fault} | `{self.mutation.file}` | {who} | {self.seconds:.1f} s | {self.what} |"


def read_list(path: pathlib.Path) -> list[Mutation]:
    """An error in the list ends the program."""
    mutations = []
    for entry in tomllib.loads(path.read_text())["mutation"]:
        catchers = tuple(Catcher(tuple(line.split())) for line in entry.pop("catchers"))
        for catcher in catchers:
            if catcher.kind not in LIMITS_S or len(catcher.words) != {"simulation": 1, "harness": 3}.get(catcher.kind, 2):
                raise SystemExit(f"{entry['name']}: not a catcher: {' '.join(catcher.words)}")
        mutations.append(Mutation(**entry, catchers=catchers))
    names = [mutation.name for mutation in mutations]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SystemExit(f"two mutations have the name {', '.join(twice)}")
    return mutations


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def git(*words: str, where: pathlib.Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True).stdout.strip()


def copy_source() -> None:
    """The worktree of HEAD. One that a killed run left may have a fault in it."""
    commit = git("rev-parse", "HEAD")
    git("worktree", "prune")
    if (SOURCE / ".git").exists():
        git("checkout", "--quiet", "--force", "--detach", commit, where=SOURCE)
    else:
        git("worktree", "add", "--force", "--detach", str(SOURCE), commit)
    if changed := git("status", "--porcelain", "--untracked-files=no"):
        say(f"not committed, so not tried:\n{changed}")


def build(targets: list[str]) -> None:
    environment = os.environ | {"CCACHE_BASEDIR": str(SOURCE)}
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", PRESET], cwd=SOURCE, env=environment, check=True, stdout=subprocess.DEVNULL)
    made = subprocess.run(["cmake", "--build", str(BUILD), "--target", *targets], cwd=SOURCE, env=environment, capture_output=True, text=True)
    if made.returncode:
        errors = [line for line in made.stdout.splitlines() if "error" in line]
        raise Trouble("it does not compile:\n" + "\n".join(errors[:10] or made.stdout.splitlines()[-20:]))


def first_complaint(output: str) -> str:
    """What a catcher says of the fault, in some words: a violation, or the name of a test."""
    for pattern in (r"VIOLATION (\w+: [^\n]+)", r"\[  FAILED  \] ([\w/.]+)", r"^FAILED \S*?(\w+\.py::\S+)", r"(seed \d+: [^\n]+)"):
        if found := re.search(pattern, output, re.MULTILINE):
            return found.group(1).replace("|", "/")[:120]
    return output.strip().splitlines()[-1][:120] if output.strip() else "it ended without a word"


def watch(command: list[str], until: float) -> tuple[bool, str]:
    """Runs it, with all that it starts, until it ends, or says which seed fails, or it is `until`. (whether it fails, its output)"""
    process = subprocess.Popen(command, cwd=SOURCE, env=os.environ | {"TRAINYARD_PROGRAM": str(BUILD / "trainyard")}, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(until - time.monotonic(), end)
    timer.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if FAILING_SEED.match(line):
            end()  # what follows is its shortest schedule, which takes minutes
            break
    process.stdout.close()
    timed_out = process.wait() == -signal.SIGKILL and time.monotonic() >= until
    timer.cancel()
    return process.returncode != 0, "it does not end" if timed_out else "".join(lines)


def attempt(catcher: Catcher) -> tuple[bool, float, str]:
    """Runs it. (whether it fails, after how many seconds, what it says)"""
    begun = time.monotonic()
    output = ""
    for command in catcher.commands():
        fails, output = watch(command, begun + LIMITS_S[catcher.kind])
        if fails:
            return True, time.monotonic() - begun, first_complaint(output)
    return False, time.monotonic() - begun, first_complaint(output)


def check_without_fault(catchers: list[Catcher]) -> None:
    """A catcher that fails anyway proves nothing."""
    say("without a fault:")
    build(sorted({catcher.target for catcher in catchers}))
    for catcher in catchers:
        fails, seconds, what = attempt(catcher)
        if fails:
            raise Trouble(f"{' '.join(catcher.words)} fails without a fault: {what}")
        say(f"  {' '.join(catcher.words)}: passes in {seconds:.0f} s")


def plant(mutation: Mutation) -> Result:
    """Its catchers one after the other, until one fails."""
    path = SOURCE / mutation.file
    whole = path.read_text()
    path.write_text(whole.replace(mutation.old, mutation.new))
    try:
        for catcher in mutation.catchers:
            build([catcher.target])
            fails, seconds, what = attempt(catcher)
            if fails:
                return Result(mutation, catcher, seconds, what)
            say(f"  {mutation.name}: not noticed by {' '.join(catcher.words)} in {seconds:.0f} s")
        return Result(mutation)
    except Trouble as trouble:
        raise Trouble(f"{mutation.name}: {trouble}") from None
    finally:
        path.write_text(whole)


def prove(mutations: list[Mutation]) -> int:
    copy_source()
    check_without_fault(list(dict.fromkeys(catcher for mutation in mutations for catcher in mutation.catchers)))
    results = []
    for mutation in mutations:
        results.append(plant(mutation))
        say(results[-1].row())
    caught = sum(result.catcher is not None for result in results)
    print("| fault | file | caught | after | what it says |\n|---|---|---|---|---|")
    print("\n".join(result.row() for result in results))
    print(f"{len(results)} mutations, {caught} caught")
    return 0 if caught == len(results) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--list", type=pathlib.Path, default=HERE / "mutations.toml", help="another list of mutations")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mutations = read_list(options.list)
    if unknown := set(options.names) - {mutation.name for mutation in mutations}:
        parser.error(f"no such mutation: {', '.join(sorted(unknown))}")
    mutations = [mutation for mutation in mutations if not options.names or mutation.name in options.names]
    if problems := [problem for mutation in mutations if (problem := mutation.problem(ROOT))]:
        print("\n".join(problems))
        return 1
    if options.check:
        print(f"{len(mutations)} mutations can be planted")
        return 0
    try:
        return prove(mutations)
    except Trouble as trouble:
        print(trouble)
        return 2


if __name__ == "__main__":
    sys.exit(main())
