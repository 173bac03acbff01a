#!/usr/bin/env python3
"""make_wheel.py PROGRAM [--version V] [--out FOLDER]   packs a built program and the Python client as FOLDER/trainyard-V-py3-none-PLATFORM.whl

V is the program's own version if it is not said. The same program gives the same bytes.
"""

import argparse
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import types

TOP = pathlib.Path(__file__).resolve().parents[1]
CLIENT = TOP / "clients/python"
client = types.ModuleType("trainyard")  # without its __init__, which imports what is perhaps not installed here
client.__path__ = [str(CLIENT / "trainyard")]
sys.modules["trainyard"] = client
from trainyard._beside import File  # noqa: E402
from trainyard._wheel import pack  # noqa: E402

GLIBC = "2_35"  # the oldest that the program runs with: tests/e2e/test_clean_machine.py


def stripped(program):
    """As in the .deb."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "trainyard"
        subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note", "-o", copy, program], check=True)
        return copy.read_bytes()


def version_of(program):
    asked = subprocess.run([program, "version", "--format=value(version)"], capture_output=True, text=True, check=True)
    return asked.stdout.strip()


def metadata(version):
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", "Name: trainyard", "Version: " + version, "Summary: " + project["description"],
             "License: Apache-2.0", "Requires-Python: " + project["requires-python"], "Description-Content-Type: text/markdown"]
    lines += ["Requires-Dist: " + one for one in project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        lines += ["Provides-Extra: " + extra, *(f"Requires-Dist: {one}; extra == '{extra}'" for one in requirements)]
    return "\n".join(lines) + "\n\n" + (CLIENT / "README.md").read_text()


def make(program, version, out):
    tag = f"py3-none-manylinux_{GLIBC}_{platform.machine()}"
    info = f"trainyard-{version}.dist-info/"
    sources = [path for path in sorted((CLIENT / "trainyard").iterdir()) if path.suffix in (".py", ".typed")]
    members = {f"trainyard/{path.name}": File(path.read_bytes()) for path in sources}
    members[f"trainyard-{version}.data/scripts/trainyard"] = File(stripped(program), is_executable=True)
    members[info + "METADATA"] = File(metadata(version).encode())
    members[info + "WHEEL"] = File(f"Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    members[info + "LICENSE"] = File((TOP / "LICENSE").read_bytes())
    wheel = out / f"trainyard-{version}-{tag}.whl"
    out.mkdir(parents=True, exist_ok=True)
    wheel.write_bytes(pack(members, info))
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--version")
    parser.add_argument("--out", type=pathlib.Path, default=TOP / "build/package")
    parser.add_argument("--fast", action="store_true", help="as for make_deb.sh; it is fast anyway")
    arguments = parser.parse_args()
    version = arguments.version or version_of(arguments.program.resolve())
    if not re.fullmatch(r"\d+(\.\d+)*(\+[a-z0-9.]+)?", version):
        sys.exit(f"make_wheel: '{version}' is no version of a wheel")
    print(make(arguments.program, version, arguments.out))


if __name__ == "__main__":
    main()
