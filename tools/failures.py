#!/usr/bin/env python3
"""Prints what failed in a run of ./dev test, shortly: failures.py RESULTS. CI prints it last, because often only the
end of what it printed is kept."""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

LINES_MAX = 40  # of one failure


def of_ctest(results):
    """(program, the lines that say what failed; without such a line, its last ones)."""
    path = results / "ctest.xml"
    for case in ElementTree.parse(path).iter("testcase") if path.exists() else ():
        if case.find("failure") is None:
            continue
        lines = (case.findtext("system-out") or "").splitlines()
        told = [at for at, line in enumerate(lines) if ": Failure" in line or "ERROR: " in line or "runtime error" in line]
        begin = told[0] if told else max(0, len(lines) - LINES_MAX)
        yield f"unit tests {case.get('name')}", lines[begin:begin + LINES_MAX]


def of_pytest(results):
    for case in (case for path in sorted(results.glob("pytest*.xml")) for case in ElementTree.parse(path).iter("testcase")):
        for said in [*case.iter("failure"), *case.iter("error")]:
            yield f"{case.get('classname')}::{case.get('name')}", (said.text or said.get("message") or "").splitlines()[-LINES_MAX:]


def of_checks(results):
    """What the build of the unit tests and the checks said, which ran beside the end-to-end tests."""
    path = results / "beside.txt"
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    told = [line for line in lines if line.startswith("FAILED") or "error:" in line]
    if told:
        yield "build or checks", told[:LINES_MAX]


def main():
    results = pathlib.Path(sys.argv[1])
    for source in (of_ctest, of_pytest, of_checks):
        for name, lines in source(results):
            print("\n".join([f"\nFAILED: {name}", *lines]))


if __name__ == "__main__":
    main()
