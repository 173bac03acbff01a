"""Pages of which a benchmark writes a part: from its mark to the next heading."""

import re

END = re.compile(r"^## ", re.MULTILINE)


def replace(path, mark, text):
    """Puts `text` below the line `mark`, in place of what is there up to the next `## ` or the end. ValueError: there is no such line."""
    page = path.read_text()
    before, found, after = page.partition(mark + "\n")
    if not found:
        raise ValueError(f"{path} has no line {mark!r}")
    next_heading = END.search(after)
    rest = "\n" + after[next_heading.start():] if next_heading else ""
    path.write_text(f"{before}{mark}\n{text.rstrip()}\n{rest}")
