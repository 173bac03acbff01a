"""Pages of which a benchmark writes a part: from its mark to the next heading."""

import re
import textwrap

WIDTH = 110  # of prose
END = re.compile(r"^## ", re.MULTILINE)


def wrapped(line):
    """A line of prose; a table's stays as it is."""
    return line if line.startswith("|") or len(line) <= WIDTH else textwrap.fill(line, WIDTH)


def replace(path, mark, text):
    """Puts `text` below the line `mark`, in place of what is there up to the next `## ` or the end. ValueError: there is no such line."""
    text = "\n".join(map(wrapped, text.splitlines()))
    page = path.read_text()
    before, found, after = page.partition(mark + "\n")
    if not found:
        raise ValueError(f"{path} has no line {mark!r}")
    next_heading = END.search(after)
    rest = "\n" + after[next_heading.start():] if next_heading else ""
    path.write_text(f"{before}{mark}\n{text.rstrip()}\n{rest}")
