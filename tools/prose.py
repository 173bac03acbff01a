#!/usr/bin/env python3
"""Fails when prose in Markdown is wider than 110 columns (tables, code blocks and the targets of links may be), when a page of docs/ is
missing in its index, when a README of src/ or a checklist names a file that does not exist, when a page names a `file::test` that does
not exist, or when a comment begins without a subject ("Of", "Whose", "Those", "Where", "Who") or has a phrase of DIALECT."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS_MAX = 110
SOURCES = ("*.cc", "*.h", "*.proto")
GUIDES = ("src/*README.md", "docs/checklists/*.md")
NAMED_FILE = re.compile(r"`([\w*][\w./*-]*\.(?:h|cc)|(?:src|docs|data|console|tests)/[\w./*-]+)(?=[` ])")
NAMED_TEST = re.compile(r"`(\w+\.(?:py|cc))::([\w.]+)`")
COMMENT = re.compile(r"^[^\"\n]*?//[/!<]*[ \t]*(.*)$", re.MULTILINE)
HEADLESS = re.compile(r"(?:Of|Whose|Those|Where|Who)\b")
DIALECT = re.compile(r"\b(?:can(?:not)? be had|(?:is|are|was|were) had|to be had|refused by name|sent away|sends? away|a gift|at last|in vain"
                     r"|stands? for|stands? in|stood for|goes? on as|null functions?: nobody)\b|\bfenced?\b", re.IGNORECASE)
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


def clipped_comments(text):
    """(number, comment) of each comment in our old dialect; a line that goes on with a comment is not its beginning."""
    before = -1
    for match in COMMENT.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        begins = number != before + 1 or not text[match.start():match.start(1)].lstrip().startswith("//")
        before = number
        if begins and HEADLESS.match(match[1]) or DIALECT.search(match[1]):
            yield number, match[1]


def listed(*patterns):
    """Paths of the files that git knows or would add, as far as they are there."""
    found = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    return sorted({path for path in found if (ROOT / path).exists()})


def unlisted_pages():
    """Pages of docs/ that docs/README.md does not name."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    return sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md" and f"]({path.name})" not in index)


def missing_files(page, root=ROOT):
    """(number, name) of each source, or path below the root, that the page names in backticks and that does not exist: in its own
    directory, in src/ or in the root. A star is a glob."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for name in NAMED_FILE.findall(line):
            if not any(next(place.glob(name), None) for place in (page.parent, root / "src", root)):
                yield number, name


def missing_tests(page, root=ROOT):
    """(number, name) of each `file::test` that the page names and that is in no file of that name."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for file, test in NAMED_TEST.findall(line):
            suite, _, name = test.rpartition(".")
            begins = f"({suite}, {name})" if suite else f"def {name}("
            places = (root / "src").rglob(file) if suite else [root / "tests/e2e" / file]
            if not any(place.exists() and begins in place.read_text(encoding="utf-8") for place in places):
                yield number, f"{file}::{test}"


def main():
    paths = listed("*.md")
    problems = [f"{path}:{number}: {columns} columns, the limit is {COLUMNS_MAX}: wrap it"
                for path in paths for number, columns in wide_lines((ROOT / path).read_text(encoding="utf-8"))]
    problems += [f"docs/README.md: a line about {name} is missing" for name in unlisted_pages()]
    problems += [f"{path}:{number}: there is no file {name}" for path in listed(*GUIDES) for number, name in missing_files(ROOT / path)]
    problems += [f"{path}:{number}: there is no test {name}" for path in paths for number, name in missing_tests(ROOT / path)]
    sources = listed(*SOURCES)
    problems += [f"{path}:{number}: no subject, or a phrase that strangers do not know: {comment}"
                 for path in sources for number, comment in clipped_comments((ROOT / path).read_text(encoding="utf-8"))]
    print("\n".join(problems) or f"prose: {len(paths)} Markdown files, comments of {len(sources)} sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
