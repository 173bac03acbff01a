#!/usr/bin/env python3
"""Fails when a file of src/ includes what it must not.

src/ has houses (src/rules), and most houses have rooms (src/rules/jobs). src/CMakeLists.txt gives the order of the houses, and the
CMakeLists.txt of a house the order of its rooms.

- A house includes only houses that stand before it, and of these only the ones that tools/layers.allowed names. All houses together
  have at most ARROWS_MAX arrows. A room includes only rooms of its house that stand before it.
- Outside OPEN, whose headers are for everybody, a room's headers are private to it, except those that the list calls public.
- No house after engine includes the files of one attempt (ATTEMPT below), with the exceptions that are listed there.
- A pure room (PURE in its CMakeLists.txt; all of src/rules) includes no header of cmake/layering or EFFECTS, and reads no clock.

What the list names and nothing uses any more must go from it.
--write writes the arrows and public headers of today to tools/layers.allowed, keeps the exceptions, and prints what still fails.
--table prints how many includes go from each house to each other one.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tools/layers.allowed"
SHIMS = ROOT / "cmake/layering"
ARROWS_MAX = 50
OPEN = {"base", "rules"}  # tools and values
ATTEMPT = {"programs/attempt", "programs/sandbox", "programs/runtimes", "replica/supervisor"}
# Besides cmake/layering: headers that libraries of pure rooms include themselves, so that no shim can forbid them.
EFFECTS = {"mutex", "shared_mutex", "future", "semaphore", "stop_token", "unistd.h"}
EFFECT_DIRECTORIES = ("boost/asio/", "boost/beast/", "openssl/", "sys/")
CLOCK = re.compile(r"_clock::now\(|\bclock_gettime\(|\bgettimeofday\(|\btime\(nullptr\)")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
HEADER = """\
# What the houses of src/ include (tools/layers.py checks it), in the order of src/CMakeLists.txt.
# "HOUSE: HOUSE ..." lets a house include others. "public ROOM: HEADER ..." lets every room include these headers of a room.
# "! FILE HEADER: REASON" lets one file include what no file of its room may.
"""


class Plan:
    """Houses and rooms in their order, as the CMakeLists.txt files have it."""

    def __init__(self, src=ROOT / "src"):
        self.houses = self._listed(src)
        self.rooms, self.pure = [], set()
        for house in self.houses:
            inner = [f"{house}/{name}" for name in self._listed(src / house)]
            for room in [house, *inner]:
                self.rooms.append(room)
                if re.search(rf"trainyard_library\({room.split('/')[-1]} PURE", (src / room / "CMakeLists.txt").read_text()):
                    self.pure.add(room)
        self.rank = {room: number for number, room in enumerate(self.rooms)}

    @staticmethod
    def _listed(folder):
        return re.findall(r"^add_subdirectory\((\w+)\)", (folder / "CMakeLists.txt").read_text(), re.MULTILINE)

    def room_of(self, path):
        """Of a path below src/; "" for what is no house of ours."""
        parts = path.split("/")
        if len(parts) < 2:
            return ""
        inner = "/".join(parts[:2])
        return inner if inner in self.rank else parts[0] if parts[0] in self.rank else ""


def house_of(room):
    return room.split("/")[0]


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path


def sources():
    """(path below src/, text, headers of ours, other headers)."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "src"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    for path in sorted(set(listed)):
        if path.endswith((".cc", ".h")) and (ROOT / path).exists():
            text = (ROOT / path).read_text(encoding="utf-8")
            found = INCLUDE.findall(text)
            yield path.removeprefix("src/"), text, [ours for ours, _ in found if ours], [theirs for _, theirs in found if theirs]


class Allowed:
    def __init__(self, text):
        self.arrows, self.public, self.exceptions = {}, set(), {}
        for row in text.splitlines():
            if row.startswith("!"):
                path, rest = row[1:].split(None, 1)
                header, reason = rest.split(":", 1)
                self.exceptions[path, header] = reason.strip()
            elif row.startswith("public "):
                room, _, headers = row.removeprefix("public ").partition(":")
                self.public |= {f"{room}/{header}" for header in headers.split()}
            elif row.strip() and not row.startswith("#"):
                name, _, others = row.partition(":")
                self.arrows[name] = set(others.split())


