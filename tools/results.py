"""What a run of `./dev test` left in build/PRESET/results: steps.tsv, ctest.xml, unit/*.xml and pytest*.xml."""

import pathlib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str  # "async: OnPool.RunsOnThePool" or "tests/e2e/test_shell.py::test_x[y]"
    group: str  # the target of ctest or the file of pytest
    seconds: float
    skipped: str | None  # why


def cases_of(path, name_of):
    for case in ElementTree.parse(path).iter("testcase"):
        skip = case.find("skipped")
        said = None if skip is None else (skip.get("message") or skip.text or "").strip()
        group, name = name_of(case)
        yield Case(name, group, float(case.get("time") or 0), said)


def unit_cases(results):
    """The cases of GoogleTest, each test program's in a file of its own."""
    for path in sorted((results / "unit").glob("*.xml")):
        target = path.stem.removesuffix("_test")
        yield from cases_of(path, lambda case, target=target: (
            target, f"{target}: {case.get('classname')}.{case.get('name')}"))


def ctest_cases(results):
    path = results / "ctest.xml"
    if path.exists():
        yield from cases_of(path, lambda case: (case.get("name"), case.get("name")))


def pytest_cases(results):
    for path in sorted(results.glob("pytest*.xml")):
        yield from cases_of(path, pytest_name)


def pytest_name(case):
    """`classname` is the module's path with dots and, behind that, the test's class."""
    module = case.get("classname") or case.get("name")  # a module that was skipped as a whole has only its name
    parts = module.split(".")
    file = "/".join(parts[:next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts))]) + ".py"
    return file, file if not case.get("classname") else f"{file}::{case.get('name')}"


def steps(results):
    """(name, seconds) of the steps of ./dev test."""
    path = pathlib.Path(results) / "steps.tsv"
    for line in path.read_text().splitlines() if path.exists() else ():
        name, seconds = line.split("\t")
        yield name, float(seconds)
