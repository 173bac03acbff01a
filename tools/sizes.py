#!/usr/bin/env python3
"""Fails when a file, a function or a class is longer than the style allows, unless it already was and did not grow.

Limits: 500 lines a file (tests 600), 70 a function, 350 a class (its declaration and its members' definitions), 8 references,
pointers and functions of a struct (one with more hides what its users need). In the production code of src/: 5,000 lines a directory, 60 files
of 20 lines or fewer, 6 names that two classes in headers have. What is more today is listed in tools/sizes.allowed with its size, which
may only shrink: a ratchet that needs no history.

--table prints the figures of the whole tree instead: quantiles, and lines per directory.
"""
import argparse
import ast
import collections
import pathlib
import re
import subprocess
import sys

import cpp_shape

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tools/sizes.allowed"
FILE_MAX, TEST_FILE_MAX, FUNCTION_MAX, CLASS_MAX = 500, 600, 70, 350
BAG_MAX, DIRECTORY_MAX, SMALL_FILES_MAX, SAME_NAMES_MAX = 8, 5000, 60, 6
SMALL_LINES = 20
WHERE = ("src", "bench", "fuzz", "tests", "tools", "data", "examples", "dev")
CPP, OTHER = (".cc", ".h"), (".py", ".sh", "dev")


def is_test(path):
    return path.endswith(("_test.cc", "_test.h")) or "test" in path.split("/")[0] or "/testing/" in path or "/fake/" in path


def is_production(path):
    return path.startswith("src/") and path.endswith(CPP) and not is_test(path)


STRUCT = re.compile(r"^[ \t]*struct (\w+)(?: final)? \{", re.MULTILINE)
BORROWED = re.compile(r"(?!\s*(?:const )?char\b)[^()]*[\w>][&*] \w+(?: = nullptr)?"
                      r"|\s*(?:const )?std::(?:move_only_)?function<.*> \w+(?: = \w+)?", re.DOTALL)


def bags(text):
    """(name, how many references, pointers and functions it has) of each struct."""
    text = re.sub(r"//[^\n]*", "", text)
    for match in STRUCT.finditer(text):
        depth, body = 1, []
        for letter in text[match.end():]:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                break
            if depth == 1 and letter != "}":
                body.append(letter)
        yield match.group(1), sum(bool(BORROWED.fullmatch(member.rstrip())) for member in "".join(body).split(";"))


def listed_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *WHERE], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    return sorted(path for path in set(listed) if path.endswith(CPP + OTHER) and (ROOT / path).exists())


