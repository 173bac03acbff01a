"""Makes what is sent of a file, a function or a folder, with the standard library only."""

from __future__ import annotations

import ast
import builtins
import dis
import gzip
import inspect
import io
import json
import os
import pathlib
import re
import tarfile
import textwrap
import types
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

from trainyard._beside import files_beside, requirements_beside
from trainyard._errors import Error
from trainyard._runtime import runtime_of
from trainyard._wheel import FILE_NAME, MODULE, make_wheel

_SKIPPED_FOLDERS = {"__pycache__", ".git", ".hg", ".venv", "venv", ".tox", ".mypy_cache", ".ipynb_checkpoints", "node_modules", "build", "dist"}
_FUNCTION_MODULE = "trainyard_function"

# Runs in the job. Its first argument is how to call the function; then come what a trial tries, and the job-dir.
_CALLER = '''

def _trainyard_main():
    import inspect
    import json
    import sys
    call = json.loads(sys.argv[1])
    named = dict(call["named"])
    words = iter(sys.argv[2:])
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if not equals:
            value = next(words, "")
        if name == "job-dir":
            if not call["job_dir"]:
                continue
            named["job_dir"] = value
            continue
        try:
            named[name] = json.loads(value)
        except ValueError:
            named[name] = value
    %s(*call["positional"], **named)


if __name__ == "__main__":
    _trainyard_main()
'''


class Package(NamedTuple):
    """A source distribution and how to run it."""

    file_name: str
    content: bytes
    module: str
    args: List[str]
    runtime: Optional[str]  # the version that its imports ask for
    wants_job_dir: bool = False


def pack_file(path: pathlib.Path, args: Sequence[str], requirements: Sequence[str]) -> Package:
    """A program of one file, as `trainyard run` sends it: with the modules and data beside it, which are in its working directory,
    and the packages of the requirements.txt beside it."""
    if not path.is_file():
        raise Error("there is no file %s" % path)
    if path.suffix == ".ipynb":  # JSON may be an expression of Python: it would run, and do nothing
        raise Error("%s is a notebook: send it with `trainyard run %s`, or from the console" % (path, path.name))
    folder = path.resolve().parent
    sources = {path.stem + ".py": path.read_bytes()}  # what it imports decides on the runtime version
    for found in sorted(_imported_beside(path)):
        sources.update(_files_of(found))
    beside = files_beside(folder)
    for name, size in beside.left_behind:
        warnings.warn("%s (%d bytes) is not sent: put it into a bucket, and open it below /gcs" % (name, size), stacklevel=4)
    wheel = make_wheel(beside.files, [path.name], [*requirements_beside(folder), *requirements])
    return Package(FILE_NAME, wheel, MODULE, list(args), runtime_of(sources, path.stem))


def pack_folder(folder: pathlib.Path, module: Optional[str], args: Sequence[str], requirements: Sequence[str]) -> Package:
    """A folder with a setup.py as it is, or a package folder."""
    if (folder / "setup.py").is_file():
        if not module:
            raise Error("%s is a folder: say which module of it to run, as module=\"trainer.task\"" % folder)
        if requirements:
            raise Error("%s has a setup.py: name what it requires there" % folder)
        name = re.sub(r"\W", "_", folder.resolve().name)
        files = _files_below(folder)
        content = _archive(name + "-1.0", {**files, "PKG-INFO": _pkg_info(name)})
        return Package(name + "-1.0.tar.gz", content, module, list(args), runtime_of(files, module))
    if not (folder / "__init__.py").is_file():
        raise Error("%s is neither a Python file, nor a folder with setup.py or __init__.py" % folder)
    name = folder.resolve().name
    return _pack(name, _files_of(folder), module or name, list(args), requirements)


def pack_function(function: Callable[..., Any], args: "Arguments", requirements: Sequence[str]) -> Package:
    """A function as text. `args`: its positional arguments, or a mapping of its named ones; anything that JSON has."""
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        raise Error("%r cannot be sent: only a function made with `def` has a text" % (function,))
    source = _source_of(function)
    parameters = inspect.signature(function).parameters
    wants_job_dir = "job_dir" in parameters
    positional, named = ([], dict(args)) if isinstance(args, Mapping) else (list(args), {})
    try:
        call = json.dumps({"positional": positional, "named": named, "job_dir": wants_job_dir})
    except TypeError as error:
        raise Error("the arguments of a function travel as JSON: %s" % error) from None
    text = "".join(_imports_of(function)) + "\n\n" + source + _CALLER % function.__name__
    files = {_FUNCTION_MODULE + ".py": text.encode()}
    package = _pack(function.__name__, files, _FUNCTION_MODULE, [call], requirements)
    return package._replace(wants_job_dir=wants_job_dir)


