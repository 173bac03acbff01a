#!/usr/bin/env python3
"""Fails when prose in Markdown is wider than 110 columns (tables, code blocks and the targets of links may be), or a page of docs/ is
missing in its index."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS_MAX = 110
LINK_TARGET = re.compile(r"\]\([^)]*\)|<https?://[^>]*>|https?://\S+")


def wide_lines(text):
    """(number, columns) of each line of prose that is too wide."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "    ", "\t")) and len(line) > COLUMNS_MAX:
            columns = len(LINK_TARGET.sub("", line))
            if columns > COLUMNS_MAX:
                yield number, len(line)


def unlisted_pages():
    """Pages of docs/ that docs/README.md does not name."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    return sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md" and f"]({path.name})" not in index)


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    paths = sorted({path for path in listed if (ROOT / path).exists()})
    problems = [f"{path}:{number}: {columns} columns, the limit is {COLUMNS_MAX}: wrap it"
                for path in paths for number, columns in wide_lines((ROOT / path).read_text(encoding="utf-8"))]
    problems += [f"docs/README.md: a line about {name} is missing" for name in unlisted_pages()]
    print("\n".join(problems) or f"prose: {len(paths)} Markdown files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