def python_functions(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a trainer written for Python 2
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno


class Sizes:
    """Lines of each file, function and class; keys are PATH, PATH:FUNCTION() and PATH:CLASS."""

    def __init__(self, paths):
        self.files, self.functions, self.classes, self.bags = {}, {}, collections.Counter(), {}
        members = collections.Counter()  # (path, class) -> lines of definitions outside of the class
        for path in paths:
            text = (ROOT / path).read_text(encoding="utf-8")
            self.files[path] = text.count("\n")
            if path.endswith(".py"):
                for name, lines in python_functions(text):
                    self._add_function(path, name, lines)
            elif path.endswith(CPP):
                if is_production(path):
                    self.bags |= {f"{path}:{name}{{}}": held for name, held in bags(text)}
                for piece in cpp_shape.measure(text):
                    if piece.kind == "class":
                        self.classes[f"{path}:{piece.name}"] += piece.lines
                    else:
                        self._add_function(path, piece.name, piece.lines)
                        if piece.member_of:
                            members[path, piece.member_of] += piece.lines + 1
        for (path, name), lines in members.items():
            self.classes[self._declaration(path, name)] += lines

    def _add_function(self, path, name, lines):
        key = f"{path}:{name}()".replace(" ", "")
        self.functions[key] = max(lines, self.functions.get(key, 0))  # overloads: the longest

    def _declaration(self, path, name):
        """The class of this name that is declared in the file, else in a header of its directory."""
        own = f"{path}:{name}"
        if own in self.classes:
            return own
        directory = path.rsplit("/", 1)[0]
        return next((key for key in self.classes if key.startswith(directory + "/") and key.endswith(f".h:{name}")), own)

    def of_the_tree(self):
        """(key, number, limit) of what no single file can be blamed for."""
        production = {path: lines for path, lines in self.files.items() if is_production(path)}
        directories = collections.Counter()
        for path, lines in production.items():
            directories[path.rsplit("/", 1)[0]] += lines
        yield from ((f"{path}/", lines, DIRECTORY_MAX) for path, lines in directories.items())
        yield "small-files", sum(lines <= SMALL_LINES for lines in production.values()), SMALL_FILES_MAX
        yield "same-names", len(self.same_names()), SAME_NAMES_MAX

    def same_names(self):
        """Names of classes that more than one header of production code declares."""
        places = collections.defaultdict(set)
        for key in self.classes:
            path, _, name = key.partition(":")
            if path.endswith(".h") and is_production(path) and (ROOT / path).exists():
                places[name].add(path)
        return {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}

    def too_long(self):
        """(key, lines, limit) of whatever is over its limit."""
        yield from ((key, held, BAG_MAX) for key, held in self.bags.items() if held > BAG_MAX)
        yield from ((key, number, limit) for key, number, limit in self.of_the_tree() if number > limit)
        for path, lines in self.files.items():
            limit = TEST_FILE_MAX if is_test(path) else FILE_MAX
            if lines > limit:
                yield path, lines, limit
        yield from ((key, lines, FUNCTION_MAX) for key, lines in self.functions.items() if lines > FUNCTION_MAX)
        yield from ((key, lines, CLASS_MAX) for key, lines in self.classes.items() if lines > CLASS_MAX)


def check(sizes):
    allowed = {}
    for row in ALLOWED.read_text().splitlines():
        if row.strip() and not row.startswith("#"):
            key, lines = row.split()[:2]
            allowed[key] = int(lines)
    problems = []
    seen = set()
    for key, lines, limit in sorted(sizes.too_long()):
        seen.add(key)
        if lines > allowed.get(key, limit):
            problems.append(f"{key}: {lines}, the limit is {allowed.get(key, limit)}")
        elif lines < allowed.get(key, 0):
            problems.append(f"{key}: now {lines}; write that in tools/sizes.allowed instead of {allowed[key]}")
    problems += [f"{key}: within the limits; remove it from tools/sizes.allowed" for key in sorted(set(allowed) - seen)]
    return problems


def quantile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)]


def print_table(sizes):
    production = {path: lines for path, lines in sizes.files.items() if is_production(path)}
    functions = [lines for key, lines in sizes.functions.items() if key.split(":")[0] in production]
    classes = [lines for key, lines in sizes.classes.items() if key.split(":")[0] in production]
    print("| production code in src/ | |\n|---|---|")
    print(f"| files | {len(production)} |")
    print(f"| files of 20 lines or fewer | {sum(lines <= 20 for lines in production.values())} |")
    print(f"| lines of a file, p50 / p90 / max | {quantile(production.values(), .5)} / {quantile(production.values(), .9)} "
          f"/ {max(production.values())} |")
    print(f"| lines of a function, p90 / p99 / max | {quantile(functions, .9)} / {quantile(functions, .99)} / {max(functions)} |")
    print(f"| lines of a class with its members, p90 / p99 / max | {quantile(classes, .9)} / {quantile(classes, .99)} / {max(classes)} |")
    by_directory = collections.Counter()
    for path, lines in production.items():
        by_directory[path.split("/")[1]] += lines
    print("\n| directory | files | lines |\n|---|---|---|")
    for directory, lines in by_directory.most_common():
        print(f"| src/{directory} | {sum(path.startswith(f'src/{directory}/') for path in production)} | {lines} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true")
    sizes = Sizes(listed_files())
    if parser.parse_args().table:
        print_table(sizes)
        return 0
    problems = check(sizes)
    print("\n".join(problems) or f"sizes: {len(sizes.files)} files, {len(sizes.functions)} functions, {len(sizes.classes)} classes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
