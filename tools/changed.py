#!/usr/bin/env python3
"""Prints the files of src/ that clang-tidy should look at: the .cc files, and those of headers, that a change touched.

The change is what differs from the place where this branch left the landed one; on the landed branch itself, and where
that is not known, the last commit with what is not committed yet. A file that was only moved did not change.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANDED = ("@{upstream}", "origin/HEAD", "origin/main", "main")


def git(*words):
    """What git printed, or nothing if it could not."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def base():
    """The commit to compare with; empty where the history is too short."""
    head = git("rev-parse", "HEAD")
    for landed in LANDED:
        commit = git("merge-base", "HEAD", landed)
        if commit and commit != head:
            return commit
    return git("rev-parse", "--verify", "--quiet", "HEAD~1")


def main():
    commit = base()
    if not commit:
        print("changed.py: no earlier commit is known here", file=sys.stderr)
        return 0
    paths = []
    for row in git("diff", "--name-status", "--find-renames", "--diff-filter=d", commit, "--", "src").splitlines():
        status, *names = row.split("\t")
        if status != "R100":
            paths.append(names[-1])
    paths += git("ls-files", "--others", "--exclude-standard", "--", "src").splitlines()
    units = {str(pathlib.Path(path).with_suffix(".cc")) for path in paths if path.endswith((".cc", ".h"))}
    for unit in sorted(unit for unit in units if (ROOT / unit).exists() and "test" not in unit):
        print(unit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
