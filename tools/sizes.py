#!/usr/bin/env python3
"""Fails when a file is longer than the style's limit, unless it already was and did not grow.

Limits: 500 lines (tests 600). Old sins are listed in tools/sizes.allowed as "PATH LINES" and may only shrink.
"""
import pathlib
import subprocess
import sys

FILE_LINES_MAX, TEST_LINES_MAX = 500, 600


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    allowed_file = root / "tools/sizes.allowed"
    allowed = {}
    if allowed_file.exists():
        allowed = {path: int(lines) for path, lines in
                   (line.split() for line in allowed_file.read_text().splitlines() if line.strip())}
    listed = subprocess.run(["git", "ls-files", "src", "bench", "fuzz", "tests", "tools", "dev"], cwd=root,
                            check=True, capture_output=True, text=True).stdout.split()
    failures = []
    for path in listed:
        if not path.endswith((".cc", ".h", ".py", ".sh", "dev")) or not (root / path).exists():
            continue
        lines = sum(1 for _ in (root / path).open(encoding="utf-8"))
        limit = TEST_LINES_MAX if "test" in path else FILE_LINES_MAX
        limit = max(limit, allowed.get(path, 0))
        if lines > limit:
            failures.append(f"{path}: {lines} lines, the limit is {limit}: split it")
    print("\n".join(failures) or "sizes: all files within their limits")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