def pure_problems(path, text, headers):
    shims = {str(shim.relative_to(SHIMS)) for shim in SHIMS.rglob("*") if shim.is_file()}
    for header in headers:
        if header in shims | EFFECTS or header.startswith(EFFECT_DIRECTORIES):
            yield f"src/{path}: a pure room must not include <{header}>"
    if CLOCK.search(text):
        yield f"src/{path}: a pure room must not read a clock: take `now` as an argument"


class Includes:
    """What includes what, and which of it may not be."""

    def __init__(self, plan, allowed, files):
        self.plan, self.allowed = plan, allowed
        self.counts = collections.Counter()  # (house, house)
        self.crossed = set()  # private headers that another room includes
        self.excused = set()
        self.problems = []
        for path, text, ours, theirs in files:
            room = plan.room_of(path)
            if room in plan.pure and not path.endswith("_test.cc"):
                self.problems += pure_problems(path, text, [*ours, *theirs])
            for header in ours:
                other = plan.room_of(header)
                if other and other != room:
                    self._include(path, room, header, other)

    def _include(self, path, room, header, other):
        if (path, header) in self.allowed.exceptions:
            self.excused.add((path, header))
            return
        plan = self.plan
        if house_of(room) != house_of(other):
            self.counts[house_of(room), house_of(other)] += 1
        if not room:
            self.problems.append(f"src/{path}: src/CMakeLists.txt does not name its house")
        elif plan.rank[other] > plan.rank[room]:
            self.problems.append(f'src/{path}: includes "{header}", but src/{other} stands after src/{room}')
        elif other in ATTEMPT and plan.houses.index(house_of(room)) > plan.houses.index("engine"):
            self.problems.append(f'src/{path}: includes "{header}", but what is above src/engine knows no file of an attempt')
        elif house_of(other) not in OPEN and not is_test(path):
            self.crossed.add(header)
            if header not in self.allowed.public:
                self.problems.append(f'src/{path}: includes "{header}", which is private to src/{other}')

    def check(self):
        problems = list(self.problems)
        if list(self.allowed.arrows) != self.plan.houses:
            problems.append("tools/layers.allowed: not the houses of src/CMakeLists.txt, in that order")
        if len(self.counts) > ARROWS_MAX:
            problems.append(f"{len(self.counts)} arrows between houses, the limit is {ARROWS_MAX}")
        for name, other in sorted(self.counts):
            if other not in self.allowed.arrows.get(name, ()):
                problems.append(f"src/{name}: includes src/{other}, which tools/layers.allowed does not name for it")
        problems += [f"tools/layers.allowed: nothing in src/{name} includes src/{other} any more"
                     for name, others in self.allowed.arrows.items() for other in sorted(others) if not self.counts[name, other]]
        problems += [f"tools/layers.allowed: no other room includes {header} any more" for header in sorted(self.allowed.public - self.crossed)]
        problems += [f"tools/layers.allowed: src/{path} does not include {header} any more"
                     for path, header in sorted(set(self.allowed.exceptions) - self.excused)]
        return problems

    def as_list(self):
        houses = self.plan.houses
        rows = [f"{name}: {' '.join(other for other in houses if self.counts[name, other])}".rstrip() for name in houses]
        by_room = collections.defaultdict(list)
        for header in sorted(self.crossed):
            room = self.plan.room_of(header)
            by_room[room].append(header.removeprefix(room + "/"))
        rows += [f"public {room}: {' '.join(by_room[room])}" for room in self.plan.rooms if room in by_room]
        rows += [f"! {path} {header}: {reason}" for (path, header), reason in sorted(self.allowed.exceptions.items())]
        return HEADER + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    plan, files = Plan(), list(sources())
    includes = Includes(plan, Allowed(ALLOWED.read_text()), files)
    if options.table:
        print("| house | includes of other houses |\n|---|---|")
        for name in plan.houses:
            print(f"| {name} | {', '.join(f'{other} {includes.counts[name, other]}' for other in plan.houses if includes.counts[name, other])} |")
        return 0
    if options.write:
        ALLOWED.write_text(includes.as_list())
        includes = Includes(plan, Allowed(ALLOWED.read_text()), files)
    problems = includes.check()
    print("\n".join(problems) or f"layers: {len(plan.houses)} houses, {len(plan.rooms)} rooms, {len(includes.counts)} arrows, "
          f"{len(includes.allowed.public)} public headers, {len(includes.allowed.exceptions)} exceptions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