def _source_of(function: types.FunctionType) -> str:
    if function.__closure__:
        names = ", ".join(function.__code__.co_freevars)
        raise Error("the function %s uses %s of the function around it: pass it as an argument" % (function.__name__, names))
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise Error("the text of the function %s cannot be found: put it into a file or a notebook's cell" % function.__name__) from None
    if source.startswith("@"):
        raise Error("the function %s has a decorator, which would not travel with it" % function.__name__)
    return source


def _imports_of(function: types.FunctionType) -> Iterator[str]:
    """An import for each module of the caller that the function uses; nothing else of the caller may be used."""
    around = function.__globals__
    for name in sorted(_global_names(function.__code__)):
        value = around.get(name)
        if isinstance(value, types.ModuleType):
            yield "import %s as %s\n" % (value.__name__, name)
        elif name in around and name != function.__name__:
            raise Error("the function %s uses %r from outside: define it inside, import it inside, or pass it as an argument" %
                        (function.__name__, name))
        elif name not in around and not hasattr(builtins, name):
            raise Error("the function %s uses %r, which is not defined" % (function.__name__, name))


def _global_names(code: types.CodeType) -> Set[str]:
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _imported_beside(path: pathlib.Path) -> Set[pathlib.Path]:
    """Modules and packages in the file's folder that it imports, or that those import."""
    folder, found, todo = path.parent, set(), [path]
    while todo:
        for name in _imported_names(todo.pop()):
            for beside in (folder / name, folder / (name + ".py")):
                if beside in found or beside == path or not _is_module(beside):
                    continue
                found.add(beside)
                todo += sorted(beside.rglob("*.py")) if beside.is_dir() else [beside]
    return found


def _is_module(path: pathlib.Path) -> bool:
    return (path / "__init__.py").is_file() if path.is_dir() else path.suffix == ".py" and path.is_file()


def _imported_names(path: pathlib.Path) -> Set[str]:
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise Error("%s cannot be read: line %s: %s" % (path, error.lineno, error.msg)) from None
    names: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _files_of(module: pathlib.Path) -> Dict[str, bytes]:
    if module.is_file():
        return {module.name: module.read_bytes()}
    name = module.resolve().name
    return {name + "/" + inner: content for inner, content in _files_below(module).items()}


def _files_below(folder: pathlib.Path) -> Dict[str, bytes]:
    files = {}
    for here, folders, names in os.walk(str(folder)):
        folders[:] = sorted(folder for folder in folders if folder not in _SKIPPED_FOLDERS and not folder.startswith("."))
        for name in sorted(names):
            path = pathlib.Path(here) / name
            if path.is_file() and not name.startswith(".") and not name.endswith(".pyc"):
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def _pack(name: str, files: Dict[str, bytes], module: str, args: List[str], requirements: Sequence[str]) -> Package:
    packages = sorted({os.path.dirname(path).replace("/", ".") for path in files if path.endswith("/__init__.py")})
    setup = {"name": name, "version": "1.0", "packages": packages, "package_data": {"": ["*"]}, "install_requires": list(requirements),
             "py_modules": sorted(path[:-3] for path in files if "/" not in path and path.endswith(".py"))}
    text = "from setuptools import setup\n\nsetup(**%r)\n" % (setup,)
    stem = name + "-1.0"
    content = _archive(stem, {**files, "setup.py": text.encode(), "PKG-INFO": _pkg_info(name)})
    return Package(stem + ".tar.gz", content, module, args, runtime_of(files, module))


def _pkg_info(name: str) -> bytes:
    return ("Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n" % name).encode()


def _archive(top: str, files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    # Equal programs are equal bytes: what the server has installed for one serves the next.
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(top + "/" + name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


Arguments = Union[Sequence[object], Mapping[str, object]]


def words(args: Arguments) -> List[str]:
    """A program's arguments: a sequence as it is, a mapping as --NAME=VALUE."""
    if isinstance(args, Mapping):
        pairs: List[Tuple[Any, Any]] = list(args.items())
        return ["--%s=%s" % pair for pair in pairs]
    if isinstance(args, str):
        raise Error("args is a list, as [\"--epochs=3\"], not one string")
    return [str(word) for word in args]
