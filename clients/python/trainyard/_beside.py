"""Finds the files beside a program that are uploaded with it, and its requirements, by the rules of `trainyard run` (docs/run.md)."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Dict, List, NamedTuple, Sequence, Tuple

from trainyard._errors import Error

# As src/cli/run/program_files.h has them.
MODULE_FILES_MAX = 2000
MODULE_BYTES_MAX = 16 << 20
DATA_BYTES_MAX = 64 << 20
SECRET_BYTES_MAX = 64 << 10
ENTRIES_MAX = 20_000
_JUNK = {"__pycache__", "venv", "node_modules", "site-packages"}


class File(NamedTuple):
    """A file of the program's folder."""

    content: bytes
    is_executable: bool = False


class Beside(NamedTuple):
    """Returns the files to upload, and the entries of the folder whose data is not uploaded, with their bytes."""

    files: Dict[str, File]
    left_behind: List[Tuple[str, int]]


class _Entry:
    """A file or folder of the top."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules: List[str] = []
        self.data: List[str] = []
        self.data_bytes = 0
        self.too_many = False


def files_beside(folder: pathlib.Path) -> Beside:
    """The modules in the folder, and its data as far as there is room, the smallest entries first. Error beyond the modules' limits."""
    entries = _look(folder)
    modules = [path for entry in entries for path in entry.modules]
    size = sum(os.path.getsize(folder / path) for path in modules)
    if len(modules) > MODULE_FILES_MAX or size > MODULE_BYTES_MAX:
        raise Error("%s has %d Python files of %d bytes together, which are too many: move the program to a folder of its own" %
                    (folder, len(modules), size))
    left_behind = []
    total = 0
    for entry in sorted(entries, key=lambda entry: (entry.data_bytes, entry.name)):
        total += entry.data_bytes
        if total > DATA_BYTES_MAX or entry.too_many:
            left_behind.append((entry.name, entry.data_bytes))
            entry.data = []
    files = {}
    for path in sorted(modules + [path for entry in entries for path in entry.data]):
        try:
            content = (folder / path).read_bytes()
        except OSError:
            left_behind.append((path, 0))
            continue
        if not path.endswith(".py") and _is_secret(content):
            left_behind.append((path, len(content)))
        else:
            files[path] = File(content, os.access(str(folder / path), os.X_OK))
    return Beside(files, sorted(left_behind))


def _is_secret(content: bytes) -> bool:
    """A file with nothing but a token of the service, or with a private key: everybody in the project may read what is sent."""
    if len(content) > SECRET_BYTES_MAX:
        return False
    has_key = b"-----BEGIN " in content and b"PRIVATE KEY-----" in content
    return has_key or re.fullmatch(rb"ty_[0-9A-Za-z]{49}[ \r\n]*", content) is not None


def requirements_beside(folder: pathlib.Path) -> List[str]:
    """The lines of its requirements.txt. Error for a line that a package cannot require."""
    path = folder / "requirements.txt"
    return _requirements_in(path, []) if path.is_file() else []


def _look(folder: pathlib.Path) -> List[_Entry]:
    seen = 0
    entries = []
    # Files and packages first: a folder of very many files must not use up what can be looked at.
    for name in sorted(os.listdir(str(folder)), key=lambda name: (_rank(folder / name), name)):
        if _is_junk(name):
            continue
        entry = _Entry(name)
        todo = [name]
        while todo:
            path = todo.pop()
            seen += 1
            if seen > ENTRIES_MAX:
                entry.too_many = True
                break
            full = folder / path
            if full.is_dir():
                is_environment = (full / "pyvenv.cfg").exists() or (full / "conda-meta").exists()
                if not full.is_symlink() and not is_environment and os.access(str(full), os.R_OK | os.X_OK):
                    todo += [path + "/" + inner for inner in sorted(os.listdir(str(full)), reverse=True) if not _is_junk(inner)]
            elif full.is_file():
                (entry.modules if path.endswith(".py") else entry.data).append(path)
                entry.data_bytes += 0 if path.endswith(".py") else full.stat().st_size
        entries.append(entry)
    return entries


def _rank(path: pathlib.Path) -> int:
    if not path.is_dir():
        return 0
    return 1 if (path / "__init__.py").exists() else 2


def _is_junk(name: str) -> bool:
    return name.startswith(".") or name.endswith((".pyc", ".egg-info")) or name in _JUNK


def _requirements_in(path: pathlib.Path, outer: Sequence[pathlib.Path]) -> List[str]:
    try:
        text = path.read_text()
    except OSError as error:
        raise Error("%s cannot be read: %s" % (path, error)) from None
    found: List[str] = []
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        item = re.sub(r"(^|\s)#.*", "", line).strip()
        other = re.match(r"(?:-r|--requirement)[ =]*(.+)", item)
        if other:
            if path in outer:
                raise Error("%s includes itself" % path)
            found += _requirements_in(path.parent / other[1].strip(), [*outer, path])
        elif item.startswith("-") or " --" in item:
            raise Error("%s: %r is an option of pip, which is not supported here: remove it" % (path.name, item))
        elif item.startswith((".", "/", "file:")):
            raise Error("%s: %r is a path on this machine: put the package's folder next to the program" % (path.name, item))
        elif item:
            found.append(item)
    return found
