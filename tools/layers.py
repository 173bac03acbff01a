#!/usr/bin/env python3
"""Fails when a file of src/ includes what its directory must not.

- A directory includes only directories that stand before it in src/CMakeLists.txt, and of these only the ones that
  tools/layers.allowed names. An arrow that nothing uses any more must go from there too.
- Nothing after src/engine includes the files of one attempt (ATTEMPT below), but for src/agent, which is the engine's hand on
  a node, and the exceptions listed there.
- A pure directory (PURE in its CMakeLists.txt) includes no header of cmake/layering or EFFECTS, and reads no clock.

--write writes the arrows of today to tools/layers.allowed, keeps the exceptions, and prints nothing but what still fails.
--table prints how many includes go from each directory to each other one.
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
ATTEMPT = {"attempt", "sandbox", "runtimes", "supervisor"}
# Besides cmake/layering: headers that libraries of pure directories include themselves, so that no shim can forbid them.
EFFECTS = {"mutex", "shared_mutex", "future", "semaphore", "stop_token", "unistd.h"}
EFFECT_DIRECTORIES = ("boost/asio/", "boost/beast/", "openssl/", "sys/")
CLOCK = re.compile(r"_clock::now\(|\bclock_gettime\(|\bgettimeofday\(|\btime\(nullptr\)")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
HEADER = """\
# Which directories of src/ the files of each include, in the order of src/CMakeLists.txt (tools/layers.py checks it).
# A line "! FILE HEADER: REASON" lets one file include what no file of its directory may.
"""


def order_of_directories():
    return re.findall(r"^add_subdirectory\((\w+)\)", (ROOT / "src/CMakeLists.txt").read_text(), re.MULTILINE)


def pure_directories(order):
    return {name for name in order if re.search(rf"trainyard_library\({name} PURE", (ROOT / f"src/{name}/CMakeLists.txt").read_text())}


def includes():
    """(path below src/, header, whether it is one of ours by its form)."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "src"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    for path in sorted(set(listed)):
        if path.endswith((".cc", ".h")) and (ROOT / path).exists():
            text = (ROOT / path).read_text(encoding="utf-8")
            yield path.removeprefix("src/"), text, [ours or theirs for ours, theirs in INCLUDE.findall(text)]


def read_allowed():
    arrows, exceptions = {}, {}
    for row in ALLOWED.read_text().splitlines():
        if row.startswith("!"):
            path, rest = row[1:].split(None, 1)
            header, reason = rest.split(":", 1)
            exceptions[path, header] = reason.strip()
        elif row.strip() and not row.startswith("#"):
            name, _, others = row.partition(":")
            arrows[name] = set(others.split())
    return arrows, exceptions


def write_allowed(order, counts, exceptions):
    rows = [f"{name}: {' '.join(other for other in order if counts[name, other])}".rstrip() for name in order]
    rows += [f"! {path} {header}: {reason}" for (path, header), reason in sorted(exceptions.items())]
    ALLOWED.write_text(HEADER + "\n".join(rows) + "\n")


def pure_problems(path, text, headers):
    shims = {str(shim.relative_to(SHIMS)) for shim in SHIMS.rglob("*") if shim.is_file()}
    for header in headers:
        if header in shims | EFFECTS or header.startswith(EFFECT_DIRECTORIES):
            yield f"src/{path}: a pure directory must not include <{header}>"
    if CLOCK.search(text):
        yield f"src/{path}: a pure directory must not read a clock: take `now` as an argument"


class Arrows:
    """What includes what, and which of it may not be."""

    def __init__(self, order, exceptions):
        self.order, self.exceptions, self.used = order, exceptions, set()
        self.counts = collections.Counter()
        self.problems = []
        pure = pure_directories(order)
        for path, text, headers in includes():
            name = path.split("/")[0]
            if name in pure and not path.endswith("_test.cc"):
                self.problems += pure_problems(path, text, headers)
            for header in headers:
                other = header.split("/")[0]
                if "/" in header and other in order and other != name:
                    self._arrow(path, name, header, other)

    def _arrow(self, path, name, header, other):
        if (path, header) in self.exceptions:
            self.used.add((path, header))
            return
        self.counts[name, other] += 1
        if name not in self.order:
            self.problems.append(f"src/{path}: src/CMakeLists.txt does not name its directory")
        elif self.order.index(other) > self.order.index(name):
            self.problems.append(f'src/{path}: includes "{header}", but src/{other} stands after src/{name} in src/CMakeLists.txt')
        elif other in ATTEMPT and name != "agent" and self.order.index(name) > self.order.index("engine"):
            self.problems.append(f'src/{path}: includes "{header}", but what is above src/engine knows no file of an attempt')

    def check(self, allowed):
        problems = list(self.problems)
        if list(allowed) != self.order:
            problems.append("tools/layers.allowed: not the directories of src/CMakeLists.txt, in that order")
        for name, other in sorted(self.counts):
            if other not in allowed.get(name, ()):
                problems.append(f"src/{name}: includes src/{other}, which tools/layers.allowed does not name for it")
        problems += [f"tools/layers.allowed: nothing in src/{name} includes src/{other} any more"
                     for name, others in allowed.items() for other in sorted(others) if not self.counts[name, other]]
        problems += [f"tools/layers.allowed: src/{path} does not include {header} any more"
                     for path, header in sorted(set(self.exceptions) - self.used)]
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    order = order_of_directories()
    allowed, exceptions = read_allowed()
    arrows = Arrows(order, exceptions)
    if options.table:
        print("| directory | includes of other directories |\n|---|---|")
        for name in order:
            print(f"| {name} | {', '.join(f'{other} {arrows.counts[name, other]}' for other in order if arrows.counts[name, other])} |")
        return 0
    if options.write:
        write_allowed(order, arrows.counts, exceptions)
        allowed, exceptions = read_allowed()
    problems = arrows.check(allowed)
    print("\n".join(problems) or f"layers: {len(order)} directories, {len(arrows.counts)} arrows, {len(exceptions)} exceptions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
